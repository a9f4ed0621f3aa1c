"""Daily rows: one table for each summary of the catalogue."""

from typing import Any, Final

from sqlalchemy import Column, Table

from warehouse.catalogue import SUMMARIES, Summary
from warehouse.columns import blob, key, metadata, whole


def _daily(summary: Summary) -> Table:
    columns: list[Column[Any]] = [key(name) for name in summary.key]
    columns += [blob("cells")] if summary.cells else [whole(name) for name in summary.measures]
    return Table(
        summary.table,
        metadata,
        *columns,
        # A row of cells is wide: clustering by key would split pages for each of them.
        sqlite_with_rowid=bool(summary.cells),
    )


DAILY: Final = {summary.name: _daily(summary) for summary in SUMMARIES}
