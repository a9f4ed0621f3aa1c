"""The queue: imported batches, the editions that have applied them, and rejected rows."""

from typing import Final

from sqlalchemy import Table

from warehouse.tables.base import (
    index,
    integer,
    key,
    metadata,
    serial_key,
    small_integer,
    text,
    text_key,
)

import_batch: Final = Table(
    "import_batch",
    metadata,
    serial_key("batch_id"),
    integer("shop_key"),
    text("kind"),
    integer("rows"),
    # Their cost in memory, in rows, if that is more: lists count for more than a row.
    integer("weight"),
    # The events of it that RAW_DAYS removed.
    integer("purged"),
    integer("imported_at"),
    # The import that brought it.
    integer("import_id"),
    index("shop_key", "batch_id"),
    index("import_id"),
)

edition: Final = Table(
    "edition",
    metadata,
    serial_key("edition"),
    integer("shop_key"),
    text("timezone"),
    # The version of the rules of time zones that made its days (`zone_rules`).
    text("zone_version"),
    # As the shop's.
    text("form_rules"),
    integer("window_days"),
    integer("logic_version"),
    text("state"),
    text("lease_owner"),
    integer("lease_until"),
    # The next serial number of a session id.
    integer("next_session", 1),
    integer("rolled_up_at"),
    # The last comparison with the raw rows, 0 before the first, and the rows of `difference` together.
    integer("verified_at"),
    integer("differing_rows"),
    # All of the shop's batches up to this one are applied, but for those that have failed; later ones are
    # listed in `edition_batch`, and so are all that have failed.
    integer("applied_through"),
    # Processes that ended without releasing its lease, since its figures last changed.
    integer("deaths"),
    # Since when the shop's next edition is to replace it; 0 as long as none is.
    integer("outdated_at"),
    # Two rollups at once must not rebuild the same shop twice.
    index("shop_key"),
    index("shop_key", unique=True, where="state = 'building'", name="uq_edition_building"),
)

# The rules of the time zones of editions in the format TZif, as base64.
zone_rules: Final = Table(
    "zone_rules", metadata, text_key("zone_version"), text_key("timezone"), text("content")
)

# How many rows of a table differ from what the raw rows give; `day` is NO_DAY for rows that belong to none. A
# comparison deletes what earlier ones found of the days that it covers.
difference: Final = Table(
    "difference", metadata, key("edition"), text_key("table_name"), key("day"), integer("rows")
)

edition_batch: Final = Table(
    "edition_batch",
    metadata,
    key("edition"),
    key("batch_id"),
    # 0: it is applied. Else it is not, and so many attempts failed, or began and did not end.
    integer("attempts"),
    integer("failed_at"),
    # NEVER: it is set aside, and of the schedule only the nightly rollup tries it again.
    integer("retry_at"),
    text("error"),
    index("edition", "batch_id", where="attempts > 0", name="ix_edition_batch_failed"),
)

reject: Final = Table(
    "reject",
    metadata,
    serial_key("reject_id"),
    text("kind"),
    # The format of a row of another system, and the shop of the import.
    text("format"),
    text("shop_id"),
    # The shop whose row it certainly is, 0 where that is not known: only its members may see it.
    integer("shop_key"),
    text("file"),
    integer("line"),
    text("reason"),
    # The reason, for programs (`domain/vocabulary.py`).
    text("code"),
    text("field"),
    text("text"),
    # Whether the file writes numbers as text, as a table does: the text is then read so again.
    small_integer("is_textual"),
    integer("rejected_at"),
    # The first import of the file that came to it: a retry of it belongs to that import.
    integer("import_id"),
    index("rejected_at"),
    index("shop_key", "rejected_at"),
    # An import looks up by it whether a row was rejected before.
    index("file", "line"),
)

# Tasks: requests of pages and commands to jobs, of each subject of a shop the last one
# (`operations/tasks.py`).
task: Final = Table(
    "task",
    metadata,
    key("shop_key"),
    text_key("subject"),
    text("kind"),
    # A file: its name in the landing folder, and the one that its owner gave it. A retry: "", and the id
    # through which rejects have been tried. An undo: the import.
    text("item"),
    text("payload"),
    integer("asked_at"),
    # Since when it waits, or the instant until which it waits.
    integer("due_at"),
    # Runs that took it, and the last one: its lease, for as long as the run lives.
    integer("attempts"),
    integer("run_id"),
    # Rows that it has accepted so far.
    integer("rows"),
    # 0 until it has ended; then a JSON object, which has the `reason` of one that failed.
    integer("ended_at"),
    text("result"),
)
