"""`Idempotency-Key`: a form is created once, however often its creation is sent."""

import json
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, func, select
from werkzeug.test import TestResponse

from tests.support.fixtures import Clock
from tests.support.product import Product
from tests.support.refusals import refused
from tests.support.serving import ask, served
from tests.support.shop_builder import ShopBuilder, data_version
from warehouse.domain.email_hash import hashed_email
from warehouse.tables import form, form_creation
from web.app import close_app

BODY = {"name": "Quiz", "schema": {"steps": []}}


@pytest.fixture
def key(shop: ShopBuilder) -> str:
    return shop.mint()


class Creator:
    """Sends creations with one API key."""

    def __init__(self, client: FlaskClient, key: str) -> None:
        self._client, self._key = client, key

    def __call__(self, again: str | None, body: Any = BODY, **more: str) -> TestResponse:
        headers = {"Authorization": f"Bearer {self._key}"}
        if again is not None:
            headers["Idempotency-Key"] = again
        content = body if isinstance(body, str) else json.dumps(body)
        sent = {"content_type": "application/json"} | more
        return self._client.post("/v1/forms", data=content, headers=headers, **sent)


def count(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(form)).scalar_one()


def told(answer: TestResponse) -> tuple[Any, ...]:
    """All that an answer tells of its form."""
    assert answer.status_code == 201
    headers = [answer.headers[name] for name in ("Location", "ETag")]
    return answer.get_json()["data"], *headers


def test_a_retry_has_the_first_answer(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, clock: Clock, key: str
) -> None:
    create = Creator(client, key)
    first = told(create("k-1"))
    clock.set("2026-03-31T13:00:00")
    path = first[1]
    assert (
        client.put(
            path, json={"draft_schema": {"later": 1}}, headers={"Authorization": f"Bearer {key}"}
        ).status_code
        == 200
    )
    version = data_version(engine, shop.shop_id)
    # The same, differently spelled where that says nothing.
    same = ' {"schema": {"steps": []}, "name": "  Quiz ", "more": 1} '
    for body in (BODY, same):
        assert told(create("k-1", body)) == first
    assert (count(engine), data_version(engine, shop.shop_id)) == (1, version)

    for body in ({**BODY, "name": "Quiz 2"}, {**BODY, "schema": {}}):
        refused(create("k-1", body), 422, "idempotency_key_reused")
    # Another key, none at all, and another's same key are other requests.
    others = [create("K-1"), create(None), create(None), Creator(client, shop.mint())("k-1")]
    ids = {told(answer)[0]["id"] for answer in others}
    assert len(ids | {first[0]["id"]}) == 5 == count(engine)

    clock.set("2026-04-01T11:59:59.999999")
    assert told(create("k-1"))[0] == first[0]
    clock.set("2026-04-01T12:00:00")
    again = told(create("k-1"))
    assert again[0]["id"] not in ids | {first[0]["id"]}
    assert told(create("k-1")) == again


def test_a_refused_request_uses_no_key_up(client: FlaskClient, engine: Engine, key: str) -> None:
    create = Creator(client, key)
    for body, code in (
        ("{", "invalid_json"),
        ({}, "invalid_body"),
        ({"name": "x"}, "invalid_body"),
    ):
        refused(create("k", body), 400, code)
    refused(create("k", content_type="text/plain"), 415, "unsupported_media_type")
    assert told(create("k"))[0]["name"] == "Quiz"
    assert count(engine) == 1


def test_malformed_keys(client: FlaskClient, engine: Engine, key: str) -> None:
    create = Creator(client, key)
    for wrong in ("", "x" * 256, "é", "a,b", "a\tb"):
        refused(create(wrong), 400, "invalid_idempotency_key", wrong)
    headers = [
        ("Authorization", f"Bearer {key}"),
        ("Idempotency-Key", "a"),
        ("Idempotency-Key", "b"),
    ]
    twice = client.post("/v1/forms", json=BODY, headers=headers)
    refused(twice, 400, "invalid_idempotency_key")
    assert count(engine) == 0
    for fine in ("x" * 255, '"8e03978e-40d5-43e8-bc93-6894a57f9324"', "an order: 7/8 ~"):
        assert told(create(fine)) == told(create(fine))
    assert count(engine) == 3


def test_the_form_is_created_once_by_several_processes(
    warehouse_url: str, engine: Engine, shop: ShopBuilder, key: str
) -> None:
    with served(warehouse_url) as (_, port), ThreadPoolExecutor(6) as pool:
        for number in range(5):

            def create(_: int, again: str = f"k-{number}") -> tuple[int, str]:
                named = {"Idempotency-Key": again, "Content-Type": "application/json"}
                status, answer = ask(port, "POST", "/v1/forms", key, json.dumps(BODY), **named)
                return status, answer["data"]["id"]

            assert len(set(pool.map(create, range(6)))) == 1
    assert count(engine) == 5


def test_old_keys_are_purged(
    client: FlaskClient, warehouse_url: str, engine: Engine, clock: Clock, key: str
) -> None:
    create = Creator(client, key)
    creations = []
    for at in ("2000-01-01T00:00:00", "2090-01-01T00:00:00"):
        clock.set(at)
        creations.append(told(create(at))[0]["id"])
    close_app(client.application)
    engine.dispose()
    Product(warehouse_url).purge()
    with engine.connect() as connection:
        left = connection.execute(select(form_creation.c.form_id)).scalars().all()
    assert left == creations[1:]


def test_a_key_is_stored_as_its_hash_alone(client: FlaskClient, engine: Engine, key: str) -> None:
    """Clients take what they have for a key: a visitor's id, an address, which nothing would forget."""
    create = Creator(client, key)
    sent = "ada@mail.example"
    first = told(create(sent))
    assert told(create(sent)) == first
    with engine.connect() as connection:
        (stored,) = connection.execute(select(form_creation.c.idempotency_key)).scalars().all()
    assert sent not in stored
    # Nor is it a hash that anybody can make of a list of addresses.
    assert stored not in (sha256(sent.encode()).hexdigest(), hashed_email(sent))
    assert len(stored) == 64
