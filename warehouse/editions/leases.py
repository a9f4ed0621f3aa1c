"""Leases of editions: at most one run writes to an edition.

A run claims an edition, and renews its lease for as long as it works. Every write begins with `fence`,
which fails unless the run still holds the lease. Instants are the database server's,
`connection.now_micros()`: the clocks of hosts differ.

A lease is the record of an attempt, too: one that was not released was its holder's to the end of its
process. `edition.deaths` counts them until the edition's figures change.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from warehouse.connections.arrow import ArrowConnection
from warehouse.editions import zone_rules
from warehouse.editions.editions import FROZEN, RETIRED, Edition
from warehouse.editions.pending_batches import sql_list
from warehouse.operations.process_id import LEASE_MICROS, LEASE_REACH, display_name, is_dead


class LeaseLost(RuntimeError):
    """Another run has claimed the edition; nothing of the batch was written."""


@dataclass(frozen=True)
class Claim:
    """Editions that an owner may write to until the lease expires.

    `deaths`: for those that have any, how many holders ended without a release since the edition's figures
    last changed.
    """

    owner: str
    editions: tuple[Edition, ...]
    deaths: Mapping[int, int] = field(default_factory=dict, compare=False)


def claim(connection: ArrowConnection, owner: str, wanted: list[Edition], now: int) -> Claim:
    """Lease those of the editions that are free: never leased, released, expired (`LEASE_REACH`), or
    leased by a process of this machine that has ended. Raises OlderRules (`zone_rules.py`). Commits.

    An edition whose row another transaction has locked is not waited for: somebody is at work on it.
    """
    zone_rules.require_latest(connection)
    numbers = sql_list(edition.edition for edition in wanted)
    owners = connection.table(
        f"SELECT DISTINCT lease_owner FROM edition WHERE edition IN ({numbers}) "
        "AND lease_owner <> ''"
    )
    connection.commit()
    dead = [owner for owner in owners.column(0).to_pylist() if is_dead(owner)]
    placeholders = ", ".join(f"${number + 4}" for number in range(len(dead) + 1))
    is_free = (
        f"edition IN ({numbers}) AND state NOT IN ($1, '{FROZEN}') "
        f"AND (lease_until < $2 OR lease_until > $3 OR lease_owner IN ({placeholders}))"
    )
    values = RETIRED, now, now + LEASE_REACH, "", *dead
    claimed = connection.table(
        f"UPDATE edition SET lease_owner = ${len(values) + 1}, lease_until = ${len(values) + 2}, "
        "deaths = deaths + CASE WHEN lease_owner = '' THEN 0 ELSE 1 END "
        f"WHERE edition IN (SELECT edition FROM edition WHERE {is_free} "
        f"ORDER BY edition {connection.skip_locked}) RETURNING edition, deaths",
        *values,
        owner,
        now + LEASE_MICROS,
    )
    connection.commit()
    held = dict(zip(*(column.to_pylist() for column in claimed.columns), strict=True))
    return Claim(
        owner,
        tuple(edition for edition in wanted if edition.edition in held),
        {number: deaths for number, deaths in held.items() if deaths},
    )


def holder(connection: ArrowConnection, edition: int) -> str:
    """The process that holds an edition's lease ("host:pid"), "" if none does."""
    owner = connection.value("SELECT lease_owner FROM edition WHERE edition = $1", edition)
    return display_name(str(owner or ""))


def held(connection: ArrowConnection, numbers: Iterable[int], now: int) -> set[int]:
    """The editions among these whose lease a living process holds. Commits."""
    rows = connection.table(
        "SELECT edition, lease_owner, lease_until FROM edition "
        f"WHERE edition IN ({sql_list(numbers)}) AND lease_owner <> ''"
    ).to_pylist()
    connection.commit()
    dead = {owner for owner in {row["lease_owner"] for row in rows} if is_dead(owner)}
    return {
        row["edition"]
        for row in rows
        if now <= row["lease_until"] <= now + LEASE_REACH and row["lease_owner"] not in dead
    }


def renew(connection: ArrowConnection, owner: str, now: int) -> None:
    """Extend all leases of an owner. Commits."""
    connection.lock_rows("edition", "edition", "lease_owner = $1", owner)
    connection.execute(
        "UPDATE edition SET lease_until = $2 WHERE lease_owner = $1", owner, now + LEASE_MICROS
    )
    connection.commit()


def release(connection: ArrowConnection, held: Claim) -> None:
    """Roll back, and end the leases of a claim. Commits."""
    connection.rollback()
    is_own = _is_own([edition.edition for edition in held.editions])
    connection.lock_rows("edition", "edition", is_own, held.owner)
    connection.execute(
        f"UPDATE edition SET lease_owner = '', lease_until = 0 WHERE {is_own}", held.owner
    )
    connection.commit()


def fence(connection: ArrowConnection, held: Claim, numbers: list[int], now: int) -> set[int]:
    """Begin the transaction that writes to these editions: lock their rows and extend their leases.

    Returns those that are empty: no figure was ever written to them. Raises LeaseLost if another run
    holds one of them now.
    """
    is_own = _is_own(numbers)
    connection.lock_rows("edition", "edition", is_own, held.owner)
    fenced = connection.table(
        f"UPDATE edition SET lease_until = $2 WHERE {is_own} RETURNING edition, rolled_up_at",
        held.owner,
        now + LEASE_MICROS,
    ).to_pylist()
    lost = set(numbers) - {row["edition"] for row in fenced}
    if lost:
        connection.rollback()
        raise LeaseLost(f"edition {min(lost)} was taken over by another process")
    return {row["edition"] for row in fenced if not row["rolled_up_at"]}


def _is_own(numbers: list[int]) -> str:
    """The condition on rows of `edition`: these editions, leased by $1."""
    return f"edition IN ({sql_list(numbers)}) AND lease_owner = $1"
