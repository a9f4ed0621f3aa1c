"""Endpoints 1 to 5."""

import csv
import re
from io import StringIO

from flask.testing import FlaskClient
from sqlalchemy import Engine, select

from tests.support.fixtures import Ask, Clock
from tests.support.shop_builder import ShopBuilder, data_version, instant
from warehouse.tables import form

FORM = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
UNKNOWN = "99999999-9999-4999-8999-999999999999"


def bearer(shop: ShopBuilder) -> dict[str, str]:
    return {"Authorization": f"Bearer {shop.mint()}"}


def test_create_get_and_replace(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    headers = bearer(shop)
    # Stored as it was sent: spelling, order, and numbers that no machine type holds.
    schema = '{"b": 1.0, "a": [1e400, 123456789012345678901234567890], "ü": "\\u00fc"}'
    answer = client.post(
        "/v1/forms",
        data=f'{{"name": "  Quiz ü ", "schema": {schema}, "more": 1}}',
        content_type="application/json; charset=utf-8",
        headers=headers,
    )
    assert answer.status_code == 201
    created = answer.get_json()["data"]
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", created["id"]
    )
    assert answer.headers["Location"] == f"/v1/forms/{created['id']}"
    assert created == {
        "id": created["id"],
        "name": "Quiz ü",
        "status": "draft",
        "updatedAt": "2026-03-31T12:00:00.000Z",
    }
    got = client.get(answer.headers["Location"], headers=headers)
    as_written = f'"schema":{schema},"draftSchema":{schema}}}'
    assert as_written in got.get_data(as_text=True)
    assert got.get_json()["data"].items() > created.items()
    in_csv = client.get(f"{answer.headers['Location']}?format=csv", headers=headers)
    names, cells = csv.reader(StringIO(in_csv.get_data(as_text=True)))
    assert (names[-2:], cells[-2:]) == (["schema", "draftSchema"], [schema, schema])
    assert data_version(engine, shop.shop_id) == 1

    def replace(draft: str) -> dict:
        answer = client.put(
            f"/v1/forms/{created['id'].upper()}",
            data=f'{{"draft_schema": {draft}}}',
            content_type="application/json",
            headers=headers,
        )
        assert answer.status_code == 200
        return answer.get_json()["data"]

    # The clock stands still, and then runs backwards: updatedAt grows all the same.
    assert replace('{"x": 1}')["updatedAt"] == "2026-03-31T12:00:00.001Z"
    clock.set("2026-03-31T11:00:00")
    assert replace('{"x": 2}') == created | {"updatedAt": "2026-03-31T12:00:00.002Z"}
    clock.set("2026-03-31T13:00:00.123456")
    assert replace('{"x": 3}')["updatedAt"] == "2026-03-31T13:00:00.123Z"
    assert data_version(engine, shop.shop_id) == 4
    with engine.connect() as connection:
        stored = connection.execute(select(form)).one()
    assert (stored.schema, stored.draft_schema, stored.status) == (schema, '{"x": 3}', "draft")
    shown = client.get(answer.headers["Location"], headers=headers).get_data(as_text=True)
    assert f'"schema":{schema},"draftSchema":{{"x": 3}}}}' in shown
    assert client.get("/v1/forms", headers=headers).get_json()["data"][0].keys() == created.keys()


def test_a_form_without_a_schema(shop: ShopBuilder, ask: Ask) -> None:
    shop.form(FORM)
    form = ask(f"/v1/forms/{FORM}")
    assert (form["schema"], form["draftSchema"]) == (None, None)


def test_replace_keeps_the_status(client: FlaskClient, shop: ShopBuilder) -> None:
    shop.form(FORM, status="published")
    answer = client.put(f"/v1/forms/{FORM}", json={"draft_schema": {}}, headers=bearer(shop))
    assert answer.get_json()["data"]["status"] == "published"


def test_pages_do_not_shift_while_forms_are_created(client: FlaskClient, shop: ShopBuilder) -> None:
    headers = bearer(shop)
    ids = [f"{n:08}-1111-4111-8111-111111111111" for n in range(7)]
    for n, form_id in enumerate(ids):
        # Two were created at the same instant.
        shop.form(form_id, created_at=instant("2026-01-01T00:00:00") + max(n, 1))
    seen, cursor, pages = [], None, 0
    while True:
        query = {"limit": "3"} | ({"cursor": cursor} if cursor else {})
        body = client.get("/v1/forms", query_string=query, headers=headers).get_json()
        seen += [row["id"] for row in body["data"]]
        cursor, pages = body["meta"]["nextCursor"], pages + 1
        if cursor is None:
            break
        client.post("/v1/forms", json={"name": "new", "schema": {}}, headers=headers)
    assert seen == ids[::-1]
    assert pages == 3


def test_a_full_last_page_has_no_next(client: FlaskClient, shop: ShopBuilder) -> None:
    shop.form(FORM)
    body = client.get("/v1/forms?limit=1", headers=bearer(shop)).get_json()
    assert (len(body["data"]), body["meta"]["nextCursor"]) == (1, None)


def test_limits_are_clamped(client: FlaskClient, shop: ShopBuilder) -> None:
    headers = bearer(shop)
    for n in range(201):
        shop.form(f"{n:08}-1111-4111-8111-111111111111", created_at=n)
    for query, count in (
        ("", 50),
        ("limit=200", 200),
        ("limit=201", 200),
        ("limit=007", 7),
        ("limit=" + "9" * 5000, 200),
    ):
        body = client.get(f"/v1/forms?{query}", headers=headers).get_json()
        assert len(body["data"]) == count, query
        assert body["meta"]["nextCursor"]


def test_unknown_cursors_have_an_empty_page(
    client: FlaskClient, shop: ShopBuilder, engine: Engine
) -> None:
    headers = bearer(shop)
    theirs = ShopBuilder(engine, "other.myshopify.com")
    for n in range(2):
        shop.form(f"{n:08}-1111-4111-8111-111111111111", created_at=n)
        theirs.form(f"{n:08}-2222-4222-8222-222222222222", created_at=n)
    foreign, mine = (
        client.get("/v1/forms?limit=1", headers=sent).get_json()["meta"]["nextCursor"]
        for sent in (bearer(theirs), headers)
    )
    assert len(client.get(f"/v1/forms?cursor={mine}", headers=headers).get_json()["data"]) == 1
    for cursor in (
        "",
        "x",
        "%00",
        "é",
        mine + "=",
        mine + "!",
        mine[:-1],
        foreign,
        "a" * 5000,
        f"{mine}&cursor={mine}",
        "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5L3g",
    ):
        answer = client.get(f"/v1/forms?cursor={cursor}", headers=headers)
        assert answer.status_code == 200, cursor
        assert answer.get_json()["data"] == [], cursor
        assert answer.get_json()["meta"]["nextCursor"] is None


def test_all_forms_funnel(shop: ShopBuilder, ask: Ask) -> None:
    # FORM is the shop's, OTHER has only events.
    shop.form(FORM)
    quiet = shop.form("33333333-3333-4333-8333-333333333333")
    shop.daily("all_forms", "2026-03-20", form=FORM, events=1)
    counts = {"views": 3, "subscriptions": 2, "completions": 1}
    shop.daily("all_forms", "2026-03-20", form=OTHER, events=9, **counts)
    shop.daily("all_forms", "2026-03-21", form=UNKNOWN, events=0)
    shop.daily("all_forms", "2025-03-20", form=UNKNOWN, events=1)
    rows = [
        {"formId": OTHER, "formName": None, **counts},
        {"formId": FORM, "formName": "A form", "views": 0, "subscriptions": 0, "completions": 0},
    ]
    assert ask("/v1/forms/funnel") == rows
    assert ask("/v1/forms/funnel", form_ids=f"{OTHER.upper()},{OTHER},{UNKNOWN}") == rows[:1]
    assert ask("/v1/forms/funnel", form_ids=quiet) == [
        {"formId": quiet, "formName": "A form", "views": 0, "subscriptions": 0, "completions": 0}
    ]
    hundred = ",".join(f"{n:08}-1111-4111-8111-111111111111" for n in range(100))
    assert ask("/v1/forms/funnel", form_ids=f"{hundred},{hundred}") == []
