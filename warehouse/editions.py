"""Editions: complete sets of figures.

An edition is one complete set of facts and daily rows of one shop, built under recorded settings:
the shop's timezone, the attribution window, the version of the logic. Answers read the edition that
`shop.edition` names. Where a setting changes, or all is to be built anew, a second edition is filled
beside it and takes its place in one step; readers never see a day half done.

What an edition has taken in is written in the transaction that stores the figures (`queue.py`): a
batch is in exactly once or not at all, whatever dies.

Who may write to one is said by its lease (`edition_leases.py`).
"""

from dataclasses import dataclass
from typing import Final

from warehouse import queue
from warehouse.bulk import Bulk, Cell
from warehouse.queue import listed
from warehouse.tables import OWNED
from warehouse.versions import moved

# Being filled; read by answers; no longer read, to be dropped; filled only to be compared.
BUILDING: Final = "building"
CURRENT: Final = "current"
RETIRED: Final = "retired"
SCRATCH: Final = "scratch"

# Session ids are unique over all editions: the edition above, a running number below.
SESSION_BITS: Final = 40


@dataclass(frozen=True)
class Edition:
    """One edition, as far as jobs need to know it."""

    edition: int
    shop_key: int
    shop_id: str
    timezone: str
    window_days: int
    state: str


_EDITIONS = """
SELECT e.edition, e.shop_key, s.shop_id, e.timezone, e.window_days, e.state
FROM edition e JOIN shop s ON s.shop_key = e.shop_key
"""


def editions(bulk: Bulk, state: str, shop: str | None = None) -> list[Edition]:
    """The editions in a state, of all shops or one."""
    sql, values = f"{_EDITIONS} WHERE e.state = $1", [state]
    if shop is not None:
        sql, values = f"{sql} AND s.shop_id = $2", [state, shop]
    return [Edition(**row) for row in bulk.table(f"{sql} ORDER BY e.edition", *values).to_pylist()]


def create(
    bulk: Bulk, shops: list[int], window_days: int, logic_version: int, state: str = BUILDING
) -> None:
    """New, empty editions under the shops' settings of now; none where one is being built. Commits."""
    bulk.execute(
        "INSERT INTO edition (shop_key, timezone, window_days, logic_version, state) "
        f"SELECT shop_key, timezone, $1, $2, $3 FROM shop WHERE shop_key IN ({listed(shops)}) "
        "ORDER BY shop_key ON CONFLICT DO NOTHING",
        window_days,
        logic_version,
        state,
    )
    bulk.commit()


def retire_outdated(bulk: Bulk, shops: list[int], window_days: int, logic_version: int) -> None:
    """Retire what is being built of these shops under other settings than today's. Commits."""
    outdated = (
        f"state = $1 AND shop_key IN ({listed(shops)}) AND (window_days <> $2 "
        "OR logic_version <> $3 OR timezone <> "
        "(SELECT s.timezone FROM shop s WHERE s.shop_key = edition.shop_key))"
    )
    values = BUILDING, window_days, logic_version
    lock(bulk, outdated, *values)
    bulk.execute(f"UPDATE edition SET state = $4 WHERE {outdated}", *values, RETIRED)
    bulk.commit()


def outdated(
    bulk: Bulk, window_days: int, logic_version: int, shop: str | None = None
) -> list[int]:
    """Shops whose answers are missing or were built under other settings than today's."""
    sql = (
        "SELECT s.shop_key FROM shop s LEFT JOIN edition e ON e.edition = s.edition "
        "WHERE (e.edition IS NULL OR e.timezone <> s.timezone OR e.window_days <> $1 "
        "OR e.logic_version <> $2)"
    )
    values: list[int | str] = [window_days, logic_version]
    if shop is not None:
        sql += " AND s.shop_id = $3"
        values.append(shop)
    return bulk.table(f"{sql} ORDER BY s.shop_key", *values).column(0).to_pylist()


def begun(bulk: Bulk, window_days: int, logic_version: int) -> dict[int, bool]:
    """By shop of which an edition is being built: whether that is under today's settings."""
    rows = bulk.table(
        "SELECT e.shop_key, CASE WHEN e.timezone = s.timezone AND e.window_days = $1 "
        "AND e.logic_version = $2 THEN 1 ELSE 0 END AS fits "
        "FROM edition e JOIN shop s ON s.shop_key = e.shop_key WHERE e.state = $3",
        window_days,
        logic_version,
        BUILDING,
    ).to_pylist()
    return {row["shop_key"]: bool(row["fits"]) for row in rows}


def state_of(bulk: Bulk, edition: int) -> str:
    """The state of an edition, "" where it is gone. Commits."""
    state = bulk.value("SELECT state FROM edition WHERE edition = $1", edition) or ""
    bulk.commit()
    return str(state)


def done(bulk: Bulk, numbers: list[int], now: int) -> None:
    """Note in the writing transaction that these editions' figures have moved, and with them the
    answers of the shops that read them."""
    editions = listed(numbers)
    bulk.execute(f"UPDATE edition SET rolled_up_at = $1 WHERE edition IN ({editions})", now)
    _move(
        bulk,
        f"edition IN ({editions}) "
        f"AND shop_key IN (SELECT shop_key FROM edition WHERE edition IN ({editions}))",
        now,
    )


def publish(bulk: Bulk, finished: list[Edition], now: int) -> list[Edition]:
    """Make finished editions, fenced just before, the ones that answers read, and retire those
    before them. Commits.

    An edition is left as it is where the one before has taken in what it has not; returns the others.
    """
    shops = listed([edition.shop_key for edition in finished])
    # Once their rows are locked, nothing more gets into the ones before.
    lock(bulk, f"state = $1 AND shop_key IN ({shops})", CURRENT)
    rows = bulk.table(
        f"SELECT shop_key, edition FROM shop WHERE edition <> 0 AND shop_key IN ({shops})"
    ).to_pylist()
    before = {row["shop_key"]: row["edition"] for row in rows}
    ready = [
        one
        for one in finished
        if one.shop_key not in before or not queue.is_ahead(bulk, before[one.shop_key], one.edition)
    ]
    shops, numbers = (
        listed([edition.shop_key for edition in ready]),
        listed([edition.edition for edition in ready]),
    )
    bulk.execute(
        f"UPDATE edition SET state = CASE WHEN edition IN ({numbers}) THEN $1 ELSE $2 END "
        f"WHERE edition IN ({numbers}) OR (shop_key IN ({shops}) AND state = $1)",
        CURRENT,
        RETIRED,
    )
    own = "SELECT e.edition FROM edition e WHERE e.shop_key = shop.shop_key AND e.edition"
    _move(bulk, f"shop_key IN ({shops})", now, f"edition = ({own} IN ({numbers})), ")
    bulk.commit()
    return ready


def lock(bulk: Bulk, condition: str, *values: Cell) -> None:
    """Take the locks of the editions' rows that meet a condition, always in the same order: so
    processes that want some of the same never wait for each other in a circle. (SQLite has one
    writer at a time.)"""
    if not bulk.sqlite:
        bulk.table(
            f"SELECT edition FROM edition WHERE {condition} ORDER BY edition FOR UPDATE", *values
        )


def _move(bulk: Bulk, condition: str, now: int, assigned: str = "") -> None:
    """Move the data version of the shops that meet a condition, and assign what else is to be."""
    if not bulk.sqlite:
        # In the order in which imports take the rows of shops, so that neither waits for the other.
        bulk.table(f"SELECT shop_key FROM shop WHERE {condition} ORDER BY shop_key FOR UPDATE")
    bulk.execute(f"UPDATE shop SET {assigned}{moved(now)} WHERE {condition}")


def drop(bulk: Bulk, edition: int) -> None:
    """Delete an edition that answers no longer read, table by table. Commits."""
    most = _has_most(bulk, edition)
    for name in (*(table.name for table in OWNED[::-1]), "edition_batch", "failed_batch"):
        indexes = _indexes(bulk, name) if most and bulk.sqlite else []
        for index in indexes:
            bulk.execute(f"DROP INDEX {index['name']}")
        bulk.execute(f"DELETE FROM {name} WHERE edition = $1", edition)
        for index in indexes:
            bulk.execute(index["sql"])
        bulk.commit()
    bulk.execute("DELETE FROM edition WHERE edition = $1", edition)
    bulk.commit()


def _has_most(bulk: Bulk, edition: int) -> bool:
    """Whether at least a third of all form sessions are an edition's.

    SQLite takes each row out of every index by itself, at a place of its own each time. Where so much
    goes, to index anew what stays takes a fraction of that. (PostgreSQL leaves it to its vacuum.)
    """
    share = bulk.value(
        "SELECT CAST(SUM(CASE WHEN edition = $1 THEN 2 ELSE -1 END * next_session) AS BIGINT) "
        "FROM edition",
        edition,
    )
    return int(share or 0) >= 0


def _indexes(bulk: Bulk, table: str) -> list[dict[str, str]]:
    """The `name` of each index of a table and the `sql` that makes it, but for those of its keys."""
    return bulk.table(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = $1 "
        "AND sql IS NOT NULL ORDER BY name",
        table,
    ).to_pylist()
