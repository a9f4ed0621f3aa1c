"""Who may write to an edition.

Work on an edition is claimed by a lease, which the process renews for as long as it works
(`renew`). Every write begins with `fence`, which fails unless the process still holds the lease.
"""

from dataclasses import dataclass

from warehouse.bulk import Bulk
from warehouse.editions import RETIRED, Edition, lock
from warehouse.owners import LEASE_MICROS, is_dead, me, shown
from warehouse.queue import listed


class LeaseLost(RuntimeError):
    """Another process has taken the edition over; nothing of the batch was written."""


@dataclass(frozen=True)
class Claim:
    """Editions that this process may write to, until the lease ends."""

    token: str
    editions: tuple[Edition, ...]


def claim(bulk: Bulk, wanted: list[Edition], now: int) -> Claim:
    """Lease those of the editions that are free: never held, released, expired, or whose holder is
    a process of this machine that is no more. Commits."""
    token, numbers = me(), listed([edition.edition for edition in wanted])
    owners = bulk.table(
        f"SELECT DISTINCT lease_owner FROM edition WHERE edition IN ({numbers}) "
        "AND lease_owner <> ''"
    )
    bulk.commit()
    dead = [owner for owner in owners.column(0).to_pylist() if is_dead(owner)]
    free = (
        f"edition IN ({numbers}) AND state <> $1 AND (lease_until < $2 "
        f"OR lease_owner IN ({', '.join(f'${place + 3}' for place in range(len(dead) + 1))}))"
    )
    values = RETIRED, now, "", *dead
    lock(bulk, free, *values)
    taken = bulk.table(
        f"UPDATE edition SET lease_owner = ${len(values) + 1}, lease_until = ${len(values) + 2} "
        f"WHERE {free} RETURNING edition",
        *values,
        token,
        now + LEASE_MICROS,
    )
    bulk.commit()
    held = set(taken.column(0).to_pylist())
    return Claim(token, tuple(edition for edition in wanted if edition.edition in held))


def holder(bulk: Bulk, edition: int) -> str:
    """Who holds an edition's lease ("host:pid"), "" where nobody does."""
    owner = str(bulk.value("SELECT lease_owner FROM edition WHERE edition = $1", edition) or "")
    return shown(owner)


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
    lock(bulk, "lease_owner = $1", me())
    bulk.execute(
        "UPDATE edition SET lease_until = $2 WHERE lease_owner = $1", me(), now + LEASE_MICROS
    )
    bulk.commit()


def release(bulk: Bulk, held: Claim) -> None:
    """Give the leases back. Commits."""
    bulk.rollback()
    mine = _mine([edition.edition for edition in held.editions])
    lock(bulk, mine, held.token)
    bulk.execute(f"UPDATE edition SET lease_owner = '', lease_until = 0 WHERE {mine}", held.token)
    bulk.commit()


def fence(bulk: Bulk, held: Claim, numbers: list[int], now: int) -> None:
    """Open the writing transaction of these editions: takes their rows' locks and renews the lease.

    Raises LeaseLost where another process holds one of them now.
    """
    mine = _mine(numbers)
    lock(bulk, mine, held.token)
    fenced = bulk.table(
        f"UPDATE edition SET lease_until = $2 WHERE {mine} RETURNING edition",
        held.token,
        now + LEASE_MICROS,
    )
    lost = set(numbers) - set(fenced.column(0).to_pylist())
    if lost:
        bulk.rollback()
        raise LeaseLost(f"edition {min(lost)} was taken over by another process")


def _mine(numbers: list[int]) -> str:
    """The condition on rows of `edition`: these, where $1 holds the lease."""
    return f"edition IN ({listed(numbers)}) AND lease_owner = $1"
