"""Forms that calls of forgotten persons named: those of a warehouse into which only the others came."""

from random import Random

import pytest

from jobs.importing.old_imports import purge_imports
from tests.jobs.importing.conftest import NewWarehouse
from tests.support.form_calls import BEGAN, SHOP, Call, File, call, load, ours, state
from tests.support.import_files import event, form
from tests.support.job_commands import Commands
from tests.support.warehouse import Warehouse
from tests.tiers import thorough
from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import NEVER, from_micros

PERSONS = ("ada", "bob", "cleo")


def call_of(person: str, form_id: str, second: int, name: str = "") -> Call:
    made = call(form_id, second, name)
    return made | {"anonymousId": person, "messageId": f"{person} {made['messageId']}"}


def forget(warehouse: Warehouse, person: str) -> None:
    Commands(warehouse.url, warehouse.folder)("forget", "--shop", SHOP, "--visitor", person)


def instant(second: int) -> str:
    return from_micros(BEGAN + second * 1_000_000).isoformat()


def first_events(warehouse: Warehouse) -> dict[str, int]:
    """The second of each form's first event, by the form's id; that of a form without any is left out."""
    rows = warehouse.records(
        f"SELECT form_id, first_event_at FROM form WHERE first_event_at < {NEVER}"
    )
    return {row["form_id"]: (row["first_event_at"] - BEGAN) // 1_000_000 for row in rows}


def some_files(rng: Random) -> list[File]:
    """Files of calls, some of them in several, and a row of a form that calls name, too. A form of which
    calls say the name has it in each."""
    calls = [
        call_of(rng.choice(PERSONS), form_id, rng.randrange(60), name)
        for form_id, name in (("a", ""), ("b", "B"), ("c", "C"), ("d", ""))
        for _ in range(rng.randrange(1, 6))
    ]
    files: list[File] = [
        ("events", rng.sample(calls, rng.randrange(1, len(calls)))) for _ in range(4)
    ]
    return [*files, ("forms", [form(form_id=ours("d"), name="Row of d")])]


def without(files: list[File], persons: set[str]) -> list[File]:
    """These files without the calls of some persons; those that are empty then are left out."""
    kept = [
        (kind, [row for row in rows if row.get("anonymousId") not in persons])
        for kind, rows in files
    ]
    return [file for file in kept if file[1]]


@pytest.mark.parametrize("seed", [0, *thorough(range(1, 8))])
def test_forms_are_those_of_the_persons_who_stay(
    new_warehouse: NewWarehouse, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = Random(seed)
    monkeypatch.setenv("FORMS_PER_SHOP", "3")
    files = some_files(rng)
    rng.shuffle(files)
    persons = set(rng.sample(PERSONS, rng.randrange(1, 3)))
    moments = {person: rng.randrange(len(files)) for person in sorted(persons)}
    tried, expected, undone = new_warehouse(), new_warehouse(), rng.randrange(len(files))
    for number, file in enumerate(files):
        load(tried, file)
        for person, moment in moments.items():
            if moment == number:
                forget(tried, person)
    if seed % 2:
        with open_arrow(tried.url) as connection:
            purge_imports(connection, 2**60, 0)
    else:
        Commands(tried.url, tried.folder)("imports", "undo", str(undone + 1))
        files.pop(undone)
    for person in persons:
        forget(tried, person)
    for file in without(files, persons):
        load(expected, file)
    assert state(tried) == state(expected), (files, moments, undone)
    for file in files:
        load(tried, file)
    assert state(tried) == state(expected), (files, moments, undone)


def test_a_form_is_known_from_the_first_event_that_is_left(warehouse: Warehouse) -> None:
    """Also one that came in an import of its own, or that the import of another person's event repeats."""
    load(warehouse, ("events", [call_of("ada", "a", 1), call_of("bob", "a", 5)]))
    load(warehouse, ("events", [call_of("bob", "a", 3), call_of("ada", "a", 1)]))
    load(warehouse, ("events", [call_of("ada", "b", 2)]))
    assert first_events(warehouse) == {ours("a"): 1, ours("b"): 2}
    (before,) = warehouse.records(f"SELECT data_version FROM shop WHERE shop_id = '{SHOP}'")
    forget(warehouse, "ada")
    assert first_events(warehouse) == {ours("a"): 3}
    (known,) = warehouse.records("SELECT * FROM form")
    assert known["created_at"] == known["updated_at"] == known["first_event_at"]
    (after,) = warehouse.records(f"SELECT data_version FROM shop WHERE shop_id = '{SHOP}'")
    assert after != before
    Commands(warehouse.url, warehouse.folder)("imports", "undo", "2")
    assert first_events(warehouse) == {ours("a"): 5}
    # Nor does the person's own file bring the form back.
    load(warehouse, ("events", [call_of("ada", "b", 2), call_of("ada", "a", 1)]))
    assert first_events(warehouse) == {ours("a"): 5}


def test_a_form_that_a_row_tells_of(warehouse: Warehouse) -> None:
    """A row of an export says when the form's first event was; the events came in another file."""
    told = {"shop_id": SHOP, "name": "A", "named_at": None, "source": "segment"}
    rows = [
        told | {"form_id": ours(id), "source_id": id, "first_event_at": instant(1)} for id in "ab"
    ]
    load(warehouse, ("forms", rows))
    own = [
        event(event_id="1", form_id=ours("a"), visitor_id="ada", occurred_at=instant(1)),
        event(event_id="2", form_id=ours("a"), visitor_id="bob", occurred_at=instant(9)),
        # It is not the first, and nothing says that the first is gone.
        event(event_id="3", form_id=ours("b"), visitor_id="ada", occurred_at=instant(4)),
    ]
    warehouse.take("events", own)
    forget(warehouse, "ada")
    assert first_events(warehouse) == {ours("a"): 9, ours("b"): 1}
