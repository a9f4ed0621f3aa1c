"""Persons who are forgotten."""

from typing import Final

from sqlalchemy import Table

from warehouse.tables.base import integer, key, metadata, small_integer, text_key

# Imports drop the rows of these persons. Only this keyed hash of a person is kept.
forgotten: Final = Table(
    "forgotten",
    metadata,
    key("shop_key"),
    text_key("identifier_hash"),
    integer("asked_at"),
    # Orders stay, without the person.
    small_integer("keeps_orders"),
    # When the rows that there were had gone; 0 until then. And how many these were.
    integer("removed_at"),
    integer("events"),
    integer("orders"),
)
