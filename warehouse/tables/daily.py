"""Daily rows, a table for each summary of the catalogue, and dimensions: the texts behind the ids in them."""

from typing import Final

from sqlalchemy import Table

from warehouse.catalogue import SUMMARIES, Summary
from warehouse.domain.vocabulary import UTM_FIELDS
from warehouse.tables.base import binary, index, integer, key, metadata, part_key, text

dim_text: Final = Table(
    "dim_text", metadata, key("edition"), key("id"), text("text"), sqlite_with_rowid=False
)

dim_utm: Final = Table(
    "dim_utm",
    metadata,
    key("edition"),
    key("utm"),
    *(text(name) for name in UTM_FIELDS),
    sqlite_with_rowid=False,
)

dim_step: Final = Table(
    "dim_step",
    metadata,
    key("edition"),
    key("form"),
    key("step"),
    integer("index_at"),
    text("index_event"),
    integer("step_index"),
    integer("name_at"),
    text("name_event"),
    text("step_name"),
    sqlite_with_rowid=False,
)

dim_discount_code: Final = Table(
    "dim_discount_code",
    metadata,
    key("edition"),
    key("code"),
    integer("discount"),
    index("edition", "discount", "code"),
    sqlite_with_rowid=False,
)


def _daily(summary: Summary) -> Table:
    return Table(
        summary.table,
        metadata,
        *(key(name) for name in summary.key),
        *(
            [part_key("part"), binary("packed_dims")]
            if summary.packed_dims
            else [integer(name) for name in summary.measures]
        ),
        # A packed row is wide: clustering by key would split pages for each of them.
        sqlite_with_rowid=bool(summary.packed_dims),
    )


DAILY: Final = {summary.name: _daily(summary) for summary in SUMMARIES}
