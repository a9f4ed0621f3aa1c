"""Editions by the many: what is done to a chunk's editions at once is done to each as if alone."""

from collections.abc import Iterator
from itertools import pairwise

import pyarrow as pa
import pytest

from tests.support.batches import shop, take
from warehouse.connections import chunks
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.editions import editions, leases, pending_batches
from warehouse.editions.editions import BUILDING, CURRENT, RETIRED, Edition
from warehouse.editions.leases import Claim, LeaseLost
from warehouse.operations.process_id import new_owner
from warehouse.tables import OWNED

NOW = 1_000
OWNER = new_owner()
ELSEWHERE = "elsewhere.example:1:machine:1:token"


@pytest.fixture
def connection(warehouse_url: str) -> Iterator[ArrowConnection]:
    with open_arrow(warehouse_url) as found:
        yield found


def building(connection: ArrowConnection, names: str) -> list[Edition]:
    for name in names:
        shop(connection, name, 1)
    found = editions.list_editions(connection, BUILDING)
    connection.commit()
    return found


def hold(connection: ArrowConnection, edition: Edition, owner: str, until: int) -> None:
    connection.execute(
        "UPDATE edition SET lease_owner = $1, lease_until = $2 WHERE edition = $3",
        owner,
        until,
        edition.edition,
    )
    connection.commit()


def column(connection: ArrowConnection, sql: str) -> list[object]:
    found: list[object] = connection.table(sql).column(0).to_pylist()
    connection.commit()
    return found


def owners(connection: ArrowConnection) -> list[object]:
    return column(connection, "SELECT lease_owner FROM edition ORDER BY edition")


def test_those_that_are_free_are_claimed(connection: ArrowConnection) -> None:
    free, held, expired, abandoned, retired = some = building(connection, "abcde")
    host, _, *rest = OWNER.split(":")
    dead = ":".join((host, str(2**22 + 1), *rest))  # above the greatest process number
    hold(connection, held, ELSEWHERE, NOW + 1)
    hold(connection, expired, ELSEWHERE, NOW - 1)
    hold(connection, abandoned, dead, NOW + 1)
    connection.execute("UPDATE edition SET state = $1 WHERE edition = $2", RETIRED, retired.edition)
    connection.commit()
    claim = leases.claim(connection, OWNER, some, NOW)
    assert claim.editions == (free, expired, abandoned)
    assert owners(connection) == [OWNER, ELSEWHERE, OWNER, OWNER, ""]
    leases.release(connection, Claim(OWNER, tuple(some)))
    assert owners(connection) == ["", ELSEWHERE, "", "", ""]


def test_what_a_transaction_has_locked_is_not_waited_for(
    connection: ArrowConnection, warehouse_url: str
) -> None:
    locked, free = some = building(connection, "ab")
    with open_arrow(warehouse_url) as another:
        another.lock_rows("edition", "edition", "edition = $1", locked.edition)
        claim = leases.claim(connection, OWNER, some, NOW)
        another.rollback()
    expected = (free,) if connection.skip_locked else (locked, free)
    assert claim.editions == expected


def test_a_fence_holds_for_all_or_for_none(connection: ArrowConnection) -> None:
    some = building(connection, "abc")
    claim = leases.claim(connection, OWNER, some, NOW)
    numbers = [one.edition for one in some]
    assert leases.fence(connection, claim, numbers, NOW + 5) == set(numbers)
    connection.commit()
    renewed = column(connection, "SELECT lease_until FROM edition")
    assert len(set(renewed)) == 1
    hold(connection, some[1], ELSEWHERE, NOW)
    with pytest.raises(LeaseLost, match=f"edition {numbers[1]} "):
        leases.fence(connection, claim, numbers, NOW + 10)
    assert column(connection, "SELECT lease_until FROM edition ORDER BY edition") == [
        renewed[0],
        NOW,
        renewed[0],
    ]


def test_those_that_are_whole_are_published_and_the_ones_before_retired(
    connection: ArrowConnection,
) -> None:
    first, second = building(connection, "ab")
    # Not fenced here: nobody else is about.
    assert editions.publish(connection, [first, second], NOW) == [first, second]
    assert editions.list_editions(connection, BUILDING) == []
    # New ones, of which the second's predecessor is ahead.
    take(connection, pending_batches.pending(connection, [second.edition], 2**60), NOW)
    editions.create(connection, [first.shop_key, second.shop_key], 30, 2)
    newer, behind = editions.list_editions(connection, BUILDING)
    connection.commit()
    before = column(connection, "SELECT data_version FROM shop ORDER BY shop_key")
    assert editions.publish(connection, [newer, behind], NOW) == [newer]
    assert column(connection, "SELECT state FROM edition ORDER BY edition") == [
        RETIRED,
        CURRENT,
        CURRENT,
        BUILDING,
    ]
    assert column(connection, "SELECT edition FROM shop ORDER BY shop_key") == [
        newer.edition,
        second.edition,
    ]
    after = column(connection, "SELECT data_version FROM shop ORDER BY shop_key")
    assert [a != b for a, b in zip(after, before, strict=True)] == [True, False]


def test_only_answers_that_are_read_have_moved(connection: ArrowConnection) -> None:
    read, unread = building(connection, "ab")
    editions.publish(connection, [read], NOW)
    editions.mark_rolled_up(connection, [read.edition, unread.edition], NOW + 1)
    connection.commit()
    assert column(connection, "SELECT rolled_up_at FROM edition ORDER BY edition") == [NOW + 1] * 2
    assert column(connection, "SELECT data_changed_at FROM shop ORDER BY shop_key") == [NOW + 1, 0]


def filled(connection: ArrowConnection, names: str, sessions: int) -> list[Edition]:
    """Editions with so many sessions each, and as many codes."""
    some = building(connection, names)
    for edition in some:
        own = [edition.edition] * sessions
        connection.append(
            "fact_form_session", pa.table({"edition": own, "session": range(sessions)})
        )
        connection.append(
            "code_usage",
            pa.table(
                {
                    "edition": own,
                    "code": [7] * sessions,
                    "discount_id": [f"discount {number}" for number in range(sessions)],
                    "form": [1] * sessions,
                }
            ),
        )
    connection.commit()
    return some


def rows_of(connection: ArrowConnection, edition: Edition) -> int:
    return sum(
        int(
            connection.value(
                f"SELECT COUNT(*) FROM {table.name} WHERE edition = $1", edition.edition
            )
        )
        for table in OWNED
    )


@pytest.mark.parametrize(
    ("names", "sessions", "chunks_of_a_table"),
    [("a", 45, [10, 10, 10, 10, 5]), ("abcde", 4, [8, 8, 4]), ("abc", 12, [10, 2] * 3)],
)
def test_no_transaction_of_a_drop_deletes_more_than_the_bound(
    connection: ArrowConnection,
    monkeypatch: pytest.MonkeyPatch,
    names: str,
    sessions: int,
    chunks_of_a_table: list[int],
) -> None:
    *gone, stays = filled(connection, names + "z", sessions)
    monkeypatch.setattr(chunks, "MAX_DELETED_ROWS", 10)
    left, commit = [2 * len(names) * sessions], connection.commit

    def counted() -> None:
        commit()
        left.append(sum(rows_of(connection, edition) for edition in gone))
        commit()

    monkeypatch.setattr(connection, "commit", counted)
    editions.drop(connection, [edition.edition for edition in gone])
    deleted = [before - after for before, after in pairwise(left) if before != after]
    assert deleted == chunks_of_a_table * 2
    assert rows_of(connection, stays) == 2 * sessions
    assert column(connection, "SELECT edition FROM edition") == [stays.edition]


def test_a_drop_that_was_killed_goes_on(
    connection: ArrowConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, stays = filled(connection, "ab", 45)
    monkeypatch.setattr(chunks, "MAX_DELETED_ROWS", 10)
    commit = connection.commit

    def killed() -> None:
        commit()
        if rows_of(connection, gone) <= 25:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(connection, "commit", killed)
        with pytest.raises(KeyboardInterrupt):
            editions.drop(connection, [gone.edition])
    connection.rollback()
    assert 0 < rows_of(connection, gone) <= 25
    assert column(connection, "SELECT edition FROM edition ORDER BY edition") == [
        gone.edition,
        stays.edition,
    ]
    connection.commit()
    editions.drop(connection, [gone.edition])
    assert rows_of(connection, gone) == 0
    assert rows_of(connection, stays) == 90
    assert column(connection, "SELECT edition FROM edition") == [stays.edition]
