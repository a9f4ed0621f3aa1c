"""A page on rows that are not in the figures yet: how many, and when the next refresh begins."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy import Connection, select

from jobs.scheduler.schedule import schedule
from tests.support.import_files import order
from tests.support.job_commands import SHOP, Commands
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine
from warehouse.domain.time import MICROS_PER_SECOND, from_micros, to_micros
from warehouse.operations.schedulers import (
    ALIVE_MICROS,
    REFRESH,
    SchedulerRecord,
    next_refresh_at,
    record_heartbeat,
)
from warehouse.shops.shop_inputs import RowsToCome, rows_to_come
from warehouse.tables import shop

NOW = 1_795_000_123_456_789


@contextmanager
def reading(commands: Commands) -> Iterator[Connection]:
    """A connection of pages, which commands cannot have beside them in one process."""
    engine = open_engine(commands.url)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def to_come(commands: Commands) -> RowsToCome:
    with reading(commands) as connection:
        return rows_to_come(connection, connection.scalars(select(shop.c.shop_key)).one(), NOW)


def test_rows_wait_for_the_next_refresh(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    assert to_come(commands) == RowsToCome(0, 0)
    commands.take("orders", [order(order_id=str(number)) for number in range(3)])
    # Nobody refreshes by itself: no time is promised.
    assert to_come(commands) == RowsToCome(3, 0)
    jobs = schedule()
    (refresh,) = [job for job in jobs if job.name == REFRESH]
    following = refresh.next_time(from_micros(NOW))
    assert following
    seen = SchedulerRecord(
        owner="here:1:x",
        started_at=NOW,
        seen_at=NOW,
        due_at=NOW,
        schedule=[job.as_stored for job in jobs],
        landing_folder="/",
        landed_files=0,
        landed_since=0,
    )
    with open_arrow(commands.url) as arrow:
        record_heartbeat(arrow, seen)
    assert to_come(commands) == RowsToCome(3, to_micros(following))
    # The instant itself is the next one, too.
    next_one = to_micros(following)
    with reading(commands) as connection:
        assert next_refresh_at(connection, next_one) == next_one
        assert next_refresh_at(connection, next_one + 1) == next_one + 300 * MICROS_PER_SECOND
    commands("rollup")
    assert to_come(commands) == RowsToCome(0, next_one)
    commands.take("orders", [order(order_id="more")])
    with open_arrow(commands.url) as arrow:
        record_heartbeat(arrow, replace(seen, seen_at=NOW - ALIVE_MICROS - 1))
    assert to_come(commands) == RowsToCome(1, 0)
