"""The queue: what was imported, which edition has taken it in, and what was refused."""

from typing import Final

from warehouse.columns import Index, Table, key, serial, text, whole

import_batch: Final = Table(
    "import_batch",
    serial("batch_id"),
    whole("shop_key"),
    text("kind"),
    whole("rows"),
    whole("imported_at"),
    Index("shop_key", "batch_id"),
)

edition: Final = Table(
    "edition",
    serial("edition"),
    whole("shop_key"),
    text("timezone"),
    whole("window_days"),
    whole("logic_version"),
    text("state"),
    text("lease_owner"),
    whole("lease_until"),
    # The next session id to give away.
    whole("next_session", 1),
    whole("rolled_up_at"),
    # All of the shop's batches up to this one are taken in; those above it are in `edition_batch`.
    whole("taken_to"),
    # Two rollups at once must not build the same shop anew twice.
    Index("shop_key"),
    Index("shop_key", unique=True, where="state = 'building'", name="uq_edition_building"),
)

edition_batch: Final = Table("edition_batch", key("edition"), key("batch_id"))

reject: Final = Table(
    "reject",
    serial("reject_id"),
    text("kind"),
    # Of a row that was mapped from a foreign format: its name, and the shop that it was mapped for.
    text("format"),
    text("shop_id"),
    text("file"),
    whole("line"),
    text("reason"),
    text("text"),
    whole("rejected_at"),
    Index("rejected_at"),
    # By which an import finds that a row was refused before.
    Index("file", "line"),
)
