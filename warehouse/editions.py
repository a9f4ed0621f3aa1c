"""Editions: complete sets of figures, and who may write to them.

An edition is one complete set of facts and daily rows of one shop, built under recorded settings:
the shop's timezone, the attribution window, the version of the logic. Answers read the edition that
`shop.edition` names. Where a setting changes, or all is to be built anew, a second edition is filled
beside it and takes its place in one step; readers never see a day half done.

What an edition has taken in is written in the transaction that stores the figures (`queue.py`): a
batch is in exactly once or not at all, whatever dies.

Work on an edition is claimed by a lease, which the process renews for as long as it works
(`renew`). Every write begins with `fence`, which fails unless the process still holds the lease.
"""

from dataclasses import dataclass
from typing import Final

from warehouse import queue
from warehouse.bulk import Bulk
from warehouse.owners import LEASE_MICROS, is_dead, me, shown
from warehouse.tables import OWNED
from warehouse.versions import moved

# Being filled; read by answers; no longer read, to be dropped; filled only to be compared.
BUILDING: Final = "building"
CURRENT: Final = "current"
RETIRED: Final = "retired"
SCRATCH: Final = "scratch"

# Session ids are unique over all editions: the edition above, a running number below.
SESSION_BITS: Final = 40


class LeaseLost(RuntimeError):
    """Another process has taken the edition over; nothing of the batch was written."""


@dataclass(frozen=True)
class Edition:
    """One edition, as far as jobs need to know it."""

    edition: int
    shop_key: int
    shop_id: str
    timezone: str
    window_days: int
    state: str


@dataclass(frozen=True)
class Claim:
    """Editions that this process may write to, until the lease ends."""

    token: str
    editions: tuple[Edition, ...]


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
    bulk: Bulk, shop_key: int, window_days: int, logic_version: int, state: str = BUILDING
) -> None:
    """A new, empty edition under the shop's settings of now; none where one is being built. Commits."""
    bulk.execute(
        "INSERT INTO edition (shop_key, timezone, window_days, logic_version, state) "
        "SELECT shop_key, timezone, $2, $3, $4 FROM shop WHERE shop_key = $1 "
        "ON CONFLICT DO NOTHING",
        shop_key,
        window_days,
        logic_version,
        state,
    )
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


def claim(bulk: Bulk, wanted: list[Edition], now: int) -> Claim:
    """Lease those of the editions that are free: never held, released, expired, or whose holder is
    a process of this machine that is no more. Commits."""
    token = me()
    held: list[Edition] = []
    for edition in wanted:
        owner = bulk.value("SELECT lease_owner FROM edition WHERE edition = $1", edition.edition)
        bulk.commit()
        abandoned = owner if owner and is_dead(owner) else ""
        if bulk.changed(
            "UPDATE edition SET lease_owner = $1, lease_until = $2 WHERE edition = $3 "
            "AND state <> $6 AND (lease_owner = '' OR lease_owner = $4 OR lease_until < $5) "
            "RETURNING edition",
            token,
            now + LEASE_MICROS,
            edition.edition,
            abandoned,
            now,
            RETIRED,
        ):
            held.append(edition)
        bulk.commit()
    return Claim(token, tuple(held))


def holder(bulk: Bulk, edition: int) -> str:
    """Who holds an edition's lease ("host:pid"), "" where nobody does."""
    owner = str(bulk.value("SELECT lease_owner FROM edition WHERE edition = $1", edition) or "")
    return shown(owner)


def state_of(bulk: Bulk, edition: int) -> str:
    """The state of an edition, "" where it is gone. Commits."""
    state = bulk.value("SELECT state FROM edition WHERE edition = $1", edition) or ""
    bulk.commit()
    return str(state)


def is_held(bulk: Bulk, edition: int, now: int) -> bool:
    """Whether a living process holds an edition's lease."""
    row = bulk.table(
        "SELECT lease_owner, lease_until FROM edition WHERE edition = $1", edition
    ).to_pylist()
    bulk.commit()
    return bool(
        row
        and row[0]["lease_owner"]
        and row[0]["lease_until"] >= now
        and not is_dead(row[0]["lease_owner"])
    )


def renew(bulk: Bulk, now: int) -> None:
    """Keep all leases of this process for another while. Commits."""
    bulk.execute(
        "UPDATE edition SET lease_until = $1 WHERE lease_owner = $2", now + LEASE_MICROS, me()
    )
    bulk.commit()


def release(bulk: Bulk, held: Claim) -> None:
    """Give the leases back. Commits."""
    bulk.rollback()
    for edition in held.editions:
        bulk.execute(
            "UPDATE edition SET lease_owner = '', lease_until = 0 "
            "WHERE edition = $1 AND lease_owner = $2",
            edition.edition,
            held.token,
        )
    bulk.commit()


def fence(bulk: Bulk, held: Claim, numbers: list[int], now: int) -> None:
    """Open the writing transaction of these editions: takes their rows' locks and renews the lease.

    Raises LeaseLost where another process holds one of them now.
    """
    for number in sorted(numbers):
        if not bulk.changed(
            "UPDATE edition SET lease_until = $1 WHERE edition = $2 AND lease_owner = $3 "
            "RETURNING edition",
            now + LEASE_MICROS,
            number,
            held.token,
        ):
            bulk.rollback()
            raise LeaseLost(f"edition {number} was taken over by another process")


def done(bulk: Bulk, edition: int, shop_key: int, now: int) -> None:
    """Note in the writing transaction that an edition's figures have moved, and with them the answers
    where it is the one that they read."""
    bulk.execute("UPDATE edition SET rolled_up_at = $1 WHERE edition = $2", now, edition)
    bulk.execute(
        f"UPDATE shop SET {moved(now)} WHERE shop_key = $1 AND edition = $2", shop_key, edition
    )


def publish(bulk: Bulk, edition: Edition, now: int) -> bool:
    """Make a finished edition the one that answers read, and retire the one before. Commits.

    False, with nothing changed, where the one before has taken in what this one has not.
    """
    bulk.execute(
        "UPDATE edition SET state = $1 WHERE shop_key = $2 AND state = $3",
        RETIRED,
        edition.shop_key,
        CURRENT,
    )
    # Its row is locked now: nothing more gets into the one before.
    before = bulk.value("SELECT edition FROM shop WHERE shop_key = $1", edition.shop_key)
    if before and queue.is_ahead(bulk, before, edition.edition):
        bulk.rollback()
        return False
    bulk.execute("UPDATE edition SET state = $1 WHERE edition = $2", CURRENT, edition.edition)
    bulk.execute(
        f"UPDATE shop SET edition = $1, {moved(now)} WHERE shop_key = $2",
        edition.edition,
        edition.shop_key,
    )
    bulk.commit()
    return True


def drop(bulk: Bulk, edition: int) -> None:
    """Delete an edition that answers no longer read, table by table. Commits."""
    for name in (*(table.name for table in OWNED[::-1]), "edition_batch", "failed_batch"):
        bulk.execute(f"DELETE FROM {name} WHERE edition = $1", edition)
        bulk.commit()
    bulk.execute("DELETE FROM edition WHERE edition = $1", edition)
    bulk.commit()
