"""Leases and fences: which process may write to an edition, and what a write changes."""

from collections.abc import Iterator

import pytest

from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_DAY
from warehouse.editions import editions, leases
from warehouse.editions.editions import BUILDING, Edition, next_version
from warehouse.editions.leases import Claim, LeaseLost
from warehouse.operations.process_id import LEASE_MICROS

OWNER, ELSEWHERE = "here:1:machine:1:token", "elsewhere:1:machine:1:token"


@pytest.fixture
def connection(warehouse_url: str) -> Iterator[ArrowConnection]:
    with open_arrow(warehouse_url) as connection:
        yield connection


@pytest.fixture
def edition(connection: ArrowConnection) -> Edition:
    connection.execute("INSERT INTO shop (shop_key, shop_id, timezone) VALUES (1, 'a', 'UTC')")
    editions.create(connection, [1], 30, 1)
    (created,) = editions.list_editions(connection, BUILDING)
    return created


def test_a_claim_holds_until_it_is_released(connection: ArrowConnection, edition: Edition) -> None:
    held = leases.claim(connection, OWNER, [edition], 1)
    assert held.editions == (edition,)
    assert leases.held(connection, [edition.edition], 1)
    leases.release(connection, held)
    assert leases.holder(connection, edition.edition) == ""
    assert not leases.held(connection, [edition.edition], 1)


def test_another_process_claims_only_what_has_expired(
    connection: ArrowConnection, edition: Edition
) -> None:
    ours = leases.claim(connection, OWNER, [edition], 0)
    leases.renew(connection, OWNER, 10)
    assert leases.claim(connection, ELSEWHERE, [edition], LEASE_MICROS + 10).editions == ()
    theirs = leases.claim(connection, ELSEWHERE, [edition], LEASE_MICROS + 11)
    assert theirs == Claim(ELSEWHERE, (edition,))
    with pytest.raises(LeaseLost, match="was taken over by another process"):
        leases.fence(connection, ours, [edition.edition], LEASE_MICROS + 12)
    leases.release(connection, ours)
    assert leases.holder(connection, edition.edition) == "elsewhere:1"


def test_a_lease_of_a_clock_that_was_ahead_has_expired(
    connection: ArrowConnection, edition: Edition
) -> None:
    year = 365 * MICROS_PER_DAY
    ahead = leases.claim(connection, OWNER, [edition], year)
    # The clocks of two machines may differ a little.
    assert leases.held(connection, [edition.edition], year - CLOCK_SKEW)
    assert leases.claim(connection, ELSEWHERE, [edition], year - CLOCK_SKEW).editions == ()
    assert not leases.held(connection, [edition.edition], 1)
    assert leases.claim(connection, ELSEWHERE, [edition], 1).editions == (edition,)
    with pytest.raises(LeaseLost):
        leases.fence(connection, ahead, [edition.edition], year)


def test_a_fence_extends_the_lease(connection: ArrowConnection, edition: Edition) -> None:
    held = leases.claim(connection, OWNER, [edition], 0)
    leases.fence(connection, held, [edition.edition], 50)
    connection.commit()
    until = connection.value("SELECT lease_until FROM edition WHERE lease_owner = $1", OWNER)
    assert until == 50 + LEASE_MICROS


def test_a_fence_tells_which_editions_are_empty(
    connection: ArrowConnection, edition: Edition
) -> None:
    held = leases.claim(connection, OWNER, [edition], 0)
    assert leases.fence(connection, held, [edition.edition], 50) == {edition.edition}
    editions.mark_rolled_up(connection, [edition.edition], 60)
    connection.commit()
    assert leases.fence(connection, held, [edition.edition], 70) == set()


def test_the_data_version_counts_up_and_its_instant_never_goes_back(
    connection: ArrowConnection, edition: Edition
) -> None:
    seen = []
    for now in (100, 90, 110):
        connection.execute(f"UPDATE shop SET {next_version(now)}")
        (row,) = connection.table("SELECT data_version, data_changed_at FROM shop").to_pylist()
        seen.append(tuple(row.values()))
    assert seen == [(1, 100), (2, 100), (3, 110)]
