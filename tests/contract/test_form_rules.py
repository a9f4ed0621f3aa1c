"""Forms that a shop merges, leaves out and counts again: the answers are the oracle's of a world whose events
were imported with the other form's id, or not at all."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import sqlalchemy as sa
from hypothesis import given

from tests.support.answers import Question, questions_about, wrong_answers
from tests.support.examples import EXAMPLES, start_over, tell
from tests.support.forgetting import Person, some_persons, without
from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.support.strategies import portions, seeds, worlds
from tests.support.worlds import World
from warehouse.operations import form_rules

QUESTIONS = 60

Rules = dict[tuple[str, str], str]
"""By shop and form, the form that its events count for; "" for none."""


def counted(rules: Rules, shop_id: str, form_id: str) -> str:
    """The form that a form's events count for in the end."""
    form_id = form_id.lower()
    while (shop_id, form_id) in rules:
        form_id = rules[shop_id, form_id]
    return form_id


def under(rules: Rules, records: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
    """Raw records as they would be without the forms that have a rule."""
    events = []
    for row in records["events"]:
        form_id = counted(rules, row["shop_id"], row["form_id"])
        if form_id:
            events.append(row | {"form_id": form_id})
    forms = [
        row for row in records["forms"] if (row["shop_id"], row["form_id"].lower()) not in rules
    ]
    return {**records, "events": events, "forms": forms}


def change_rule(product: Product, world: World, rules: Rules, rng: Random) -> None:
    """A random rule more, or one fewer."""
    cast = rng.choice([*world.casts.values()])
    shop_id = cast.shop_id
    forms = [*cast.forms, cast.unknown_form, cast.foreign_form]
    own = [form_id for form_id in forms if (shop_id, form_id) in rules]
    free = [form_id for form_id in forms if (shop_id, form_id) not in rules]
    engine = sa.create_engine(product.url)
    with engine.begin() as connection:
        shop_key = connection.execute(
            sa.text("SELECT shop_key FROM shop WHERE shop_id = :shop_id"), {"shop_id": shop_id}
        ).scalar_one()
        if own and (rng.random() < 0.4 or len(free) < 2):
            form_id = rng.choice(own)
            tell(f"undo the rule on {form_id}")
            assert form_rules.undo(connection, shop_key, form_id)
            del rules[shop_id, form_id]
        else:
            form_id, other = rng.sample(free, 2)
            if rng.random() < 0.4:
                tell(f"leave out {form_id}")
                form_rules.leave_out(connection, shop_key, form_id)
                rules[shop_id, form_id] = ""
            else:
                tell(f"merge {form_id} into {other}")
                form_rules.merge(connection, shop_key, form_id, other)
                rules[shop_id, form_id] = other
    engine.dispose()


def check(
    product: Product,
    world: World,
    rules: Rules,
    files: list[tuple[str, list[Row]]],
    forgotten: list[Person],
    rng: Random,
    when: str,
) -> None:
    records: dict[str, list[Row]] = {kind: [] for kind in world.records}
    for kind, rows in [("shops", world.records["shops"]), *files]:
        records[kind] = records[kind] + rows
    records = under(rules, without(replace(world, records=records), forgotten).records)
    known: list[Question] = []
    gone: list[Question] = []
    for question in questions_about(world):
        shop_id, _, of_form = question[1].partition("/v1/forms/")
        form_id, _, figures = of_form.partition("/")
        is_gone = bool(figures) and (question[0], form_id.lower()) in rules
        (gone if is_gone else known).append(question)
    for shop_id, path, query in rng.sample(gone, min(len(gone), 5)):
        assert product.get(path, query, shop_id)[0] == 404, f"{when}: {path} is there"
    found = wrong_answers(product, rng.sample(known, min(len(known), QUESTIONS)), records)
    assert not found, "\n".join([f"{when}: {len(found)} differences", *found[:40]])
    assert product.verify_all(), f"{when}: verify --all finds differences"


@given(given_world=worlds(), seed=seeds)
@EXAMPLES
def test_figures_are_those_of_other_ids(product: Product, given_world: World, seed: int) -> None:
    """With undos of imports, forgotten persons, RAW_DAYS, backfills and rebuilds in between."""
    rng = Random(seed)
    # Sessions of different forms with one id are one session once the forms are merged.
    ids = {row["form_session_id"]: f"s{rng.randrange(4)}" for row in given_world.records["events"]}
    events = [
        row | {"form_session_id": ids[row["form_session_id"]]}
        for row in given_world.records["events"]
    ]
    given_world = replace(given_world, records=given_world.records | {"events": events})
    start_over(product, given_world)
    product.load("shops", given_world.records["shops"])
    rules: Rules = {}
    standing: dict[int, tuple[str, list[Row]]] = {}
    can_be_undone: set[int] = set()
    persons, forgotten = some_persons(given_world, rng), []
    product.rollup()
    change_rule(product, given_world, rules, rng)
    files = [file for file in portions(given_world.records, rng) if file[0] != "shops"]
    files.sort(key=lambda file: file[0] != "forms")
    for file in files:
        product.load(*file)
        standing[product.last_import()] = file
        if file[0] in ("events", "orders"):
            can_be_undone.add(product.last_import())
        if rng.random() < 0.4:
            product.rollup()
            tell("rollup")
        if rng.random() < 0.4:
            change_rule(product, given_world, rules, rng)
        if rng.random() < 0.15:
            days = rng.choice((1, 30))
            product.purge(days)
            can_be_undone -= product.purged_imports()
            tell(f"purge with RAW_DAYS={days}")
        if persons and rng.random() < 0.15:
            forgotten.append(persons.pop())
            product.forget(*forgotten[-1])
            tell(f"forget {forgotten[-1]}")
        if can_be_undone and rng.random() < 0.3:
            import_id = rng.choice(sorted(can_be_undone))
            can_be_undone.remove(import_id)
            product.undo(import_id)
            del standing[import_id]
            tell(f"undo {import_id}")

    def is_right(when: str) -> None:
        product.rollup()
        check(product, given_world, rules, [*standing.values()], forgotten, rng, when)

    is_right("after all files")
    for _ in range(2):
        change_rule(product, given_world, rules, rng)
        is_right("after a change")
    product.rebuild()
    is_right("after a rebuild")
    engine = sa.create_engine(product.url)
    with engine.begin() as connection:
        for shop_id, form_id in rules:
            shop_key = connection.execute(
                sa.text("SELECT shop_key FROM shop WHERE shop_id = :shop_id"), {"shop_id": shop_id}
            ).scalar_one()
            form_rules.undo(connection, shop_key, form_id)
    engine.dispose()
    rules.clear()
    is_right("after all is undone")
