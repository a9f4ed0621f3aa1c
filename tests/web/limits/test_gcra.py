"""Rate limits that are counted by one statement, on both databases."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, text

from tests.support.fixtures import Clock
from tests.support.shop_builder import writing
from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_DAY, MICROS_PER_SECOND
from web.limits.gcra import RateLimit, RateLimitState, client_network, consume, plain_address

LIMIT = RateLimit(3, 60 * MICROS_PER_SECOND)


@pytest.mark.parametrize(
    ("text", "address", "network"),
    [
        ("203.0.113.5", "203.0.113.5", "203.0.113.5"),
        # As proxies write it, and as a listener on `::` has an IPv4 client.
        ("203.0.113.5:4711", "203.0.113.5", "203.0.113.5"),
        ("::ffff:203.0.113.5", "203.0.113.5", "203.0.113.5"),
        ("[::ffff:203.0.113.5]:80", "203.0.113.5", "203.0.113.5"),
        ("2001:DB8:0:1::5", "2001:db8:0:1::5", "2001:db8:0:1::/64"),
        ("[2001:db8:0:1::6]:4711", "2001:db8:0:1::6", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::1", "fe80::/64"),
        ("unknown", "unknown", "unknown"),
        ("", "", ""),
    ],
)
def test_an_address_has_one_spelling_and_one_network(text: str, address: str, network: str) -> None:
    """Each port of one client was a sender of its own."""
    assert (plain_address(text), client_network(text)) == (address, network)


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    with writing(engine) as connection:
        yield connection


def use(connection: Connection, now: int) -> RateLimitState:
    return consume(
        lambda statement, values: connection.execute(text(statement), values).scalar(),
        "a subject",
        LIMIT,
        now,
    )


def test_a_clock_that_was_ahead_locks_nobody_out(connection: Connection, clock: Clock) -> None:
    for _ in range(LIMIT.times):
        use(connection, clock.now + 365 * MICROS_PER_DAY)
    left = [use(connection, clock.now).remaining for _ in range(LIMIT.times)]
    assert left == [2, 1, 0]
    assert use(connection, clock.now).retry_after == 20


def test_a_clock_that_is_a_little_ahead_lifts_no_limit(
    connection: Connection, clock: Clock
) -> None:
    for _ in range(LIMIT.times):
        use(connection, clock.now + CLOCK_SKEW)
    assert use(connection, clock.now).retry_after == 20 + 60
