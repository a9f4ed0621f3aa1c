"""`verify` finds whatever is wrong in what an edition stores.

In a small shop each column of each table that an edition owns is made wrong in one row, one after the other:
`--all` must find it, and so must a sample that meets its day. The columns are those of the metadata, so a new
one is tried without a line here.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from sqlalchemy import Table

from jobs.pipeline import comparison, plan, recompute
from jobs.pipeline.comparison import NOT_DERIVED, Differences
from jobs.run.job_run import JobRun
from tests.jobs.conftest import SHOP, Commands
from tests.support.import_files import Row, event, order
from warehouse.catalogue import SUMMARIES
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions import editions
from warehouse.editions.editions import CURRENT, Edition
from warehouse.tables import DAILY, OWNED
from warehouse.tables.base import is_text, key_names

FORM, OTHER_FORM = (f"0190c4a2-5b7e-7c3d-8f1a-00000000000{digit}" for digit in "12")
UTM = {f"utm_{name}": f"the {name}" for name in "source medium campaign term content id".split()}
BOUGHT_UTM = {name: f"{text} of the order" for name, text in UTM.items()}
PACKED = {
    DAILY[one.name]: (*one.packed_dims, *one.measures) for one in SUMMARIES if one.packed_dims
}


def session(name: str, day: int, form: str = FORM, **last: Any) -> list[Row]:
    """A visitor who goes through a form on a day of January, and leaves all that can be left."""
    step = {"step_id": "step", "step_index": 1, "step_name": "The step"}
    kinds: list[Row] = [
        {"type": "view", "device_type": "mobile", **UTM},
        {"type": "start"},
        {"type": "step_view", **step},
        {"type": "answer", "field_id": "a", "field_type": "choice", "value": f"of {name}"},
        {"type": "answer", "field_id": "b", "field_type": "multi_choice", "value": ["x", "y"]},
        {"type": "step_complete", **step},
        {"type": "subscribe", "email": f"{name}@a.example", "customer_id": f"customer of {name}"},
        {"type": "complete", "email": f"{name}@a.example", **last},
    ]
    return [
        event(
            event_id=f"{name}-{place}",
            form_id=form,
            form_session_id=name,
            visitor_id="visitor",
            occurred_at=f"2026-01-{day:02}T10:0{place}:00Z",
            **kind,
        )
        for place, kind in enumerate(kinds)
    ]


def bought(name: str, day: int, **more: Any) -> Row:
    return order(order_id=name, created_at=f"2026-01-{day:02}T12:00:00Z", **more)


EVENTS = [
    *session("ada", 1, discount_code="POOL-1"),
    *session("bea", 2, discount_code="SHARED", discount_id="d"),
    *session("cleo", 2, OTHER_FORM, discount_id="e"),
    event(
        event_id="left", form_id=FORM, form_session_id="gone", occurred_at="2026-01-03T10:00:00Z"
    ),
]
REFUND = {"refund_id": "r", "created_at": "2026-01-03", "amount_cents": 100}
ORDERS = [
    bought("by code", 1, discount_codes=[{"code": "POOL-1", "amount_cents": 50}], refunds=[REFUND]),
    bought("by customer", 2, email="BEA@a.example", **BOUGHT_UTM),
    bought("again", 3, customer_id="customer of bea", visitor_id="visitor"),
    bought(
        "by visitor", 3, visitor_id="visitor", discount_codes=[{"code": "ELSE"}], discount_cents=7
    ),
    bought("by nobody", 3, customer_id="nobody", **BOUGHT_UTM),
]


@pytest.fixture
def shop(commands: Commands) -> Commands:
    """A shop of three days that is rolled up: its rows came late and in two portions."""
    commands.take("shops", [SHOP])
    for events, orders in ((EVENTS[::2], ORDERS[::2]), (EVENTS[1::2], ORDERS[1::2])):
        commands.take("events", events)
        commands.take("orders", orders)
        commands("rollup")
    return commands


@pytest.fixture
def run(shop: Commands, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobRun]:
    for name, value in shop.settings.items():
        monkeypatch.setenv(name, value)
    with JobRun("verify") as job:
        yield job


def current(run: JobRun) -> Edition:
    (edition,) = editions.list_editions(run.connection, CURRENT)
    run.connection.commit()
    return edition


def wrong(column: sa.Column[Any]) -> str:
    """SQL of another value for a column, which no row of the test has."""
    if is_text(column):
        return f"\"{column.name}\" || ' it is not'"
    # What has not happened did, on a day that a calendar has.
    return f'CASE WHEN "{column.name}" > {2**61} THEN 1 ELSE "{column.name}" + 7919 END'


def wrong_number(cells: bytes, place: int) -> bytes:
    """Packed cells with another value in one place of the first line."""
    numbers = np.frombuffer(cells, "<i8").copy()
    numbers[place] += 7919
    return numbers.tobytes()


def breakings(connection: ArrowConnection, edition: Edition) -> Iterator[tuple[str, Table, str]]:
    """Each column of each table: its name, and the statement that makes it wrong in one row."""
    for table in OWNED:
        key = ", ".join(f'"{name}"' for name in key_names(table))
        rows = f"FROM {table.name} WHERE edition = {edition.edition} ORDER BY {key} LIMIT 1"
        one = f"({key}) IN (SELECT {key} {rows})"
        for column in table.columns:
            if column.name == "packed_dims":
                (cells,) = connection.table(f"SELECT packed_dims {rows}").column(0).to_pylist()
                for place, name in enumerate(PACKED[table]):
                    value = wrong_number(cells, place).hex()
                    blob = (
                        f"'\\x{value}'::bytea"
                        if connection.backend.name == "postgresql"
                        else f"x'{value}'"
                    )
                    yield (
                        f"{table.name}.{name}",
                        table,
                        f"UPDATE {table.name} SET packed_dims = {blob} WHERE {one}",
                    )
            elif column not in NOT_DERIVED:
                change = f'UPDATE {table.name} SET "{column.name}" = {wrong(column)} WHERE {one}'
                yield f"{table.name}.{column.name}", table, change


def missed(
    connection: ArrowConnection, edition: Edition, compare: Callable[[], Differences]
) -> list[str]:
    """The columns that can be wrong without a difference of their table."""
    assert compare() == {}
    connection.rollback()
    unseen = []
    statements = list(breakings(connection, edition))
    assert len(statements) > 200
    for name, table, statement in statements:
        connection.execute(statement)
        if not any(found == table.name for _, found, _ in compare()):
            unseen.append(name)
        connection.rollback()
    return unseen


def test_every_table_of_the_shop_has_rows(run: JobRun) -> None:
    number = current(run).edition
    counts = {
        table.name: run.connection.value(
            f"SELECT COUNT(*) FROM {table.name} WHERE edition = {number}"
        )
        for table in OWNED
    }
    assert 0 not in counts.values(), counts


def test_a_comparison_of_all_finds_each_column_that_is_wrong(run: JobRun) -> None:
    edition = current(run)

    def compare(held: Any) -> list[str]:
        with plan.built_anew(run, held, edition) as anew:
            whole = partial(comparison.compare_editions, run.connection, edition, anew)
            return missed(run.connection, edition, whole)

    assert plan.while_held(run, edition, compare) == []


def test_a_sample_that_meets_its_day_finds_each_column_that_is_wrong(run: JobRun) -> None:
    (days,) = recompute.random_days(run.connection, [current(run)], 100)
    (edition,) = days
    assert len(days[edition]) == 3
    sample = partial(comparison.compare_days, run.connection, days)
    assert missed(run.connection, edition, sample) == []
