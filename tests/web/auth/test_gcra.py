"""Rate limits that are counted by one statement, on both databases."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, text

from tests.support.fixtures import Clock
from tests.support.shop_builder import writing
from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_DAY, MICROS_PER_SECOND
from web.auth.gcra import RateLimit, RateLimitState, consume

LIMIT = RateLimit(3, 60 * MICROS_PER_SECOND)


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
