"""Forms that calls of forgotten persons named: those of a warehouse into which only the others came."""

from random import Random

import pytest

from jobs.importing.undo import purge_imports
from tests.jobs.importing.conftest import NewWarehouse
from tests.support.form_calls import SHOP, Call, File, call, load, ours
from tests.support.import_files import form
from tests.support.job_commands import Commands
from tests.support.warehouse import Warehouse
from tests.tiers import thorough
from warehouse.connections.arrow import open_arrow

PERSONS = ("ada", "bob", "cleo")


def call_of(person: str, form_id: str, second: int, name: str = "") -> Call:
    made = call(form_id, second, name)
    return made | {"anonymousId": person, "messageId": f"{person} {made['messageId']}"}


def forget(warehouse: Warehouse, person: str) -> None:
    Commands(warehouse.url, warehouse.folder)("forget", "--shop", SHOP, "--visitor", person)


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
def test_forms_are_those_of_the_persons_who_stay(new_warehouse: NewWarehouse, seed: int) -> None:
    rng = Random(seed)
    files = some_files(rng)
    rng.shuffle(files)
    persons = set(rng.sample(PERSONS, rng.randrange(1, 3)))
    moments = {person: rng.randrange(len(files)) for person in sorted(persons)}
    tried, expected = new_warehouse(), new_warehouse()
    for number, file in enumerate(files):
        load(tried, file)
        for person, moment in moments.items():
            if moment == number:
                forget(tried, person)
        if number == 2 and seed % 2:
            with open_arrow(tried.url) as connection:
                purge_imports(connection, 2**60, 0)
    for person in persons:
        forget(tried, person)
    for file in without(files, persons):
        load(expected, file)
    assert names(tried) == names(expected), (files, moments)
    before = names(tried)
    for file in files:
        load(tried, file)
    assert names(tried) == before, (files, moments)


def names(warehouse: Warehouse) -> dict[str, str]:
    """The names of all forms that are known, and of which calls say no more than one."""
    rows = warehouse.records("SELECT form_id, name FROM form")
    return {row["form_id"]: row["name"] for row in rows}


def test_a_form_goes_with_its_last_event(warehouse: Warehouse) -> None:
    """Also one of which an import of its own, or the import of another person's event, told."""
    load(warehouse, ("events", [call_of("ada", "a", 1), call_of("bob", "a", 5)]))
    load(warehouse, ("events", [call_of("bob", "a", 3), call_of("ada", "c", 1)]))
    load(warehouse, ("events", [call_of("ada", "b", 2), call_of("ada", "c", 1)]))
    (before,) = warehouse.records(f"SELECT data_version FROM shop WHERE shop_id = '{SHOP}'")
    forget(warehouse, "ada")
    assert names(warehouse).keys() == {ours("a")}
    (after,) = warehouse.records(f"SELECT data_version FROM shop WHERE shop_id = '{SHOP}'")
    assert after != before
    # Nor does the person's own file bring the others back.
    load(warehouse, ("events", [call_of("ada", "b", 2), call_of("ada", "a", 1)]))
    assert names(warehouse).keys() == {ours("a")}


def test_a_form_that_was_named_here_stays(warehouse: Warehouse) -> None:
    load(warehouse, ("events", [call_of("ada", "a", 1)]))
    load(warehouse, ("forms", [form(form_id=ours("a"), name="Row")]))
    forget(warehouse, "ada")
    assert names(warehouse) == {ours("a"): "Row"}
