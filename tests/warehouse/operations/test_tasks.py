"""Tasks: who takes which, for how long they are theirs, and what becomes of them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.shop_builder import ShopBuilder, writing
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import migrate
from warehouse.operations import job_runs, tasks
from warehouse.operations.job_runs import Record
from warehouse.operations.process_id import new_owner
from warehouse.operations.tasks import (
    FILE,
    FORGET,
    IMPORT,
    LAND,
    LOOK,
    PERSONS,
    REJECTS,
    RETRY,
    UNDO,
    Task,
)

SHOPS = 3
OF_FILES = (LOOK, LAND)


class Place:
    """A warehouse, for jobs and pages in turns: on SQLite no process has both open."""

    def __init__(self, url: str) -> None:
        self.url = url

    def job(self, function: Callable[..., Any], *values: Any, **more: Any) -> Any:
        with open_arrow(self.url) as connection:
            return function(connection, *values, **more)

    def page(self, function: Callable[..., Any], *values: Any, **more: Any) -> Any:
        engine = open_engine(self.url)
        try:
            with writing(engine) as connection:
                return function(connection, *values, **more)
        finally:
            engine.dispose()

    def begin(self, owner: str = "") -> Record:
        record = Record("job", "", owner=owner or new_owner())
        self.job(lambda connection: job_runs.begin(connection, record, connection.now_micros()))
        return record

    def end(self, record: Record) -> None:
        self.job(lambda one: job_runs.update(one, record, one.now_micros(), job_runs.DONE))

    def take(self, record: Record, *kinds: str) -> Task | None:
        task: Task | None = self.job(tasks.take, record.run_id, kinds or OF_FILES)
        return task

    def drop(self, shop_key: int, item: str, at: int = 1) -> bool:
        return bool(self.page(tasks.ask, shop_key, FILE, LOOK, at, item, "a.csv"))

    def found(self, shop_key: int, subject: str = FILE) -> Task:
        task = self.page(tasks.find, shop_key, subject)
        assert isinstance(task, Task)
        return task


@pytest.fixture
def place(warehouse_url: str) -> Place:
    engine = open_engine(warehouse_url)
    migrate(engine)
    for number in range(SHOPS):
        ShopBuilder(engine, f"{number}.example")
    engine.dispose()
    return Place(warehouse_url)


def test_a_task_is_its_run_s_until_that_ends(place: Place) -> None:
    place.drop(1, "a")
    first, second = place.begin(), place.begin()
    taken = place.take(first)
    assert taken
    assert (taken.item, taken.payload, taken.attempts) == ("a", "a.csv", 1)
    # Neither by itself once more, nor by another.
    assert not place.take(first)
    assert not place.take(second)
    assert place.job(tasks.are_waiting, OF_FILES)
    place.end(first)
    again = place.take(second)
    assert again
    assert again.attempts == 2
    # The first one comes late.
    place.job(tasks.end, taken, {"rows": 1})
    place.job(tasks.pass_on, taken, IMPORT)
    assert (place.found(1).ended_at, place.found(1).kind) == (0, LOOK)
    place.job(tasks.end, again, {"rows": 2})
    assert place.found(1).result == {"rows": 2}
    assert not place.job(tasks.are_waiting, OF_FILES)


def test_a_task_of_a_dead_process_is_free(place: Place) -> None:
    place.drop(1, "a")
    assert place.take(place.begin("elsewhere:1:machine:1:token"))
    living = place.begin()
    assert not place.take(living)

    def let_it_die(connection: ArrowConnection) -> None:
        connection.execute("UPDATE job_run SET seen_at = 1 WHERE owner LIKE 'elsewhere%'")
        connection.commit()

    place.job(let_it_die)
    assert place.take(living)


def test_the_shop_that_has_waited_longest_comes_first(place: Place) -> None:
    for shop_key, at in ((1, 30), (2, 10), (3, 20)):
        place.page(tasks.ask, shop_key, REJECTS, RETRY, at)
    order = []
    for _ in range(4):
        record = place.begin()
        task = place.take(record, RETRY)
        assert task
        order.append(task.shop_key)
        # The first one leaves a rest, which comes after the others.
        if len(order) == 1:
            place.job(tasks.advance, task, "7")
        else:
            place.job(tasks.end, task, {})
        place.end(record)
    assert order == [2, 3, 1, 2]
    assert place.found(2, REJECTS).payload == "7"
    assert place.page(tasks.ask, 2, REJECTS, RETRY, 40)
    assert not place.page(tasks.ask, 2, REJECTS, RETRY, 41), "it waits already"


def test_many_that_take_at_once_share_the_tasks(place: Place) -> None:
    for number in range(1, SHOPS + 1):
        place.drop(number, "a")

    def take_all(_: int) -> list[int]:
        record, taken = place.begin(), []
        while task := place.take(record):
            taken.append(task.shop_key)
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = [key for keys in pool.map(take_all, range(4)) for key in keys]
    assert sorted(taken) == list(range(1, SHOPS + 1))


def test_a_file_takes_the_place_of_one_that_is_not_to_be_imported(place: Place) -> None:
    place.drop(1, "a")
    record = place.begin()
    first = place.take(record)
    assert place.drop(1, "b"), "in the middle of the look"
    place.job(tasks.end, first, {"rows": 1})
    second = place.take(record)
    assert second
    assert (second.item, second.attempts) == ("b", 1)
    assert not place.page(tasks.ask_next, second, LAND, 1, "b"), "nobody knows yet what it is"
    place.job(tasks.end, second, {"rows": 2})
    shown = place.found(1)
    assert not place.page(tasks.ask_next, first, LAND, 1, "a"), "it is another one by now"
    assert place.page(tasks.ask_next, shown, LAND, 5, "b")
    assert not place.page(tasks.ask_next, shown, LAND, 5, "b"), "asked for once"
    assert place.found(1).result == {"rows": 2}, "the page shows it meanwhile"
    assert not place.drop(1, "c", at=5), "it is to be imported"
    assert not place.page(tasks.discard, place.found(1), 5)
    assert place.drop(1, "c", at=4), "it waited for another day"
    assert not place.page(tasks.discard, shown, 5)
    assert place.page(tasks.discard, place.found(1), 5)
    assert place.page(tasks.find, 1, FILE) is None


def test_what_waits_is_one_list(place: Place) -> None:
    place.drop(1, "a", at=20)
    place.page(tasks.ask, 2, REJECTS, RETRY, 10)
    place.page(tasks.ask, 3, REJECTS, RETRY, 1)
    place.job(tasks.end, place.take(place.begin(), RETRY), {})
    place.page(tasks.ask, 3, PERSONS, FORGET, 15)
    place.page(tasks.ask, 0, "import 7", UNDO, 5, "7")
    # Rows are to go until somebody asks again.
    place.job(tasks.end, place.take(place.begin(), FORGET), {"reason": "no"})
    rows = [
        (row["shop_id"], row["kind"], row["asked_at"], row["reason"])
        for row in place.job(tasks.listed)
    ]
    assert rows == [
        (None, UNDO, 5, None),
        ("1.example", RETRY, 10, None),
        ("2.example", FORGET, 15, "no"),
        ("0.example", LOOK, 20, None),
    ]


def test_whoever_asks_to_forget_another_has_it_done_once_more(place: Place) -> None:
    """By a command or on a page, in the middle of the work too: who does it may have looked already."""

    def ask_of_job(connection: ArrowConnection) -> None:
        tasks.ask_of_job(connection, 1, PERSONS, FORGET)
        connection.commit()

    record = place.begin()
    for asks in (
        lambda: place.job(ask_of_job),
        lambda: place.page(tasks.ask, 1, PERSONS, FORGET, 2),
    ):
        asks()
        first = place.take(record, FORGET)
        asks()
        place.job(tasks.end, first, {})
        second = place.take(record, FORGET)
        assert second
        assert second.attempts == 1
        place.job(tasks.end, second, {})
        assert place.take(record, FORGET) is None


def test_a_run_that_was_asked_to_stop_is_no_attempt(place: Place) -> None:
    place.page(tasks.ask, 0, "import 7", UNDO, 5, "7")
    for _ in range(tasks.MAX_ATTEMPTS + 1):
        record = place.begin()
        task = place.take(record, UNDO)
        assert task
        assert task.attempts == 1
        place.job(tasks.give_back, task)
        place.end(record)
