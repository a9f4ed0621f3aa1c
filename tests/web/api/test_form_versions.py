"""A form's own tag: what it follows, and a draft that is replaced only as it was seen."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select, update

from tests.support.clients import Client
from tests.support.endpoints import FORM
from tests.support.fixtures import Clock
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder, data_version, writing
from tests.support.waiting import PATIENCE_SECONDS
from warehouse.tables import form
from web.app import close_app, create_app

PATH = f"/v1/forms/{FORM}"


def test_a_draft_is_replaced_as_it_was_seen(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    shop.form(FORM, draft_schema="{}")
    one, other = (Client(client, shop.mint()) for _ in range(2))
    drafts = iter(range(100))

    def put(**headers: str) -> tuple[int, str]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        body = {"draft_schema": {"number": next(drafts)}}
        answer = client.put(PATH, json=body, headers=one.headers | named)
        if answer.status_code != 200:
            refused(answer, 412, "precondition_failed")
        return answer.status_code, answer.headers.get("ETag", "")

    def stored() -> str:
        with engine.connect() as connection:
            return connection.execute(select(form.c.draft_schema)).scalar_one()

    # Changes of other data do not touch a form.
    tag = one.tag(PATH)
    shop.spend("2026-03-10", "meta", "c1", "1")
    assert one.tag(PATH) == tag

    status, second = put(If_Match=tag)
    assert (status, second) == (200, one.tag(PATH))
    assert one.has(PATH, second)
    assert not one.has(PATH, tag)
    before, version = stored(), data_version(engine, shop.shop_id)
    for known in (tag, f'{tag}, "x"', "", "x", 'W/"x"', 'W/""'):
        assert put(If_Match=known)[0] == 412, known
    assert (stored(), data_version(engine, shop.shop_id)) == (before, version)
    # Another's key, the day after, a proxy that made the tag strong, one of several: the same form.
    clock.set("2026-04-01T12:00:00")
    tag = other.tag(PATH)
    assert tag != second
    for known in ("{}", '"{}"', 'W/"{}"', '"x", "{}"'):
        opaque = one.tag(PATH).removeprefix("W/").strip('"')
        assert put(If_Match=known.format(opaque))[0] == 200, known
    assert put(If_Match="*")[0] == put()[0] == 200
    # The same draft as before is another one to who has not seen the one between.
    tag = one.tag(PATH)
    put()
    with writing(engine) as connection:
        connection.execute(update(form).values(draft_schema=before))
    assert put(If_Match=tag)[0] == 412

    for changed in ({"name": "B"}, {"status": "published"}, {"draft_schema": '{"b": 1}'}):
        tag = one.tag(PATH)
        with writing(engine) as connection:
            connection.execute(update(form).values(**changed))
        assert not one.has(PATH, tag), changed
        assert put(If_Match=tag)[0] == 412, changed


def test_what_is_wrong_comes_before_what_has_changed(
    client: FlaskClient, shop: ShopBuilder
) -> None:
    headers = Client(client, shop.mint()).headers | {"If-Match": '"x"'}
    refused(client.put(PATH, json={"draft_schema": {}}, headers=headers), 404, "not_found")
    shop.form(FORM)
    refused(client.put(PATH, json={}, headers=headers), 400, "invalid_body")
    refused(
        client.put(PATH, json={"draft_schema": {}}, headers=headers), 412, "precondition_failed"
    )


def test_a_created_form_has_its_tag_at_once(client: FlaskClient, shop: ShopBuilder) -> None:
    one = Client(client, shop.mint())
    created = client.post("/v1/forms", json={"name": "A", "schema": {}}, headers=one.headers)
    assert created.headers["ETag"] == one.tag(created.headers["Location"])


@pytest.mark.parametrize("round", range(3))
def test_of_two_at_once_one_replaces_the_draft(
    warehouse_url: str, shop: ShopBuilder, clock: Clock, round: int
) -> None:
    shop.form(FORM, draft_schema="{}")
    key, together = shop.mint(), Barrier(4)
    apps = [create_app(warehouse_url, clock) for _ in range(2)]
    tag = Client(apps[0].test_client(), key).tag(PATH)

    def put(number: int) -> int:
        client = apps[number % 2].test_client()
        headers = {"Authorization": f"Bearer {key}", "If-Match": tag}
        together.wait(PATIENCE_SECONDS)
        body = {"draft_schema": {"number": number}}
        return client.put(PATH, json=body, headers=headers).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(put, range(4))) == [200, 412, 412, 412]
    for app in apps:
        close_app(app)
