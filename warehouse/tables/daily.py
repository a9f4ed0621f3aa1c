"""Daily rows: one table for each summary of the catalogue."""

from typing import Final

from sqlalchemy import Table

from warehouse.catalogue import SUMMARIES, Summary
from warehouse.tables.base import binary, integer, key, metadata


def _daily(summary: Summary) -> Table:
    return Table(
        summary.table,
        metadata,
        *(key(name) for name in summary.key),
        *(
            [binary("packed_dims")]
            if summary.packed_dims
            else [integer(name) for name in summary.measures]
        ),
        # A packed row is wide: clustering by key would split pages for each of them.
        sqlite_with_rowid=bool(summary.packed_dims),
    )


DAILY: Final = {summary.name: _daily(summary) for summary in SUMMARIES}
