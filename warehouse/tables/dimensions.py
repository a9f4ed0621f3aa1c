"""Dimensions: the texts behind the ids in facts and daily rows."""

from typing import Final

from sqlalchemy import Table

from warehouse.domain.vocabulary import UTM_FIELDS
from warehouse.tables.base import index, integer, key, metadata, text

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
