"""A person is forgotten from the Data page: asked twice, kept as a hash alone, removed by a refresh."""

import re

from tests.support.import_files import Row, event, order
from tests.support.people import Browser, add_member
from tests.support.shop_builder import known_shop
from tests.web.dashboard.two_shops import PATH, A, B, TwoShops

EMAIL = "ada@mail.example"


def ask(two: TwoShops, shop: str, kind: str, identifier: str) -> str:
    """Send both forms; the page between them."""
    browser, before = two.browsers[shop], two.rows("SELECT * FROM forgotten")
    fields = browser.form(PATH) | {"kind": kind, "identifier": identifier}
    answer = browser.client.post("/data/forget", data=fields)
    assert answer.status_code == 200
    page = answer.get_data(as_text=True)
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    assert (hidden["kind"], hidden["identifier"]) == (kind, identifier)
    assert two.rows("SELECT * FROM forgotten") == before
    answer = browser.client.post("/data/forget", data=hidden)
    assert (answer.status_code, answer.location) == (302, "/data#persons")
    return page


def test_a_person_is_forgotten_by_the_next_refresh(two: TwoShops) -> None:
    own = {"email": EMAIL, "visitor_id": "ada", "customer_id": "c-ada"}
    at = "2026-01-02T00:00:00Z"
    for shop in (A, B):
        two.load("events", [event(event_id="1", shop_id=shop, occurred_at=at, **own)])
        two.load("orders", [order(order_id="1", shop_id=shop, created_at=at, **own)])
    two.jobs("rollup")
    page = ask(two, A, "email", EMAIL)
    assert "1 form session and 1 order under the e-mail address" in page
    ask(two, A, "visitor", "nobody")
    shown = two.page(A)
    assert "The next refresh forgets this person." in shown
    assert shown.count("waits for the next refresh") == 2
    assert EMAIL not in shown
    assert "waits for the next refresh" not in two.page(B)
    stored = two.rows("SELECT shop_key, identifier_hash FROM forgotten")
    assert {row.shop_key for row in stored} == {known_shop(two.engine, A).key}
    assert all(re.fullmatch("[0-9a-f]{64}", row.identifier_hash) for row in stored)
    trail = two.rows("SELECT actor, detail FROM audit_event WHERE action = 'person_forgotten'")
    assert trail == [(f"ada@{A}", "")] * 2
    two.jobs("rollup", "--refresh")
    counts = two.rows("SELECT events, orders FROM forgotten WHERE removed_at > 0 ORDER BY events")
    assert counts == [(0, 0), (1, 1)]
    left = two.rows("SELECT shop_key FROM raw_event WHERE visitor_id = 'ada'")
    assert left == [(known_shop(two.engine, B).key,)]
    assert "waits for the next refresh" not in two.page(A)
    # Rows that are imported later are dropped.
    two.load("events", [event(event_id="2", shop_id=A, occurred_at=at, **own)])
    assert two.rows("SELECT event_id FROM raw_event WHERE event_id = '2'") == []


def test_a_person_needs_a_name(two: TwoShops) -> None:
    browser = two.browsers[A]
    for fields in ({"kind": "email", "identifier": " "}, {"kind": "shop", "identifier": "x"}):
        answer = browser.client.post("/data/forget", data=browser.form(PATH) | fields)
        assert answer.status_code == 302
        assert "Name the person by one identifier" in two.page(A)
    assert two.rows("SELECT * FROM forgotten") == []


def test_only_members_who_manage_connections_may(two: TwoShops) -> None:
    add_member(two.engine, known_shop(two.engine, A), "bob@a.example", ["forms:edit"])
    bob = Browser(two.app.test_client()).signed_in("bob@a.example")
    fields = bob.form("/settings/account") | {"kind": "visitor", "identifier": "v1"}
    for confirmed in ({}, {"confirmed": "1"}):
        assert bob.client.post("/data/forget", data=fields | confirmed).status_code == 403
    assert two.browsers[A].client.post("/data/forget").status_code == 400, "without a token"
    assert two.rows("SELECT * FROM forgotten") == []


def test_rows_under_other_identifiers_of_the_person_are_counted(two: TwoShops) -> None:
    at = {"shop_id": A, "occurred_at": "2026-01-02T00:00:00Z"}
    bought = {"shop_id": A, "created_at": "2026-01-02T00:00:00Z"}
    sessions: list[Row] = [
        {"visitor_id": "ada", "customer_id": "c-ada"},
        {"visitor_id": "ada", "email": EMAIL},
        {"visitor_id": "phone", "customer_id": "c-ada"},
        {"visitor_id": "tablet", "customer_id": "c-ada"},
        {"visitor_id": "bob", "customer_id": "c-bob"},
    ]
    two.load(
        "events",
        [
            event(event_id=str(n), form_session_id=f"s{n}", **at, **one)
            for n, one in enumerate(sessions)
        ],
    )
    two.load(
        "orders",
        [
            order(order_id="1", **bought, email=EMAIL),
            order(order_id="2", **bought, customer_id="c-ada", visitor_id="ada"),
            order(order_id="3", **bought, customer_id="c-bob"),
        ],
    )
    two.jobs("rollup")
    page = ask(two, A, "visitor", "ada")
    assert "2 form sessions and 1 order under the visitor_id" in page
    assert (
        "2 form sessions and 0 orders of the same person stay under 1 customer_id: ask for it"
        in page
    )
    assert "0 form sessions and 1 order of the same person stay under 1 e-mail address: ask" in page
    page = ask(two, A, "customer", "c-ada")
    assert (
        "1 form session and 0 orders of the same person stay under 3 visitor_ids: ask for each"
        in page
    )
    page = ask(two, A, "customer", "c-bob")
    assert "No form session or order of the same person is left under another identifier." in page


def test_so_many_requests_wait(two: TwoShops) -> None:
    for number in range(100):
        ask(two, A, "visitor", f"v{number}")
    assert (
        "At most 100 requests wait. The next refresh removes the rows of all of them" in two.page(A)
    )
    ask(two, A, "visitor", "one more")
    said = two.page(A)
    assert "100 persons of this shop wait to be forgotten, which is the most." in said
    assert "Ask again after the next refresh." in said
    ask(two, B, "visitor", "of another shop")
    assert two.rows("SELECT COUNT(*) FROM forgotten") == [(101,)]
