"""Imports that are undone: the answers are the oracle's of a world in which they never came, with persons
who are forgotten in between."""

from dataclasses import replace
from random import Random

from hypothesis import given

from jobs.importing.undo import purge_imports
from tests.support.answers import Question, questions_about, wrong_answers
from tests.support.examples import EXAMPLES, start_over, tell
from tests.support.forgetting import Person, some_persons, without
from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.support.strategies import Portion, seeds, worlds
from tests.support.worlds import World
from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import now_micros

# A sample of some thousand about a world.
QUESTIONS = 150


def files_of(world: World, rng: Random) -> list[Portion]:
    """Files that have many rows in common, and state some of them anew."""
    files: list[Portion] = []
    for kind, rows in world.records.items():
        if kind != "shops" and rows:
            for _ in range(rng.randrange(2, 5)):
                some = rng.sample(rows, rng.randrange(len(rows)) + 1)
                files.append((kind, [restated(kind, row, rng) for row in some]))
    rng.shuffle(files)
    return files


def restated(kind: str, row: Row, rng: Random) -> Row:
    """The row, or another version of one that the last import decides."""
    if kind == "ad-spend" and rng.random() < 0.5:
        return row | {"spend": str(rng.randrange(90)), "clicks": 7}
    if kind == "ad-accounts" and rng.random() < 0.3:
        return row | {"status": rng.choice(("ok", "error"))}
    return row


def forget_all(product: Product) -> None:
    """Purge as if all imports were old."""
    product.close()
    with open_arrow(product.url) as connection:
        purge_imports(connection, now_micros(), days=-1)


def check(
    product: Product,
    world: World,
    files: list[Portion],
    forgotten: list[Person],
    rng: Random,
    when: str,
    *,
    keep_orders: bool,
) -> None:
    """The answers are those of a warehouse into which these files were imported, in this order, without the
    persons who are forgotten."""
    records: dict[str, list[Row]] = {kind: [] for kind in world.records}
    for kind, rows in [("shops", world.records["shops"]), *files]:
        records[kind] += rows
    left = without(replace(world, records=records), forgotten, keep_orders=keep_orders)
    records = left.records
    forms = {row["form_id"].lower() for row in records["forms"]}
    known: list[Question] = []
    unknown: list[Question] = []
    for question in questions_about(world):
        _, _, of_form = question[1].partition("/v1/forms/")
        form_id, _, figures = of_form.partition("/")
        (known if not figures or form_id.lower() in forms else unknown).append(question)
    for shop_id, path, query in rng.sample(unknown, min(len(unknown), 5)):
        assert product.get(path, query, shop_id)[0] == 404, f"{when}: {path} is known"
    found = wrong_answers(product, rng.sample(known, min(len(known), QUESTIONS)), records)
    assert not found, "\n".join([f"{when}: {len(found)} differences", *found[:40]])
    assert product.verify_all(), f"{when}: verify --all finds differences"


@given(given_world=worlds(), seed=seeds)
@EXAMPLES
def test_an_import_that_is_undone_never_came(
    product: Product, given_world: World, seed: int
) -> None:
    rng = Random(seed)
    start_over(product, given_world)
    product.load("shops", given_world.records["shops"])
    standing: dict[int, Portion] = {}
    # Those that are not too old.
    can_be_undone: set[int] = set()
    undone: list[Portion] = []
    persons = some_persons(given_world, rng)
    forgotten: list[Person] = []
    keep_orders = rng.random() < 0.5

    def load(file: Portion) -> None:
        product.load(*file)
        standing[product.last_import()] = file
        can_be_undone.add(product.last_import())
        tell(f"import {product.last_import()}: {file}")

    def is_right(when: str) -> None:
        product.rollup()
        files = [*standing.values()]
        check(product, given_world, files, forgotten, rng, when, keep_orders=keep_orders)

    for file in files_of(given_world, rng):
        load(file)
        if rng.random() < 0.3:
            product.rollup()
            tell("rollup")
        if rng.random() < 0.1:
            forget_all(product)
            can_be_undone.clear()
            tell("forget all imports")
        if rng.random() < 0.1:
            days = rng.choice((1, 30))
            product.purge(days)
            can_be_undone -= product.purged_imports()
            tell(f"purge with RAW_DAYS={days}: left {can_be_undone}")
        if persons and rng.random() < 0.1:
            forgotten.append(persons.pop())
            product.forget(*forgotten[-1], keep_orders=keep_orders)
            tell(f"forget {forgotten[-1]}")
        while can_be_undone and rng.random() < 0.3:
            import_id = rng.choice(sorted(can_be_undone))
            can_be_undone.remove(import_id)
            product.undo(import_id)
            undone.append(standing.pop(import_id))
            tell(f"undo {import_id}")
    is_right("after the undos")
    for file in undone:
        load(file)
    is_right("after importing them again")
    for import_id in can_be_undone:
        product.undo(import_id)
        del standing[import_id]
    is_right("after undoing all that can be")
