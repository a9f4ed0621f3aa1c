"""The data that came in for one shop, for its Data page: its sources, its last imports, its rejected rows.

Everything here is certainly of the shop: batches, forms and ad spend by their key, rejects by the shop that
the import found (`reject.shop_key`). Runs, files and errors are of no one shop, and are not here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, text

from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import KEPT_FACTS
from warehouse.editions.pending_batches import from_pending, has_applied
from warehouse.operations import imports, schedulers
from warehouse.operations.imports import ImportedFile
from warehouse.operations.reject_reasons import without_values

# The newest rejects that are looked at, and the examples of each reason.
MAX_REJECTS: Final = 10_000
_EXAMPLES: Final = 3
_IMPORTS: Final = 10
# The last batches, among which those of the last imports are looked for.
_BATCHES: Final = 500

_NEWEST_OF_KIND: Final = text(
    "SELECT rows + purged AS rows, imported_at FROM import_batch "
    "WHERE shop_key = :shop_key AND kind = :kind AND rows + purged > 0 ORDER BY batch_id DESC LIMIT 1"
)
_LAST_DAY: Final = text("SELECT MAX(day) FROM daily_all_forms WHERE edition = :edition")
_SPEND: Final = text(
    "SELECT provider, MAX(day) AS day FROM ad_spend WHERE shop_key = :shop_key "
    "GROUP BY provider ORDER BY provider"
)
_ACCOUNTS: Final = text(
    "SELECT provider, MAX(synced_at) AS synced_at FROM ad_account WHERE shop_key = :shop_key "
    "GROUP BY provider ORDER BY provider"
)
_FORMS: Final = text(
    "SELECT COUNT(*) AS forms, MAX(created_at) AS created_at FROM form WHERE shop_key = :shop_key"
)
_BATCH: Final = (
    "SELECT b.batch_id, b.kind, b.rows + b.purged AS rows, b.imported_at, "
    "COALESCE(f.attempts, 0) AS attempts, COALESCE(f.retry_at, 0) AS retry_at, "
    f"CASE WHEN EXISTS (SELECT 1 FROM edition c WHERE c.edition = :edition "
    f"AND {has_applied('c', 'b.batch_id')}) THEN 1 ELSE 0 END AS is_applied"
)
# An import has a batch for each chunk of its file.
_LAST_BATCHES: Final = text(
    f"SELECT * FROM ({_BATCH}, b.import_id FROM import_batch b "
    "LEFT JOIN edition_batch f ON f.edition = :edition AND f.batch_id = b.batch_id "
    f"WHERE b.shop_key = :shop_key AND b.kind <> '{KEPT_FACTS}' "
    f"ORDER BY b.batch_id DESC LIMIT {_BATCHES}) b WHERE rows > 0"
)
_LAST_FILES: Final = text(
    f"{imports.LISTED} WHERE f.shop_key = :shop_key AND (f.import_id IN :ids OR f.import_id IN "
    "(SELECT import_id FROM import_file WHERE shop_key = :shop_key "
    f"ORDER BY import_id DESC LIMIT {_IMPORTS}))"
).bindparams(bindparam("ids", expanding=True))
# A batch can have failed in two editions, while a new one is built.
_FAILED: Final = text(
    f"{_BATCH} FROM edition e JOIN edition_batch f ON f.edition = e.edition "
    "AND f.attempts > 0 JOIN import_batch b ON b.batch_id = f.batch_id "
    "WHERE e.shop_key = :shop_key ORDER BY b.batch_id, e.edition"
)
_SUMS: Final = "SELECT COALESCE(SUM(p.rows), 0), COUNT(*), COALESCE(MIN(p.imported_at), 0)"
_WAITING: Final = text(f"{_SUMS} {from_pending(':edition')}")
_ALL_BATCHES: Final = text(f"{_SUMS} FROM import_batch p WHERE p.shop_key = :shop_key")
_REJECTS: Final = text(
    "SELECT reject_id, kind, reason, rejected_at FROM reject WHERE shop_key = :shop_key "
    f"ORDER BY rejected_at DESC, reject_id DESC LIMIT {MAX_REJECTS}"
)
_EXAMPLE_TEXTS: Final = text(
    "SELECT reject_id, format, file, line, text FROM reject "
    "WHERE shop_key = :shop_key AND reject_id IN :ids"
).bindparams(bindparam("ids", expanding=True))


@dataclass(frozen=True)
class LastImport:
    """The last rows of a kind that were new: how many, and when they came."""

    rows: int
    imported_at: int


@dataclass(frozen=True)
class Sources:
    """The sources of the shop; None or empty where nothing came yet. Days are the shop's.

    `last_day`: the last day with an event in the figures. `accounts`: (provider, instant of its last
    sync). `form_created_at`: of the newest form, 0 without one.
    """

    events: LastImport | None
    last_day: int | None
    orders: LastImport | None
    accounts: list[tuple[str, int]]
    forms: int
    form_created_at: int


@dataclass(frozen=True)
class ImportedBatch:
    """The rows of one import that were new. `is_applied`: whether they are in the figures. `attempts` and
    `retry_at` are 0 if it has not failed."""

    batch_id: int
    kind: str
    rows: int
    imported_at: int
    attempts: int
    retry_at: int
    is_applied: bool

    @property
    def is_set_aside(self) -> bool:
        return self.retry_at == NEVER


@dataclass(frozen=True)
class LastFile:
    """An import of a file. `file`: None where the file has rows of other shops too; then `batch` counts this
    shop's. `batch`: its new events or orders, as far as it has any."""

    imported_at: int
    kind: str
    file: ImportedFile | None
    batch: ImportedBatch | None


@dataclass(frozen=True)
class Waiting:
    """The rows that are imported and not in the figures; `since` is 0 if nothing waits."""

    rows: int
    batches: int
    since: int


@dataclass(frozen=True)
class RowsToCome:
    """The rows that wait for the figures, and when the next refresh begins: 0 where no scheduler is alive, so
    that no time can be promised."""

    rows: int
    next_refresh_at: int


@dataclass(frozen=True)
class RejectExample:
    """A rejected row: the line of its file, its kept text. `format`: "" for rows of this program."""

    reason: str
    format: str
    file: str
    line: int
    text: str


@dataclass(frozen=True)
class RejectReason:
    """The rejects of a kind with one reason, which is without values; `newest_at` is of the last one."""

    kind: str
    reason: str
    rows: int
    newest_at: int
    examples: list[RejectExample]


def read_sources(connection: Connection, shop_key: int, edition: int) -> Sources:
    shop = {"shop_key": shop_key}
    forms = connection.execute(_FORMS, shop).one()
    return Sources(
        events=_newest(connection, shop_key, "events"),
        last_day=connection.execute(_LAST_DAY, {"edition": edition}).scalar(),
        orders=_newest(connection, shop_key, "orders"),
        accounts=[(row.provider, row.synced_at) for row in connection.execute(_ACCOUNTS, shop)],
        forms=forms.forms,
        form_created_at=forms.created_at or 0,
    )


def last_spend_days(connection: Connection, shop_key: int) -> dict[str, int]:
    """The last day with spend of each provider. Looks at all spend of the shop."""
    rows = connection.execute(_SPEND, {"shop_key": shop_key})
    return {row.provider: row.day for row in rows}


def last_imports(connection: Connection, shop_key: int, edition: int, now: int) -> list[LastFile]:
    """The last imports of files with rows of the shop, the newest first."""
    batches: dict[int, ImportedBatch] = {}
    for row in connection.execute(_LAST_BATCHES, {"shop_key": shop_key, "edition": edition}):
        one, known = _batch(row), batches.get(row.import_id)
        batches[row.import_id] = one if known is None else _together(known, one)
    listed = connection.execute(_LAST_FILES, {"shop_key": shop_key, "ids": list(batches)})
    files = {row["import_id"]: imports.imported_file(dict(row), now) for row in listed.mappings()}
    last = [
        LastFile(file.started_at, file.kind, file, batches.get(number))
        for number, file in files.items()
    ]
    last += [
        LastFile(batch.imported_at, batch.kind, None, batch)
        for number, batch in batches.items()
        if number not in files
    ]
    return sorted(last, key=lambda one: -one.imported_at)[:_IMPORTS]


def failed_imports(connection: Connection, shop_key: int, edition: int) -> list[ImportedBatch]:
    """The imports that failed and are in no figures of an edition, the oldest first."""
    rows = connection.execute(_FAILED, {"shop_key": shop_key, "edition": edition})
    return list({row.batch_id: _batch(row) for row in rows}.values())


def read_waiting(connection: Connection, shop_key: int, edition: int) -> Waiting:
    """`edition`: the one that answers are read from, 0 before the first rollup."""
    found = (
        connection.execute(_WAITING, {"edition": edition})
        if edition
        else connection.execute(_ALL_BATCHES, {"shop_key": shop_key})
    )
    return Waiting(*(int(value) for value in found.one()))


def rows_to_come(connection: Connection, shop_key: int, edition: int, now: int) -> RowsToCome:
    """`edition`: as in `read_waiting`."""
    rows = read_waiting(connection, shop_key, edition).rows
    return RowsToCome(rows, schedulers.next_refresh_at(connection, now))


def rejects_by_reason(connection: Connection, shop_key: int) -> list[RejectReason]:
    """The newest MAX_REJECTS rejects of the shop by kind and reason, the most frequent first, each with
    its newest examples."""
    groups: dict[tuple[str, str], list[tuple[int, str, int]]] = {}
    for row in connection.execute(_REJECTS, {"shop_key": shop_key}):
        group = groups.setdefault((row.kind, without_values(row.reason)), [])
        group.append((row.reject_id, row.reason, row.rejected_at))
    ids = [reject[0] for group in groups.values() for reject in group[:_EXAMPLES]]
    examples = _examples(connection, shop_key, ids)
    reasons = [
        RejectReason(
            kind=kind,
            reason=reason,
            rows=len(group),
            newest_at=group[0][2],
            examples=[RejectExample(text, *examples[id]) for id, text, _ in group[:_EXAMPLES]],
        )
        for (kind, reason), group in groups.items()
    ]
    return sorted(reasons, key=lambda one: (-one.rows, one.kind, one.reason))


def _batch(row: Row[Any]) -> ImportedBatch:
    return ImportedBatch(
        row.batch_id,
        row.kind,
        row.rows,
        row.imported_at,
        row.attempts,
        row.retry_at,
        bool(row.is_applied),
    )


def _together(one: ImportedBatch, other: ImportedBatch) -> ImportedBatch:
    """Two batches of an import as one, which is in the figures when both are."""
    return replace(
        one,
        rows=one.rows + other.rows,
        imported_at=min(one.imported_at, other.imported_at),
        attempts=max(one.attempts, other.attempts),
        retry_at=max(one.retry_at, other.retry_at),
        is_applied=one.is_applied and other.is_applied,
    )


def _newest(connection: Connection, shop_key: int, kind: str) -> LastImport | None:
    row = connection.execute(_NEWEST_OF_KIND, {"shop_key": shop_key, "kind": kind}).one_or_none()
    return None if row is None else LastImport(row.rows, row.imported_at)


def _examples(
    connection: Connection, shop_key: int, ids: Sequence[int]
) -> dict[int, tuple[str, str, int, str]]:
    rows = connection.execute(_EXAMPLE_TEXTS, {"shop_key": shop_key, "ids": list(ids)})
    return {row.reject_id: (row.format, row.file, row.line, row.text) for row in rows}
