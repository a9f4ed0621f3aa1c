"""Imports: one row for each import of a file, and what undoing one must know.

A row of `repeated_*` says that an import came with an event or a version of an order that was stored before:
the row stays while any import stands that brought or repeated it. A row of `*_version` is what an import said
of a row that later imports may replace, where it differed from what stood; with import 0, what stood there
before the imports that are known.
"""

from typing import Any, Final

from sqlalchemy import Column, Table

from warehouse.domain.time import NEVER
from warehouse.tables.ads import ad_account, ad_spend, exchange_rate
from warehouse.tables.base import (
    index,
    integer,
    is_text,
    key,
    metadata,
    serial_key,
    small_integer,
    text,
    text_key,
)
from warehouse.tables.raw import raw_event, raw_order
from warehouse.tables.shops import form, shop

import_file: Final = Table(
    "import_file",
    metadata,
    serial_key("import_id"),
    # The shop of all its rows; 0 if they are of several shops or of none.
    integer("shop_key"),
    text("kind"),
    text("file"),
    # See `intake/imports.py`.
    text("state"),
    # The run that imports it.
    integer("run_id"),
    integer("started_at"),
    # 0 until it has ended.
    integer("ended_at"),
    integer("rows_read"),
    integer("rows_new"),
    integer("rows_duplicate"),
    integer("rows_replaced"),
    integer("rows_rejected"),
    # The accepted rows without a field that could not be used.
    integer("rows_incomplete"),
    # When an undo had deleted its raw rows; figures may have them still. 0 until then.
    integer("rows_gone_at"),
    index("shop_key", "import_id"),
    index("started_at"),
)

REPEATED: Final = {
    raw: Table(
        name,
        metadata,
        *(text_key(one) if is_text(raw.c[one]) else key(one) for one in columns),
        key("import_id"),
        index("import_id"),
        sqlite_with_rowid=False,
    )
    for raw, name, columns in (
        (raw_event, "repeated_event", ("shop_key", "event_id")),
        (raw_order, "repeated_order", ("shop_key", "order_id", "updated_at", "content")),
    )
}
"""For each raw table, the rows that imports repeated."""


def _versions(table: Table, keys: str, values: str, *more: Column[Any]) -> Table:
    return Table(
        f"{table.name}_version",
        metadata,
        *(text_key(name) if is_text(table.c[name]) else key(name) for name in keys.split()),
        key("import_id"),
        # When the import wrote it, by the warehouse's clock: the latest of a key stands.
        integer("written_at"),
        *(text(name) if is_text(table.c[name]) else integer(name) for name in values.split()),
        *more,
        index("import_id"),
    )


VERSIONS: Final = {
    # The imports that said the same while it stood, in their order: `,7,,9,`.
    table: _versions(table, keys, values, text("repeated_by"))
    for table, keys, values in (
        (shop, "shop_id", "name currency timezone"),
        (
            ad_spend,
            "shop_key provider account_id campaign_id day segment",
            "campaign_name currency spend impressions clicks reported_conversions reported_value",
        ),
        (ad_account, "shop_key provider account_id", "status synced_at message"),
        (exchange_rate, "base quote day", "rate"),
    )
}
"""For each table of which the last import stands, what each import wrote."""

# The campaign-days that an import stated whole: what was said of them before the import with the number
# `since`, with which the statement began, stands no more. 0 until the last part of the statement is there.
ad_spend_stated: Final = Table(
    "ad_spend_stated",
    metadata,
    key("shop_key"),
    text_key("provider"),
    text_key("account_id"),
    # "" for all campaigns of the account.
    text_key("campaign_id"),
    key("day"),
    key("import_id"),
    integer("since"),
    index("import_id"),
    sqlite_with_rowid=False,
)

# Instants that a row did not state are NEVER.
form_version: Final = _versions(
    form,
    "shop_key form_id",
    "name status schema draft_schema created_at updated_at named_at",
)

# A form as an import of another system's events tells of it; import 0 stands for those before.
form_seen: Final = Table(
    "form_seen",
    metadata,
    key("shop_key"),
    text_key("form_id"),
    key("import_id"),
    text("name"),
    text("source"),
    text("source_id"),
    integer("first_event_at", NEVER),
    # When its name came, 0 where none did; and when the import first named the form.
    integer("named_at"),
    integer("seen_at"),
    # As in `form`.
    small_integer("on_own_page"),
    index("import_id"),
)
