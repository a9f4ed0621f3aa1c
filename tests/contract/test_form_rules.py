"""Forms that a shop merges, splits, leaves out and counts again, and codes that it ties to forms: the answers
are the oracle's of a world whose events were imported with the other form's id, or not at all, and of which
every submission of a form was issued its codes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
from warehouse.forms import form_rules

QUESTIONS = 60

PATHS = ("/", "/pages/contact", "/products/a b")


@dataclass
class Rules:
    """`forms`: by shop and form, the form that its events count for, "" for none; `pages`: by shop, form and
    path, the form that its events there count for; `codes`: by shop and code, a form."""

    forms: dict[tuple[str, str], str] = field(default_factory=dict)
    pages: dict[tuple[str, str, str], str] = field(default_factory=dict)
    codes: dict[tuple[str, str], str] = field(default_factory=dict)

    def counted(self, shop_id: str, form_id: str, path: str = "") -> str:
        """The form that a form's events count for in the end."""
        form_id = form_id.lower()
        form_id = self.pages.get((shop_id, form_id, path), form_id)
        while (shop_id, form_id) in self.forms:
            form_id = self.forms[shop_id, form_id]
        return form_id


def under(rules: Rules, records: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
    """Raw records as they would be without the forms that have a rule."""
    events = []
    for row in records["events"]:
        form_id = rules.counted(row["shop_id"], row["form_id"], row.get("page_path") or "")
        if form_id:
            events.append(row | {"form_id": form_id})
    forms = [
        row
        for row in records["forms"]
        if (row["shop_id"], row["form_id"].lower()) not in rules.forms
    ]
    forms += [
        {"shop_id": shop_id, "form_id": part, "name": f"Part {path}"}
        for (shop_id, _, path), part in rules.pages.items()
        if (shop_id, part) not in rules.forms
    ]
    codes = [
        {"shop_id": shop_id, "code": code, "form_id": rules.counted(shop_id, form_id)}
        for (shop_id, code), form_id in rules.codes.items()
    ]
    return {**records, "events": events, "forms": forms, "codes": codes}


def change_rule(product: Product, world: World, rules: Rules, rng: Random) -> None:
    """A random rule more, or one fewer."""
    cast = rng.choice([*world.casts.values()])
    shop_id = cast.shop_id
    forms = [*cast.forms, cast.unknown_form, cast.foreign_form]
    forms += [part for (of, _, _), part in rules.pages.items() if of == shop_id]
    own = [form_id for form_id in forms if (shop_id, form_id) in rules.forms]
    free = [form_id for form_id in forms if (shop_id, form_id) not in rules.forms]
    engine = sa.create_engine(product.url)
    with engine.begin() as connection:
        shop_key = connection.execute(
            sa.text("SELECT shop_key FROM shop WHERE shop_id = :shop_id"), {"shop_id": shop_id}
        ).scalar_one()
        if rng.random() < 0.3:
            change_page(connection, shop_key, shop_id, rules, rng, free)
        elif rng.random() < 0.3:
            change_code(connection, shop_key, world, shop_id, rules, rng, free)
        elif own and (rng.random() < 0.4 or len(free) < 2):
            form_id = rng.choice(own)
            tell(f"undo the rule on {form_id}")
            assert form_rules.undo(connection, shop_key, form_id)
            del rules.forms[shop_id, form_id]
        else:
            form_id, other = rng.sample(free, 2)
            if rng.random() < 0.4:
                tell(f"leave out {form_id}")
                form_rules.leave_out(connection, shop_key, form_id)
                rules.forms[shop_id, form_id] = ""
            else:
                tell(f"merge {form_id} into {other}")
                form_rules.merge(connection, shop_key, form_id, other)
                rules.forms[shop_id, form_id] = other
    engine.dispose()


def change_page(
    connection: sa.Connection,
    shop_key: int,
    shop_id: str,
    rules: Rules,
    rng: Random,
    free: list[str],
) -> None:
    """A form more that is split by a page, or one fewer."""
    parts = {part: place for place, part in rules.pages.items() if place[0] == shop_id}
    named = {*rules.forms.values(), *rules.codes.values(), *(one for _, one in rules.forms)}
    undoable = sorted(parts.keys() - named)
    if undoable and rng.random() < 0.5:
        part = rng.choice(undoable)
        tell(f"undo the split of {parts[part]}")
        assert form_rules.undo_split(connection, shop_key, part, 1)
        del rules.pages[parts[part]]
        return
    form_id, path = rng.choice(free), rng.choice(PATHS)
    if (shop_id, form_id, path) not in rules.pages:
        tell(f"split {form_id} by {path}")
        part = form_rules.split(connection, shop_key, form_id, path, f"Part {path}", 1)
        rules.pages[shop_id, form_id, path] = part


def change_code(
    connection: sa.Connection,
    shop_key: int,
    world: World,
    shop_id: str,
    rules: Rules,
    rng: Random,
    free: list[str],
) -> None:
    """A code more that is a form's, or one fewer: one that orders and events name, or that nobody does."""
    tied = [code for of, code in rules.codes if of == shop_id]
    if tied and rng.random() < 0.5:
        code = rng.choice(tied)
        tell(f"untie {code}")
        assert form_rules.untie_code(connection, shop_key, code)
        del rules.codes[shop_id, code]
        return
    of_orders = {
        entry["code"]
        for row in world.records["orders"]
        if row["shop_id"] == shop_id
        for entry in row.get("discount_codes") or []
    }
    code, form_id = rng.choice([*sorted(of_orders), "nobody"]), rng.choice(free)
    if (shop_id, code.upper()) not in rules.codes:
        tell(f"tie {code} to {form_id}")
        assert form_rules.tie_code(connection, shop_key, code, form_id) == code.upper()
        rules.codes[shop_id, code.upper()] = form_id


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
        is_gone = bool(figures) and (question[0], form_id.lower()) in rules.forms
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
        row
        | {"form_session_id": ids[row["form_session_id"]], "page_path": rng.choice(("", *PATHS))}
        for row in given_world.records["events"]
    ]
    given_world = replace(given_world, records=given_world.records | {"events": events})
    start_over(product, given_world)
    product.load("shops", given_world.records["shops"])
    rules = Rules()
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
        rows = connection.execute(sa.text("SELECT shop_id, shop_key FROM shop"))
        keys = {row.shop_id: row.shop_key for row in rows}
        for shop_id, form_id in rules.forms:
            assert form_rules.undo(connection, keys[shop_id], form_id)
        for shop_id, code in rules.codes:
            assert form_rules.untie_code(connection, keys[shop_id], code)
        for (shop_id, _, _), part in rules.pages.items():
            assert form_rules.undo_split(connection, keys[shop_id], part, 1)
        left = connection.execute(sa.text("SELECT DISTINCT form_rules FROM shop")).scalars().all()
        assert left == [""]
    engine.dispose()
    rules = Rules()
    is_right("after all is undone")
