"""`verify` finds whatever is wrong in what an edition stores.

In a small shop each column of each table that an edition owns is made wrong in one row, one after the other:
`--all` must find it, and so must a sample that meets its day. The columns are those of the metadata, so a new
one is tried without a line here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa
from sqlalchemy import Table

from jobs.facts import day_facts
from jobs.pipeline import comparison, plan, recompute
from jobs.pipeline.comparison import NOT_DERIVED
from jobs.run.job_run import JobRun
from tests.conftest import NewUrl
from tests.support.backups import uncounted
from tests.support.fixtures import commands_on
from tests.support.import_files import Row, event, order
from tests.support.job_commands import SHOP, Commands
from warehouse.catalogue import SUMMARIES, SUMMARY
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.daily.packed_rows import layout
from warehouse.domain.hash_ids import text_id
from warehouse.domain.vocabulary import UTM_FIELDS
from warehouse.editions import editions
from warehouse.editions.editions import CURRENT, Edition
from warehouse.editions.leases import Claim
from warehouse.tables import OWNED, fact_answer, fact_form_session
from warehouse.tables.base import is_text, key_names

FORM, OTHER_FORM = (f"0190c4a2-5b7e-7c3d-8f1a-00000000000{digit}" for digit in "12")
UTM = {name: f"the {name}" for name in UTM_FIELDS}
BOUGHT_UTM = {name: f"{text} of the order" for name, text in UTM.items()}


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


def take(commands: Commands, *shops: str) -> None:
    """Roll up shops of three days each, whose rows come late and in two portions."""
    commands.take("shops", [SHOP | {"shop_id": shop} for shop in shops])
    for part in (slice(0, None, 2), slice(1, None, 2)):
        for kind, rows in (("events", EVENTS), ("orders", ORDERS)):
            commands.take(kind, [row | {"shop_id": shop} for shop in shops for row in rows[part]])
        commands("rollup")


def in_parts(monkeypatch: pytest.MonkeyPatch, parts: int, shops: int = 1) -> None:
    """Have days be derived and rolled up in so many parts, as those are that memory does not hold whole."""
    if parts > 1:
        monkeypatch.setattr(recompute, "_DERIVED_AT_ONCE", -(-shops * len(ORDERS) // parts))
        monkeypatch.setattr(day_facts, "_EVENTS_AT_ONCE", shops * len(EVENTS) // (parts - 1))


@contextmanager
def running(commands: Commands) -> Iterator[JobRun]:
    """A run of `verify`; no command runs meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in commands.settings.items():
            patch.setenv(name, value)
        with JobRun("verify") as run:
            yield run


def current(run: JobRun) -> list[Edition]:
    found = editions.list_editions(run.connection, CURRENT)
    run.connection.commit()
    return found


def columns(table: Table) -> list[str]:
    """The columns of a table that raw rows give; of one that is packed, its cells' numbers too."""
    summary = next((one for one in SUMMARIES if one.table == table.name), None)
    packed = (*summary.packed_dims, *summary.measures) if summary and summary.packed_dims else ()
    own = [one.name for one in table.columns if one not in NOT_DERIVED]
    return [*(name for name in own if name != "packed_dims"), *packed]


COLUMNS_BY_TABLE = [[(table, name) for name in columns(table)] for table in OWNED]
COLUMNS = list(chain.from_iterable(COLUMNS_BY_TABLE))


def make_wrong(connection: ArrowConnection, edition: Edition, table: Table, name: str) -> None:
    """Give a column another value in one row of an edition."""
    key = names(key_names(table))
    one = f"FROM {table.name} WHERE edition = {edition.edition} ORDER BY {key} LIMIT 1"
    where = f"WHERE ({key}) IN (SELECT {key} {one})"
    if name in table.c:
        connection.execute(f'UPDATE {table.name} SET "{name}" = {another(table.c[name])} {where}')
        return
    summary = SUMMARY[table.name.removeprefix("daily_")]
    lines = np.frombuffer(connection.value(f"SELECT packed_dims {one}"), layout(summary)).copy()
    if lines.dtype[name].itemsize == 1:  # a flag
        lines[name][0] ^= 1
    else:
        lines[name][0] += 7919
    cells = connection.stage("test_cells", pa.table({"cells": [lines.tobytes()]}))
    connection.execute(f"UPDATE {table.name} SET packed_dims = (SELECT cells FROM {cells}) {where}")


def another(column: sa.Column[Any]) -> str:
    """SQL of a value that no row of the test has."""
    if column is fact_answer.c.value:
        # It is JSON.
        return "'\"it is not\"'"
    if column is fact_form_session.c.quarters:
        # They are numbers: one of 2026.
        return f"\"{column.name}\" || ' 1970000'"
    if is_text(column):
        return f"\"{column.name}\" || ' it is not'"
    # Something that has not happened did, on a day that a calendar has.
    return f'CASE WHEN "{column.name}" > {2**61} THEN 1 ELSE "{column.name}" + 7919 END'


def test_all_finds_each_column_that_is_wrong(commands: Commands) -> None:
    take(commands, SHOP["shop_id"])
    unseen: list[str] = []
    with running(commands) as run:
        connection, (edition,) = run.connection, current(run)

        def compare(held: Claim) -> None:
            with plan.built_anew(run, held) as pairs:
                assert comparison.compare_editions(connection, pairs) == {}
                # One of each table at a time.
                for wrong in zip_longest(*COLUMNS_BY_TABLE):
                    connection.rollback()
                    # A transaction that reads first could not write after the run's sign of life.
                    connection.execute("UPDATE edition SET state = state")
                    for table, name in filter(None, wrong):
                        make_wrong(connection, edition, table, name)
                    found = comparison.compare_editions(connection, pairs)
                    places = {place for _, place, _ in found}
                    unseen.extend(
                        f"{table.name}.{name}"
                        for table, name in filter(None, wrong)
                        if table.name not in places
                    )

        plan.while_held(run, [edition], compare)
    assert unseen == []


def test_a_text_that_nothing_names_may_be_stored(commands: Commands) -> None:
    """Also where an answer contains it: which texts are stored depends on the portions."""
    take(commands, SHOP["shop_id"])
    with running(commands) as run:
        connection, (edition,) = run.connection, current(run)

        def compare(held: Claim) -> None:
            with plan.built_anew(run, held) as pairs:
                stored = (pairs[edition].edition, text_id("of"), "of")
                connection.execute("INSERT INTO dim_text VALUES ($1, $2, $3)", *stored)
                assert comparison.compare_editions(connection, pairs) == {}
                connection.execute(
                    "DELETE FROM dim_text WHERE edition = $1 AND id = $2",
                    edition.edition,
                    text_id("y"),
                )
                found = comparison.compare_editions(connection, pairs)
                assert [place for _, place, _ in found] == ["dim_text"]
                connection.rollback()

        plan.while_held(run, [edition], compare)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_sample_that_meets_its_day_finds_each_column_that_is_wrong(
    commands: Commands, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each column is wrong in a shop of its own."""
    in_parts(monkeypatch, parts, shops=1 + len(COLUMNS))
    wrong = {f"{table.name}.{name}.example": (table, name) for table, name in COLUMNS}
    # A sample takes its days from these rows: it cannot meet a day of which there is none.
    del wrong["daily_all_forms.edition.example"]
    take(commands, "right.example", *wrong)
    with running(commands) as run:
        for edition in current(run):
            if edition.shop_id in wrong:
                make_wrong(run.connection, edition, *wrong[edition.shop_id])
        run.connection.commit()
    said = commands("verify", "--sample", "3", status=1).splitlines()
    named = {
        shop
        for shop, (table, _) in wrong.items()
        if any(line.startswith(f"{shop}: ") and f" of {table.name} " in line for line in said)
    }
    assert named == wrong.keys()
    assert not [line for line in said if line.startswith("right.example")]
    marked = "SELECT COUNT(*) FROM edition WHERE differing_rows {} 0 AND verified_at > 0"
    assert commands.rows(marked.format(">")) == [len(wrong)]
    assert commands.rows(marked.format("=")) == [1]


def test_only_a_sample_that_meets_its_day_clears_a_difference(commands: Commands) -> None:
    take(commands, SHOP["shop_id"])
    change = "UPDATE fact_order SET gross = gross {} 7 WHERE order_id = 'by code'"
    with running(commands) as run:
        (days,) = recompute.random_days(run.connection, current(run), 3)
        ((edition, (first, second, _)),) = days.items()

        def differing_after(day: int) -> int:
            found = comparison.compare_days(run.connection, {edition: [day]})
            run.connection.commit()
            covered = {edition.edition: [day]}
            editions.mark_verified(run.connection, [edition.edition], found, covered, now=1)
            rows: int = run.connection.value("SELECT differing_rows FROM edition")
            run.connection.commit()
            return rows

        run.connection.execute(change.format("+"))
        run.connection.commit()
        assert differing_after(second) == 0
        found = differing_after(first)
        assert found > 1
        assert differing_after(second) == found
        run.connection.execute(change.format("-"))
        run.connection.commit()
        assert differing_after(second) == found
        assert differing_after(first) == 0


def test_all_sees_what_a_sample_found_and_alone_clears_what_it_found(commands: Commands) -> None:
    """A row of a dimension belongs to no day, which a sample could meet."""
    take(commands, SHOP["shop_id"])
    form = "(SELECT MIN(form) FROM dim_step)"
    change = f"UPDATE dim_step SET step_name = '{{}}' WHERE form = {form}"
    (name,) = set(commands.rows("SELECT step_name FROM dim_step"))
    commands.change(change.format("Another"))
    for words in (["--sample", "3"], ["--all"]):
        assert "a.example: 1 rows of dim_step differ" in commands("verify", *words, status=1)
        assert commands.rows("SELECT differing_rows FROM edition") == [1]
    commands.change(change.format(name))
    commands("verify", "--sample", "3")
    assert commands.rows("SELECT differing_rows FROM edition") == [1]
    commands("verify", "--all")
    assert commands.rows("SELECT differing_rows FROM edition") == [0]


@pytest.mark.parametrize("parts", [1, 3])
def test_a_backfill_mends_what_followed_from_the_rows_of_its_days(
    commands: Commands, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts(monkeypatch, parts)
    take(commands, SHOP["shop_id"])
    for wrong in (
        "fact_form_session SET gross = gross + 7",
        "fact_order SET refunded = refunded + 7",
        "code_usage SET mentions = mentions + 7",
        "fact_email SET customer_id = 'another', customer = 7, seen_at = seen_at + 7",
        "dim_step SET step_name = 'another', name_at = name_at + 7",
    ):
        commands.change(f"UPDATE {wrong}")
    commands("verify", "--all", status=1)
    commands("backfill", "--from", "2026-01-01", "--to", "2026-01-03")
    commands("verify", "--all")


def test_small_shops_are_compared_with_a_rebuild_together(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to so many rows; each difference is told of its own shop, in the order of the shops."""
    shops = [f"shop-{number}.example" for number in range(5)]
    take(commands, *shops)
    own = "SET gross = gross + 7 WHERE edition IN (SELECT edition FROM shop WHERE shop_id = '{}')"
    for shop in (shops[4], shops[1]):
        commands.change(f"UPDATE fact_order {own.format(shop)} AND order_id = 'again'")
    together: list[list[str]] = []
    compare = comparison.compare_editions

    def compared(connection: ArrowConnection, pairs: dict[Edition, Edition]) -> Any:
        together.append([edition.shop_id for edition in pairs])
        return compare(connection, pairs)

    monkeypatch.setattr(comparison, "compare_editions", compared)
    monkeypatch.setattr("jobs.pipeline.batching.BATCH_ROWS", 2 * (len(EVENTS) + len(ORDERS)))
    lines = commands("verify", "--all", status=1).splitlines()
    assert together == [shops[:2], shops[2:4], shops[4:]]
    told = "{}: 1 rows of fact_order differ"
    assert [line for line in lines if "fact_order" in line] == [
        told.format(shop) for shop in (shops[1], shops[4])
    ]
    assert commands.rows("SELECT differing_rows > 0 FROM edition ORDER BY edition") == [
        0,
        1,
        0,
        0,
        1,
    ]
    assert commands.rows("SELECT COUNT(*) FROM edition WHERE state = 'scratch'") == [0]


def test_rows_that_nobody_has_counted_are_counted_before(
    new_postgres_url: NewUrl, tmp_path: Path
) -> None:
    """PostgreSQL would compare each with each: of a million events that did not end in nine minutes."""
    new_postgres_url()  # the one that tests share: rows of others were counted there
    with commands_on(new_postgres_url(), tmp_path) as commands:
        commands.take("shops", [SHOP])
        commands.take("events", EVENTS)
        commands("rollup")
        assert "fact_step" in uncounted(commands.url)
        commands("verify", "--all")
        assert "fact_step" not in uncounted(commands.url)
