"""Failures as rows of the queue: what has failed is pending, wherever it lies, until it is applied; and how
many holders of a lease have died."""

from collections.abc import Iterator

import pytest

from tests.support.batches import shop, take
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.domain.time import NEVER
from warehouse.editions import editions, failed_batches, leases, pending_batches
from warehouse.editions.editions import BUILDING
from warehouse.editions.pending_batches import Batch
from warehouse.operations.process_id import LEASE_MICROS

LATER = 2**60
OWNERS = [f"here:{number}:machine:1:token" for number in range(4)]


@pytest.fixture
def connection(warehouse_url: str) -> Iterator[ArrowConnection]:
    with open_arrow(warehouse_url) as connection:
        yield connection


def pending(connection: ArrowConnection, edition: int) -> list[Batch]:
    found = pending_batches.pending(connection, [edition], LATER, LATER)
    connection.commit()
    return found


def failures(connection: ArrowConnection) -> list[tuple[int, int]]:
    rows = failed_batches.list_failed(connection)
    connection.commit()
    return [(row["batch_id"], row["attempts"]) for row in rows]


def test_a_batch_that_is_set_aside_does_not_keep_the_list_long(
    connection: ArrowConnection,
) -> None:
    one, other = shop(connection, "one", 400), shop(connection, "other", 1)
    first, *rest = pending(connection, one)
    failed_batches.record(connection, first, 5, max_attempts=1)
    take(connection, rest, 1)
    pending_batches.compact(connection, [one, other])
    listed = connection.table("SELECT batch_id, attempts FROM edition_batch").to_pylist()
    assert listed == [{"batch_id": first["batch_id"], "attempts": 1}]
    through = connection.value("SELECT applied_through FROM edition WHERE edition = $1", one)
    assert through == rest[-1]["batch_id"]
    # It waits, and nothing else of its shop; it is not asked for before its time.
    waiting = pending_batches.from_pending(str(one))
    assert connection.table(f"SELECT p.batch_id, p.retry_at {waiting}").to_pylist() == [
        {"batch_id": first["batch_id"], "retry_at": NEVER}
    ]
    assert pending(connection, one) == []
    applied = pending_batches.is_applied(str(one))
    assert (
        connection.value(f"SELECT MIN(batch_id) FROM import_batch WHERE {applied}")
        == (rest[0]["batch_id"])
    )
    assert pending_batches.incomplete(connection, [one]) == set()
    # A rollup by hand tries it again, and then it is as any other.
    again = pending_batches.pending(connection, [one], LATER)
    assert again == [first | {"attempts": 1}]
    failed_batches.delete(connection, again)
    take(connection, again, 2)
    assert pending_batches.pending(connection, [one], LATER) == []
    assert connection.value(f"SELECT COUNT(*) FROM import_batch WHERE {applied}") == 400
    assert connection.value(f"SELECT COUNT(*) {pending_batches.from_pending(str(other))}") == 1


def test_an_attempt_that_was_nobodys_fault_is_taken_back(connection: ArrowConnection) -> None:
    one, other = shop(connection, "one", 3), shop(connection, "other", 1)
    first, second, third = pending(connection, one)
    (others,) = pending(connection, other)
    (edition,) = (
        found for found in editions.list_editions(connection, BUILDING) if found.edition == one
    )
    leases.claim(connection, OWNERS[0], [edition], 0)
    for batch in (first, third):
        failed_batches.record(connection, batch, 1, max_attempts=9)
    failed_batches.name_error(connection, [one], 1, "the reason")
    for batch in (first, second, others):
        failed_batches.record(connection, batch, 2, max_attempts=9)
    # An attempt that a process is at has not failed.
    (failed,) = failed_batches.failed_since(connection, [one, other], 0)
    assert (failed["batch_id"], failed["error"]) == (third["batch_id"], "the reason")
    for _ in range(2):
        failed_batches.take_back(connection, OWNERS[0])
    left = {batch["batch_id"]: 1 for batch in (first, third, others)}
    assert dict(failures(connection)) == left
    # It may be tried again at once.
    assert [batch["attempts"] for batch in pending(connection, one)] == [1, 0, 1]


def test_what_is_applied_has_no_attempts(connection: ArrowConnection) -> None:
    one = shop(connection, "one", 1)
    (batch,) = pending(connection, one)
    take(connection, [batch], 1)
    failed_batches.take_back(connection, "")
    failed_batches.name_error(connection, [one], 0, "late")
    assert (pending(connection, one), failures(connection)) == ([], [])


def test_deaths_are_counted_until_the_figures_change(connection: ArrowConnection) -> None:
    number = shop(connection, "one", 1)
    (edition,) = editions.list_editions(connection, BUILDING)
    released = leases.claim(connection, OWNERS[0], [edition], 0)
    leases.release(connection, released)
    assert leases.claim(connection, OWNERS[1], [edition], 0).deaths == {}
    now = 0
    for deaths, owner in enumerate(OWNERS[2:], 1):
        now += LEASE_MICROS + 1
        held = leases.claim(connection, owner, [edition], now)
        assert held.deaths == {number: deaths}
    leases.release(connection, held)
    # Whoever only gives it back has changed nothing.
    assert leases.claim(connection, OWNERS[0], [edition], now).deaths == {number: 2}
    editions.mark_rolled_up(connection, [number], 1)
    connection.commit()
    held = leases.claim(connection, OWNERS[1], [edition], now + LEASE_MICROS + 1)
    assert held.deaths == {number: 1}
