"""Dimensions: what the numbers in facts and daily rows stand for."""

from typing import Final

from warehouse.columns import Index, Table, key, text, whole
from warehouse.vocabulary import UTM_FIELDS

dim_text: Final = Table("dim_text", key("edition"), key("id"), text("text"), clustered=True)

dim_utm: Final = Table(
    "dim_utm",
    key("edition"),
    key("utm"),
    *(text(name) for name in UTM_FIELDS),
    clustered=True,
)

dim_step: Final = Table(
    "dim_step",
    key("edition"),
    key("form"),
    key("step"),
    whole("index_at"),
    text("index_event"),
    whole("step_index"),
    whole("name_at"),
    text("name_event"),
    text("step_name"),
    clustered=True,
)

dim_code: Final = Table(
    "dim_code",
    key("edition"),
    key("code"),
    whole("discount"),
    Index("edition", "discount", "code"),
    clustered=True,
)
