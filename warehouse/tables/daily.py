"""Daily rows: one table for each summary of the catalogue."""

from typing import Final

from warehouse.catalogue import SUMMARIES, Summary
from warehouse.columns import Table, blob, key, whole


def _daily(summary: Summary) -> Table:
    return Table(
        summary.table,
        *(key(name) for name in summary.key),
        *([blob("cells")] if summary.cells else [whole(name) for name in summary.measures]),
        # A row of cells is wide: clustering by key would split pages for each of them.
        clustered=not summary.cells,
    )


DAILY: Final = {summary.name: _daily(summary) for summary in SUMMARIES}
