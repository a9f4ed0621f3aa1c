"""The figures that an import moves: their days, and the forms or the platforms that they are of.

It is found in what the import brought and stands. Rows that another import brought too stay when it is
undone, so fewer figures may move.
"""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, text

from warehouse.domain.time import local_day

# Rows of an import that are looked at.
MOST_ROWS: Final = 1_000_000

_BATCHES: Final = "SELECT batch_id FROM import_batch WHERE import_id = :import_id"
_EVENTS: Final = text(
    "SELECT form_id AS name, MIN(occurred_at) AS first, MAX(occurred_at) AS last, COUNT(*) AS rows FROM "
    f"(SELECT form_id, occurred_at FROM raw_event WHERE batch_id IN ({_BATCHES}) AND shop_key = :shop_key "
    f"LIMIT {MOST_ROWS}) e GROUP BY form_id ORDER BY rows DESC, form_id"
)
_ORDERS: Final = text(
    "SELECT MIN(created_at) AS first, MAX(created_at) AS last, COUNT(*) AS rows FROM "
    f"(SELECT created_at FROM raw_order WHERE batch_id IN ({_BATCHES}) AND shop_key = :shop_key "
    f"LIMIT {MOST_ROWS}) o"
)
# The forms that the orders are credited to by now.
_CREDITED: Final = text(
    "SELECT t.text AS name FROM dim_text t WHERE t.edition = :edition AND t.id IN (SELECT o.form "
    "FROM fact_order o WHERE o.edition = :edition AND o.created_at BETWEEN :first AND :last AND o.form <> 0 "
    "AND EXISTS (SELECT 1 FROM raw_order r WHERE r.shop_key = :shop_key AND r.order_id = o.order_id "
    f"AND r.batch_id IN ({_BATCHES}))) ORDER BY t.text"
)
_SPEND: Final = text(
    "SELECT provider AS name, MIN(day) AS first, MAX(day) AS last, COUNT(*) AS rows FROM ad_spend_version "
    "WHERE import_id = :import_id AND shop_key = :shop_key GROUP BY provider ORDER BY provider"
)
_ACCOUNTS: Final = text(
    "SELECT DISTINCT provider AS name FROM ad_account_version "
    "WHERE import_id = :import_id AND shop_key = :shop_key ORDER BY provider"
)
_FORMS: Final = text(
    "SELECT DISTINCT form_id AS name FROM form_version "
    "WHERE import_id = :import_id AND shop_key = :shop_key ORDER BY form_id"
)


@dataclass(frozen=True)
class Reach:
    """The reach of an import. `first` and `last` are days of the shop, None where no figure of a day moves.
    `names` are ids of forms, or platforms. `is_cut`: it has more rows than are looked at."""

    first: int | None = None
    last: int | None = None
    names: tuple[str, ...] = ()
    is_cut: bool = False


def reach_of(
    connection: Connection, shop_key: int, edition: int, timezone: str, import_id: int, kind: str
) -> Reach:
    """The reach of an import whose rows are all of this shop."""
    asked: dict[str, Any] = {"shop_key": shop_key, "import_id": import_id}
    if kind in ("forms", "ad-accounts"):
        found = connection.execute(_FORMS if kind == "forms" else _ACCOUNTS, asked)
        return Reach(names=tuple(row.name for row in found))
    statement = {"events": _EVENTS, "orders": _ORDERS, "ad-spend": _SPEND}[kind]
    rows = connection.execute(statement, asked).mappings().all()
    known = [row for row in rows if row["rows"]]
    if not known:
        return Reach()
    first, last = min(row["first"] for row in known), max(row["last"] for row in known)
    named = known
    if kind == "orders":
        between = {"edition": edition, "first": first, "last": last}
        named = list(connection.execute(_CREDITED, asked | between).mappings())
    if kind != "ad-spend":
        first, last = local_day(first, timezone), local_day(last, timezone)
    is_cut = kind != "ad-spend" and sum(row["rows"] for row in known) >= MOST_ROWS
    return Reach(first, last, tuple(row["name"] for row in named), is_cut)
