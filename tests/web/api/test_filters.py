"""Filters as parameters: what is refused, what an answer repeats, and when there is none yet. Their figures
are compared with the oracle in random worlds (`tests/support/worlds/filters.py`)."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, update

from tests.support.clients import Client
from tests.support.endpoints import ENDPOINTS, FORM
from tests.support.shop_builder import ShopBuilder, writing
from warehouse import tables
from warehouse.catalogue import LOGIC_VERSION
from warehouse.domain.hash_ids import text_id
from web.api.filters import NAMES

FILTERED = (3, *range(6, 11), 12, 13, 20, 25, 26)
GETS = [number for number, (method, _, _) in ENDPOINTS.items() if method == "GET"]
FUNNEL = f"/v1/forms/{FORM}/funnel"
VISITORS = f"/v1/forms/{FORM}/visitor-conversion"
DAY = "2026-03-28"
SPRING = {"source": "google", "campaign": "spring"}


def view(shop: ShopBuilder, visitor: int, **values: Any) -> None:
    """A view of the form on a phone, by a new visitor, unless something else is said."""
    attributes = {"device": "mobile", "is_first_session": 1, "utm": {}, "variant": 0, **values}
    shop.daily("crossed_session", DAY, form=FORM, visitor=visitor, events=1, views=1, **attributes)


@pytest.fixture
def one(client: FlaskClient, shop: ShopBuilder) -> Client:
    shop.form(FORM)
    shop.daily("funnel", DAY, form=FORM, views=5)
    view(shop, 1, utm=SPRING)
    view(shop, 1, utm=SPRING, is_first_session=0)
    view(shop, 2, utm={"source": "google"}, device="desktop")
    view(shop, 3, variant=text_id("b"))
    view(shop, 4, device="other")
    return Client(client, shop.mint())


@pytest.mark.parametrize(
    ("query", "views"),
    [
        ("", 5),
        ("device=mobile", 3),
        ("device=tablet", 0),
        ("visitor=new", 4),
        ("visitor=returning", 1),
        ("utm_source=google", 3),
        ("utm_source=Google", 0),
        ("utm_source=(none)", 2),
        ("utm_campaign=(none)", 3),
        ("utm_source=google&utm_campaign=(none)", 1),
        ("utm_source=google&utm_campaign=(none)&device=mobile", 0),
        ("variant=b", 1),
        ("variant=(none)", 4),
    ],
)
def test_a_filter_chooses_form_sessions(one: Client, query: str, views: int) -> None:
    answer = one.get(f"{FUNNEL}?{query}").get_json()
    assert answer["data"]["views"] == views
    expected = dict(pair.split("=") for pair in query.split("&") if pair)
    assert answer["meta"].get("filter", {}) == expected


def test_visitors_are_distinct_in_each_row(one: Client) -> None:
    rows = one.get(f"{VISITORS}?utm_source=google").get_json()["data"]
    assert [row["visitors"] for row in rows] == [2, 2, 1]


@pytest.mark.parametrize("number", GETS)
def test_a_bad_value_is_named_and_so_is_a_report_without_filters(one: Client, number: int) -> None:
    _, path, _ = ENDPOINTS[number]
    path += "&" if "?" in path else "?"
    for name in NAMES:
        for value in ("x" * 256, "a%00b", f"b&{name}=b"):
            answer = one.get(f"{path}{name}={value}")
            code = "invalid_filter" if number in FILTERED else "unknown_parameter"
            assert (answer.status_code, answer.get_json()["error"]["code"]) == (400, code), name


def test_what_the_messages_say(one: Client) -> None:
    def message(query: str) -> str:
        answer = one.get(f"{FUNNEL}?{query}")
        assert (answer.status_code, answer.get_json()["error"]["code"]) == (400, "invalid_filter")
        return str(answer.get_json()["error"]["message"])

    assert message("device=phone") == (
        "`device` is `phone`. Give one of: desktop, mobile, tablet, other."
    )
    assert message("visitor=(none)") == "`visitor` is `(none)`. Give one of: new, returning."
    assert message("utm_source=") == "`utm_source` is empty. Give it a value, or leave it out."
    assert message("variant=a&variant=b") == "`variant` is given 2 times. Give it once."


def test_an_answer_with_another_filter_is_another_answer(one: Client) -> None:
    """The filter is in the key under which an answer is kept, and in its ETag."""
    asked = ["", "device=mobile", "device=desktop", "visitor=new", "utm_source=google"]
    for _ in range(2):
        found = [one.get(f"{FUNNEL}?{query}") for query in asked]
        assert [each.get_json()["data"]["views"] for each in found] == [5, 3, 1, 4, 3]
    tags = [each.headers["ETag"] for each in found]
    assert len(set(tags)) == len(asked)
    assert one.get(f"{FUNNEL}?device=mobile", If_None_Match=tags[1]).status_code == 304
    assert one.get(f"{FUNNEL}?device=desktop", If_None_Match=tags[1]).status_code == 200


def test_a_table_says_that_it_is_filtered(one: Client) -> None:
    answer = one.get(f"{FUNNEL}?utm_source=(none)&device=mobile&format=csv&range={DAY}")
    assert answer.headers["X-Filter"] == "device=mobile&utm_source=%28none%29"
    name = f"forms-{FORM}-funnel_{DAY}_{DAY}_filtered.csv"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    plain = one.get(f"{FUNNEL}?format=csv&range={DAY}")
    assert "X-Filter" not in plain.headers
    assert "_filtered" not in plain.headers["Content-Disposition"]


def test_figures_of_an_older_program_have_no_filtered_answer(
    one: Client, shop: ShopBuilder, engine: Engine
) -> None:
    """Without a word, they would be those of no session at all."""
    editions = tables.edition
    older = update(editions).where(editions.c.edition == shop.edition)
    with writing(engine) as connection:
        connection.execute(older.values(logic_version=LOGIC_VERSION - 1))
    answer = one.get(f"{FUNNEL}?device=mobile")
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (503, "unavailable")
    assert "being made anew" in answer.get_json()["error"]["message"]
    assert one.get(FUNNEL).status_code == 200


def test_before_the_first_rollup_no_session_is_chosen(one: Client, engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(update(tables.shop).values(edition=0))
    assert one.get(f"{FUNNEL}?device=mobile").get_json()["data"]["views"] == 0
