"""Editions by the many: what is done to a portion's editions at once is done to each as if alone."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from tests.jobs.test_queue import shop, take
from warehouse import edition_leases, editions, queue
from warehouse.bulk import Bulk, open_bulk
from warehouse.edition_leases import Claim, LeaseLost
from warehouse.editions import BUILDING, CURRENT, RETIRED, Edition
from warehouse.owners import me

NOW = 1_000
ELSEWHERE = "elsewhere.example:1:token"


@pytest.fixture
def bulk(warehouse_url: str) -> Iterator[Bulk]:
    with open_bulk(warehouse_url) as found:
        yield found


def building(bulk: Bulk, names: str) -> list[Edition]:
    for name in names:
        shop(bulk, name, 1)
    found = editions.editions(bulk, BUILDING)
    bulk.commit()
    return found


def hold(bulk: Bulk, edition: Edition, owner: str, until: int) -> None:
    bulk.execute(
        "UPDATE edition SET lease_owner = $1, lease_until = $2 WHERE edition = $3",
        owner,
        until,
        edition.edition,
    )
    bulk.commit()


def column(bulk: Bulk, sql: str) -> list[object]:
    found: list[object] = bulk.table(sql).column(0).to_pylist()
    bulk.commit()
    return found


def owners(bulk: Bulk) -> list[object]:
    return column(bulk, "SELECT lease_owner FROM edition ORDER BY edition")


def test_those_that_are_free_are_claimed(bulk: Bulk) -> None:
    free, held, expired, abandoned, retired = some = building(bulk, "abcde")
    dead = f"{me().split(':')[0]}:{2**22 + 1}:token"  # above the greatest process number
    hold(bulk, held, ELSEWHERE, NOW + 1)
    hold(bulk, expired, ELSEWHERE, NOW - 1)
    hold(bulk, abandoned, dead, NOW + 1)
    bulk.execute("UPDATE edition SET state = $1 WHERE edition = $2", RETIRED, retired.edition)
    bulk.commit()
    claim = edition_leases.claim(bulk, some, NOW)
    assert claim.editions == (free, expired, abandoned)
    assert owners(bulk) == [me(), ELSEWHERE, me(), me(), ""]
    edition_leases.release(bulk, Claim(me(), tuple(some)))
    assert owners(bulk) == ["", ELSEWHERE, "", "", ""]


def test_a_fence_holds_for_all_or_for_none(bulk: Bulk) -> None:
    some = building(bulk, "abc")
    claim = edition_leases.claim(bulk, some, NOW)
    numbers = [one.edition for one in some]
    edition_leases.fence(bulk, claim, numbers, NOW + 5)
    bulk.commit()
    renewed = column(bulk, "SELECT lease_until FROM edition")
    assert len(set(renewed)) == 1
    hold(bulk, some[1], ELSEWHERE, NOW)
    with pytest.raises(LeaseLost, match=f"edition {numbers[1]} "):
        edition_leases.fence(bulk, claim, numbers, NOW + 10)
    assert column(bulk, "SELECT lease_until FROM edition ORDER BY edition") == [
        renewed[0],
        NOW,
        renewed[0],
    ]


def test_those_that_are_whole_are_published_and_the_ones_before_retired(bulk: Bulk) -> None:
    first, second = building(bulk, "ab")
    # Not fenced here: nobody else is about.
    assert editions.publish(bulk, [first, second], NOW) == [first, second]
    assert editions.editions(bulk, BUILDING) == []
    # New ones, of which the second's predecessor is ahead.
    take(bulk, queue.pending(bulk, [second.edition], 2**60), NOW)
    editions.create(bulk, [first.shop_key, second.shop_key], 30, 2)
    newer, behind = editions.editions(bulk, BUILDING)
    bulk.commit()
    before = column(bulk, "SELECT data_version FROM shop ORDER BY shop_key")
    assert editions.publish(bulk, [newer, behind], NOW) == [newer]
    assert column(bulk, "SELECT state FROM edition ORDER BY edition") == [
        RETIRED,
        CURRENT,
        CURRENT,
        BUILDING,
    ]
    assert column(bulk, "SELECT edition FROM shop ORDER BY shop_key") == [
        newer.edition,
        second.edition,
    ]
    after = column(bulk, "SELECT data_version FROM shop ORDER BY shop_key")
    assert [a != b for a, b in zip(after, before, strict=True)] == [True, False]


def test_only_answers_that_are_read_have_moved(bulk: Bulk) -> None:
    read, unread = building(bulk, "ab")
    editions.publish(bulk, [read], NOW)
    editions.done(bulk, [read.edition, unread.edition], NOW + 1)
    bulk.commit()
    assert column(bulk, "SELECT rolled_up_at FROM edition ORDER BY edition") == [NOW + 1] * 2
    assert column(bulk, "SELECT moved_at FROM shop ORDER BY shop_key") == [NOW + 1, 0]


@pytest.mark.parametrize("sessions", [3, 1_000])
def test_a_dropped_edition_leaves_the_others_and_the_indexes(bulk: Bulk, sessions: int) -> None:
    """Whether it had a small part of all sessions, or most."""
    gone, stays = building(bulk, "ab")
    for edition, count in ((gone, sessions), (stays, 100)):
        bulk.execute(
            "UPDATE edition SET next_session = $1 WHERE edition = $2", count + 1, edition.edition
        )
        bulk.append(
            "fact_form_session",
            pa.table({"edition": [edition.edition] * count, "session": range(count)}),
        )
    bulk.commit()
    before = _indexes(bulk)
    editions.drop(bulk, gone.edition)
    assert _indexes(bulk) == before
    assert column(bulk, "SELECT edition FROM edition") == [stays.edition]
    assert column(bulk, "SELECT DISTINCT edition FROM fact_form_session") == [stays.edition]
    assert column(bulk, "SELECT COUNT(*) FROM fact_form_session") == [100]


def _indexes(bulk: Bulk) -> list[object]:
    if bulk.sqlite:
        return column(bulk, "SELECT sql FROM sqlite_master WHERE type = 'index' ORDER BY name")
    return column(bulk, "SELECT CAST(indexdef AS TEXT) AS d FROM pg_indexes ORDER BY indexname")
