"""Daily rows: one table for each summary of the catalogue."""

from typing import Final

from sqlalchemy import Table

from warehouse.catalogue import SUMMARIES, Summary
from warehouse.columns import blob, key, metadata, whole


def _daily(summary: Summary) -> Table:
    keys = [key(name) for name in summary.key]
    values = [blob("cells")] if summary.cells else [whole(name) for name in summary.measures]
    return Table(
        summary.table,
        metadata,
        *keys,
        *values,
        # A row of cells is wide: clustering by key would split pages for each of them.
        **({} if summary.cells else {"sqlite_with_rowid": False}),
    )


DAILY: Final = {summary.name: _daily(summary) for summary in SUMMARIES}
