"""The data that came in for one shop. For its Data page: its sources, its last imports, its rejected rows.
For the page that sets it up, which alone counts them: the rows of each source.

Everything here is certainly of the shop: batches, forms and ad spend by their key, rejects by the shop that
the import found (`reject.shop_key`). Runs, files and errors are of no one shop, and are not here.
"""

from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, text

from warehouse.domain.time import NEVER, day_date, from_micros
from warehouse.domain.vocabulary import KEPT_FACTS, without_values
from warehouse.editions.pending_batches import from_waiting, has_applied
from warehouse.intake import imports
from warehouse.intake.imports import ImportedFile
from warehouse.operations import schedulers

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
_WAITING: Final = text(
    "SELECT CAST(COALESCE(SUM(p.rows), 0) AS BIGINT) AS rows, COUNT(*) AS batches, "
    f"COALESCE(MIN(p.imported_at), 0) AS since {from_waiting('s.shop_key = :shop_key')}"
)
_REJECTS: Final = text(
    "SELECT reject_id, kind, code, field, reason, rejected_at FROM reject WHERE shop_key = :shop_key "
    f"ORDER BY rejected_at DESC, reject_id DESC LIMIT {MAX_REJECTS}"
)
_EXAMPLE_ROWS: Final = text(
    "SELECT reject_id, reason, field, format, file, line, text FROM reject "
    "WHERE shop_key = :shop_key AND reject_id IN :ids"
).bindparams(bindparam("ids", expanding=True))


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
class RowsToCome:
    """The rows that wait for the figures, and when the next refresh begins: 0 where no scheduler is alive, so
    that no time can be promised."""

    rows: int
    next_refresh_at: int


def read_sources(connection: Connection, shop_key: int, edition: int) -> dict[str, Any]:
    """The sources of the shop, None or empty where nothing came yet.

    `events`, `orders`: the last ones that were new (`rows`, `imported_at`). `last_day`: the last day with an
    event in the figures. `accounts`: the instant of the last sync by provider. `forms`: how many there are
    (`forms`), and when the newest was made (`created_at`).
    """
    shop = {"shop_key": shop_key}
    newest = {
        kind: connection.execute(_NEWEST_OF_KIND, shop | {"kind": kind}).one_or_none()
        for kind in ("events", "orders")
    }
    return newest | {
        "last_day": connection.scalar(_LAST_DAY, {"edition": edition}),
        "accounts": {row.provider: row.synced_at for row in connection.execute(_ACCOUNTS, shop)},
        "forms": connection.execute(_FORMS, shop).one(),
    }


def last_spend_days(connection: Connection, shop_key: int) -> dict[str, int]:
    """The last day with spend of each provider. Looks at all spend of the shop."""
    rows = connection.execute(_SPEND, {"shop_key": shop_key})
    return {row.provider: row.day for row in rows}


def last_imports(
    connection: Connection, shop_key: int, edition: int, now: int
) -> list[tuple[int, str, ImportedFile | None, ImportedBatch | None]]:
    """The last imports of files with rows of the shop, the newest first: its instant and kind; the file, None
    where it has rows of other shops too; its new events or orders of this shop, as far as it has any."""
    batches: dict[int, ImportedBatch] = {}
    for row in connection.execute(_LAST_BATCHES, {"shop_key": shop_key, "edition": edition}):
        one = _batch(row)
        # Several batches of an import are as one, which is in the figures when all are.
        known = batches.setdefault(row.import_id, one)
        if known is not one:
            batches[row.import_id] = replace(
                known,
                rows=known.rows + one.rows,
                imported_at=min(known.imported_at, one.imported_at),
                attempts=max(known.attempts, one.attempts),
                retry_at=max(known.retry_at, one.retry_at),
                is_applied=known.is_applied and one.is_applied,
            )
    listed = connection.execute(_LAST_FILES, {"shop_key": shop_key, "ids": list(batches)})
    files = {row["import_id"]: imports.imported_file(dict(row), now) for row in listed.mappings()}
    own = [
        (file.started_at, file.kind, file, batches.get(number)) for number, file in files.items()
    ]
    others = [
        (batch.imported_at, batch.kind, None, batch)
        for number, batch in batches.items()
        if number not in files
    ]
    return sorted([*own, *others], key=lambda one: -one[0])[:_IMPORTS]


def failed_imports(connection: Connection, shop_key: int, edition: int) -> list[ImportedBatch]:
    """The imports that failed and are in no figures of an edition, the oldest first."""
    rows = connection.execute(_FAILED, {"shop_key": shop_key, "edition": edition})
    return list({row.batch_id: _batch(row) for row in rows}.values())


def read_waiting(connection: Connection, shop_key: int) -> Row[Any]:
    """The `rows` and `batches` that are imported and not in the figures; `since` is 0 if nothing waits."""
    return connection.execute(_WAITING, {"shop_key": shop_key}).one()


def rows_to_come(connection: Connection, shop_key: int, now: int) -> RowsToCome:
    rows = read_waiting(connection, shop_key).rows
    return RowsToCome(rows, schedulers.next_refresh_at(connection, now))


def rejects_by_reason(connection: Connection, shop_key: int) -> list[dict[str, Any]]:
    """The newest MAX_REJECTS rejects of the shop by `kind`, `code`, `field` and `reason` (without values),
    the most frequent first: their `rows`, when the last one came (`newest_at`), and the newest `examples`,
    each with its `reason`, `field`, `file`, `line`, kept `text`, and `format` ("" for rows of this
    program)."""
    groups: dict[tuple[str, ...], list[Row[Any]]] = {}
    for row in connection.execute(_REJECTS, {"shop_key": shop_key}):
        of = row.kind, row.code, row.field, without_values(row.reason)
        groups.setdefault(of, []).append(row)
    ids = [reject.reject_id for group in groups.values() for reject in group[:_EXAMPLES]]
    shown = connection.execute(_EXAMPLE_ROWS, {"shop_key": shop_key, "ids": ids})
    examples = {row.reject_id: row for row in shown}
    reasons = [
        dict(zip(("kind", "code", "field", "reason"), of, strict=True))
        | {
            "rows": len(group),
            "newest_at": group[0].rejected_at,
            "examples": [examples[reject.reject_id] for reject in group[:_EXAMPLES]],
        }
        for of, group in groups.items()
    ]
    return sorted(reasons, key=lambda one: (-one["rows"], one["kind"], one["reason"]))


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


_ARRIVALS: Final = text("""
SELECT kind, SUM(rows + purged) AS rows, MIN(imported_at) AS oldest, MAX(imported_at) AS newest
  FROM import_batch WHERE shop_key = :shop_key GROUP BY kind
UNION ALL
SELECT 'ad-spend', COUNT(*), MIN(day), MAX(day) FROM ad_spend WHERE shop_key = :shop_key
UNION ALL
SELECT 'ad-accounts', COUNT(*), MIN(synced_at), MAX(synced_at)
  FROM ad_account WHERE shop_key = :shop_key
UNION ALL
SELECT 'exchange-rates', COUNT(*), MIN(day), MAX(day) FROM exchange_rate
""")
_OF_DAYS: Final = "of the days"
# The things that the first and the last date of a kind belong to.
_DATES: Final = {
    "events": "imported",
    "orders": "imported",
    "ad-spend": _OF_DAYS,
    "ad-accounts": "fetched",
    "exchange-rates": _OF_DAYS,
}


@dataclass(frozen=True)
class Arrival:
    """One source: its kind, and the rows that are there. `oldest` and `newest` are what `dates` says: the
    imports of events and orders and the pulls of accounts (datetimes in UTC), the days of spend and rates;
    None without rows."""

    kind: str
    rows: int
    oldest: date | None
    newest: date | None

    @property
    def dates(self) -> str:
        return _DATES[self.kind]


def read_arrivals(connection: Connection, shop_key: int) -> list[Arrival]:
    """The arrivals of events, orders, ad spend, ad accounts and exchange rates. Rates are those of all
    shops."""
    rows = {row.kind: row for row in connection.execute(_ARRIVALS, {"shop_key": shop_key})}
    arrivals = []
    for kind, dates in _DATES.items():
        row = rows.get(kind)
        if row is None or not row.rows:
            arrivals.append(Arrival(kind, 0, None, None))
            continue
        moment = day_date if dates == _OF_DAYS else from_micros
        arrivals.append(Arrival(kind, int(row.rows), moment(row.oldest), moment(row.newest)))
    return arrivals
