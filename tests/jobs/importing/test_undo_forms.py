"""Forms of imports that are undone: those of a warehouse into which only the others came."""

from itertools import permutations
from random import Random

import pytest

from jobs.importing.kinds import KINDS, seen_forms
from jobs.importing.kinds.replace_last import ReplaceLast
from jobs.importing.undo import purge_imports
from tests.jobs.importing.conftest import NewWarehouse
from tests.support.form_calls import SHOP, Call, File, call, load, ours, state
from tests.support.import_files import FORM, form
from tests.support.warehouse import Warehouse
from tests.tiers import thorough
from warehouse.connections.arrow import PostgresConnection, SqliteConnection, open_arrow
from warehouse.connections.engine import open_engine
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.intake import imports
from web.api.forms_table import get_version, replace_draft


def undo(warehouse: Warehouse, import_id: int) -> None:
    """As `imports undo`, but without figures."""
    with open_arrow(warehouse.url) as connection:
        (kind,) = connection.table(
            f"SELECT kind FROM import_file WHERE import_id = {import_id}"
        ).column(0)
        connection.commit()
        if isinstance(of_kind := KINDS[kind.as_py()], ReplaceLast):
            of_kind.take_back(connection, import_id)
        else:
            imports.lock_shops_of(connection, import_id)
            batches = f"SELECT batch_id FROM import_batch WHERE import_id = {import_id}"
            connection.execute(f"DELETE FROM raw_event WHERE batch_id IN ({batches})")
            seen_forms.take_back(connection, import_id)
        connection.commit()


def forget_all(warehouse: Warehouse) -> None:
    with open_arrow(warehouse.url) as connection:
        purge_imports(connection, 2**60, 0)


def at(monkeypatch: pytest.MonkeyPatch, day: int) -> None:
    """Imports come on this day of February 2025."""
    moment = 1_738_368_000_000_000 + (day - 1) * MICROS_PER_DAY
    for connection in (SqliteConnection, PostgresConnection):
        monkeypatch.setattr(connection, "now_micros", lambda _: moment)


def some_files(rng: Random, *, timed: bool) -> list[File]:
    """Files of forms and of calls that name forms, of which some have rows of kind forms, too. Some come
    twice. `timed`: each row of a form states its times."""
    names = [f"popup-{number}" for number in range(5)]
    files: list[File] = []
    none = [] if timed else [None]
    for _ in range(rng.randrange(3, 9)):
        if files and rng.random() < 0.2:
            files.append(rng.choice(files))
        elif rng.random() < 0.5:
            calls: list[Call] = [
                call(rng.choice(names), rng.randrange(100), rng.choice(("", "A", "B")))
                for _ in range(rng.randrange(1, 5))
            ]
            files.append(("events", calls))
        else:
            rows = [
                form(
                    form_id=rng.choice([ours(rng.choice(names)), FORM]),
                    name=rng.choice("XYZ"),
                    updated_at=rng.choice([f"2025-02-0{rng.randrange(1, 9)}", *none]),
                    created_at=rng.choice(["2025-01-01", "2025-01-02", *none]),
                    schema={"a": "b" * rng.randrange(3)},
                )
                for _ in range(rng.randrange(1, 4))
            ]
            files.append(("forms", rows))
    return files


@pytest.mark.parametrize("seed", [7, *thorough(range(7))])
def test_forms_are_those_of_the_imports_that_stand(
    new_warehouse: NewWarehouse, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = Random(seed)
    monkeypatch.setenv("FORMS_PER_SHOP", "3")
    forgets = rng.random() < 0.5
    files = some_files(rng, timed=forgets)
    tried, expected = new_warehouse(), new_warehouse()
    undone = {number for number in range(len(files)) if rng.random() < 0.5}
    old = rng.randrange(len(files)) if forgets else -1
    for number, file in enumerate(files):
        at(monkeypatch, number + 1)
        load(tried, file)
        if number == old:
            forget_all(tried)
            undone -= set(range(number + 1))
    for number in rng.sample(sorted(undone), len(undone)):
        undo(tried, number + 1)
    for number, file in enumerate(files):
        if number not in undone:
            at(monkeypatch, number + 1)
            load(expected, file)
    assert state(tried) == state(expected), (files, undone, old)
    for number in undone:
        load(tried, files[number])
        load(expected, files[number])
    assert state(tried) == state(expected), (files, undone, old)


@pytest.mark.parametrize("seed", [3, *thorough(range(3))])
def test_an_edited_form_stays_whatever_is_undone(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = Random(seed)
    files = [
        (
            "forms",
            [
                form(name=rng.choice("XY"), created_at=None, updated_at=time)
                for time in rng.choices([None, "2025-02-02", "2025-02-05"], k=2)
            ],
        )
        for _ in range(4)
    ]
    load(warehouse, files[0])
    for number, file in enumerate(files):
        at(monkeypatch, number + 2)
        load(warehouse, file)
        if number == 1:
            edit(warehouse)
            edited = state(warehouse)
    for number in rng.sample(range(1, len(files) + 2), len(files) + 1):
        undo(warehouse, number)
    assert state(warehouse) == edited


def test_which_form_stands_hangs_on_no_order(
    new_warehouse: NewWarehouse,
) -> None:
    rows = [
        form(name="One", created_at=None, updated_at="2025-02-02"),
        form(name="Two", schema={}, updated_at="2025-02-03"),
        form(name="Three", created_at="2025-01-03", updated_at="2025-02-01"),
    ]
    states = []
    for order in permutations(rows):
        warehouse = new_warehouse()
        for row in order:
            load(warehouse, ("forms", [row]))
        states.append(state(warehouse))
    assert states == [states[0]] * len(states)


def edit(warehouse: Warehouse) -> None:
    """Edit the draft, as the API does."""
    engine = open_engine(warehouse.url)
    with engine.connect().execution_options(writes=True) as connection:
        seen = get_version(connection, 1, FORM)
        assert replace_draft(connection, 1, FORM, '{"edited": 1}', 1_800_000_000_000_000, seen)
        connection.commit()
    engine.dispose()


def test_a_form_that_was_edited_here_since_stays(warehouse: Warehouse) -> None:
    load(warehouse, ("forms", [form()]))
    edit(warehouse)
    before = state(warehouse)
    load(warehouse, ("forms", [form(name="Later", updated_at="2027-06-01")]))
    undo(warehouse, 2)
    assert state(warehouse) == before
    undo(warehouse, 1)
    assert state(warehouse) == before


def test_a_form_without_times_is_as_old_as_its_import(warehouse: Warehouse) -> None:
    plain = {"form_id": FORM, "shop_id": SHOP, "name": "One"}
    load(warehouse, ("forms", [plain]))
    before = state(warehouse)
    load(warehouse, ("forms", [plain]))
    load(warehouse, ("forms", [plain | {"name": "Two"}]))
    assert state(warehouse) != before
    undo(warehouse, 3)
    undo(warehouse, 2)
    assert state(warehouse) == before
    load(warehouse, ("forms", [plain]))
    undo(warehouse, 1)
    (row,) = state(warehouse)[0]
    assert row["created_at"] == row["updated_at"] > before[0][0]["created_at"]
