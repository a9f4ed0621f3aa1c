"""Labels in the schemas of forms: where they are read, and schemas that are anything else."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.people import Browser, add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop
from tests.web.dashboard.form_answers import heat_columns
from tests.web.dashboard.page_text import sections
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app
from web.dashboard.labels import LONGEST, MOST_CHARACTERS, Labels, labels_of

EFFORT = {
    "id": "routine_effort",
    "label": "How much effort is your routine?",
    "options": [{"value": 1, "label": "None"}, {"value": 5, "label": "A lot"}],
}


def labels(*schemas: Any) -> Labels:
    return labels_of(*map(json.dumps, schemas))


@pytest.mark.parametrize(
    "schema", [{"fields": [EFFORT]}, {"kind": "quiz", "steps": [{"id": "a"}, {"fields": [EFFORT]}]}]
)
def test_labels_are_at_the_top_or_in_the_steps(schema: Any) -> None:
    read = labels(schema)
    assert read.question("routine_effort") == "How much effort is your routine?"
    assert [read.answer("routine_effort", value) for value in "125"] == ["None", "2", "A lot"]
    assert read.question("other") == "other"
    assert read.answer("other", "1") == "1"


def test_values_are_compared_as_the_figures_have_them() -> None:
    values = (True, False, 3, 3.0, 2.5, "3", "yes")
    for value, text in zip(values, ("true", "false", "3", "3", "2.5", "3", "yes"), strict=True):
        read = labels({"fields": [{"id": "a", "options": [{"value": value, "label": "Label"}]}]})
        assert read.answer("a", text) == "Label"


def test_the_first_label_counts() -> None:
    first = {"fields": [{"id": "a", "label": "First", "options": [{"value": "x", "label": "X"}]}]}
    more = {"fields": [{"id": "a", "label": "Then", "options": [{"value": "y", "label": "Y"}]}]}
    read = labels(first, more)
    assert read.question("a") == "First"
    assert [read.answer("a", value) for value in "xy"] == ["X", "Y"]


def test_equal_labels_are_told_apart() -> None:
    options = [{"value": value, "label": "Yes"} for value in "12"]
    read = labels({"fields": [{"id": id, "label": "Sure?", "options": options} for id in "ab"]})
    assert (read.question("a"), read.question("b")) == ("Sure? (a)", "Sure? (b)")
    assert [read.answer("a", value) for value in "12"] == ["Yes (1)", "Yes (2)"]


def test_a_label_is_one_short_line() -> None:
    read = labels({"fields": [{"id": "a", "label": f" How\n\tmuch\0\u202e {'x' * 10_000}"}]})
    text = read.question("a")
    assert text.startswith("How much x")
    assert len(text) == LONGEST + 1
    assert text.isprintable()


DEEP = "[" * 5_000 + "]" * 5_000


@pytest.mark.parametrize(
    "schema",
    [
        *("", "null", "17", "[]", '"fields"', "{", '{"fields": 1e400}', "\0", "\ud800"),
        *(DEEP, f'{{"fields": {DEEP}}}', '{"fields": ' + "9" * 5_000 + "}"),
        *('{"fields": {"id": "a", "label": "A"}}', '{"fields": "abc"}', '{"steps": 3}'),
        *('{"steps": [1, null, {"fields": 1}, [{}]]}', '{"fields": [[], "a", 1, null, true]}'),
        *('{"fields": [{"label": "A"}]}', '{"fields": [{"id": "a"}, {"id": "a", "label": ""}]}'),
        *('{"fields": [{"id": ["a"], "label": "A"}]}', '{"fields": [{"id": {}, "label": "A"}]}'),
        *(
            '{"fields": [{"id": "a", "label": 3}]}',
            '{"fields": [{"id": "a", "label": " \\u0000 "}]}',
        ),
        '{"fields": [{"id": "a", "options": [{"value": "(other)", "label": "A"}]}]}',
        '{"fields": [{"id": "a", "label": null, "options": {"value": "x", "label": "X"}}]}',
        '{"fields": [{"id": "a", "options": [{"value": ["x"], "label": "X"}, "x", null]}]}',
        f'{{"fields": [{{"id": "a", "label": "{"A" * MOST_CHARACTERS}"}}]}}',
    ],
)
def test_what_is_no_label_is_passed_over(schema: str) -> None:
    read = labels_of(schema)
    assert read.question("a") == "a"
    assert [read.answer("a", value) for value in ("x", "(other)")] == ["x", "(other)"]


SHOP, FORMS = "labels.example", ["8f0e0000-0000-4000-8000-00000000000" + digit for digit in "12"]


@contextmanager
def labelled_shop(url: str) -> Iterator[Callable[[str], str]]:
    """The pages of a shop with two forms that ask for a size, both as "size" and both with labels. Forms and
    events come by import, 40 days ago."""
    product, day = Product(url), datetime.now(UTC) - timedelta(days=40)
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    small = {"value": "S", "label": "Small & <short>"}
    fields = [{"id": "size", "label": "Which size?", "options": [small]}, {"id": "tone"}]
    other = [{"id": "size", "label": "Another label"}, {"id": "tone", "label": "Which tone?"}]
    for form_id, name, schema in (
        (FORMS[0], "A", {"steps": [{"fields": fields}]}),
        (FORMS[1], "B", {"fields": other}),
    ):
        form = {"form_id": form_id, "shop_id": SHOP, "name": name, "schema": schema}
        product.load("forms", [form])
    for number, form_id in enumerate(FORMS):
        shared = {
            "shop_id": SHOP,
            "form_id": form_id,
            "form_session_id": f"{number}",
            "visitor_id": "bea",
            "email": "bea@example.com",
            "occurred_at": day.isoformat(),
        }
        moments: list[dict[str, Any]] = [{"type": "complete"}]
        for field_id, value in (("size", "S"), ("tone", "dark")):
            moments.append(
                {"type": "answer", "field_id": field_id, "field_type": "choice", "value": value}
            )
        events = [
            {**shared, **moment, "event_id": f"{number}-{place}"}
            for place, moment in enumerate(moments)
        ]
        product.load("events", events)
    product.rollup()
    engine, app = open_engine(url), create_app(url)
    add_member(engine, known_shop(engine, SHOP))
    browser = Browser(app.test_client()).signed_in()

    def page(path: str) -> str:
        answer = browser.get(f"{path}?range=90d&numbers=pairs", headers={"Accept": "text/html"})
        assert answer.status_code == 200
        return answer.get_data(as_text=True)

    yield page
    close_app(app)
    engine.dispose()


def test_pages_show_labels(warehouse_url: str) -> None:
    with labelled_shop(warehouse_url) as page:
        form = page(f"/forms/{FORMS[0]}")
        choices = re.findall(r'<option value="(\w+)"(?: selected)?>([^<]+)</option>', form)
        assert choices == [("size", "Which size?"), ("tone", "tone")] * 2
        heat, table = sections(form)["Two questions together"].tables
        assert heat_columns(form) == ["dark"]
        assert [row[0] for row in heat] == ["Small & <short>"]
        assert table[0][:2] == ["Small & <short>", "dark"]
        won = sections(page("/customers"))["Value to date, by answer"].tables
        # The label of "size" is that of the first form by name, and "tone" has the only one.
        rows = {(row[1], row[0]) for row in won[0]}
        assert rows == {("Which size?", "Small & <short>"), ("Which tone?", "dark")}
