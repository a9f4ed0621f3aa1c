"""Dimensions: what the numbers in facts and daily rows stand for."""

from typing import Final

from sqlalchemy import Index, Table

from warehouse.columns import key, metadata, text, whole
from warehouse.vocabulary import UTM_FIELDS

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
    whole("index_at"),
    text("index_event"),
    whole("step_index"),
    whole("name_at"),
    text("name_event"),
    text("step_name"),
    sqlite_with_rowid=False,
)

dim_code: Final = Table(
    "dim_code",
    metadata,
    key("edition"),
    key("code"),
    whole("discount"),
    Index(None, "edition", "discount", "code"),
    sqlite_with_rowid=False,
)
