"""Quotas of forms and of their bytes."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, delete, select
from werkzeug.test import TestResponse

from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder, writing
from warehouse import tables
from warehouse.tables import form, shop
from web.api import form_quota
from web.http.errors import Refusal


class Forms:
    """The API as one key of a shop uses it."""

    def __init__(self, client: FlaskClient, key: str) -> None:
        self._client = client
        self._headers = {"Authorization": f"Bearer {key}"}

    def create(self, schema: dict[str, Any], **headers: str) -> TestResponse:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        body = {"name": "x", "schema": schema}
        return self._send("POST", "/v1/forms", body, sent)

    def replace(self, form_id: str, draft: dict[str, Any]) -> TestResponse:
        return self._send("PUT", f"/v1/forms/{form_id}", {"draft_schema": draft}, {})

    def _send(
        self, method: str, path: str, body: dict[str, Any], headers: dict[str, str]
    ) -> TestResponse:
        # As UTF-8: a schema is stored as it was written.
        data = json.dumps(body, ensure_ascii=False).encode()
        sent = self._headers | headers | {"Content-Type": "application/json"}
        return self._client.open(path, method=method, data=data, headers=sent)


@pytest.fixture
def forms(client: FlaskClient, shop: ShopBuilder) -> Forms:
    return Forms(client, shop.mint())


def counted(engine: Engine) -> tuple[int, int]:
    with engine.connect() as connection:
        row = connection.execute(select(shop.c.form_count, shop.c.form_bytes)).one()
    return row.form_count, row.form_bytes


def stored(engine: Engine) -> tuple[int, int]:
    with engine.connect() as connection:
        rows = connection.execute(select(form.c.schema, form.c.draft_schema)).all()
    return len(rows), sum(len(text.encode()) for row in rows for text in row)


def test_forms_up_to_the_quota(
    forms: Forms, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORMS_PER_SHOP", "2")
    first = forms.create({}, Idempotency_Key="1")
    assert first.status_code == forms.create({}).status_code == 201
    answer = forms.create({}, Idempotency_Key="2")
    refused(answer, 409, "quota_exceeded")
    assert "is 2 forms," in answer.get_json()["error"]["message"]
    # A repeated request creates nothing, and a draft is no form.
    assert forms.create({}, Idempotency_Key="1").get_json()["data"] == first.get_json()["data"]
    assert forms.replace(first.get_json()["data"]["id"], {"a": 1}).status_code == 200
    # A refused request does not use its key up.
    monkeypatch.setenv("FORMS_PER_SHOP", "3")
    assert forms.create({"b": 1}, Idempotency_Key="2").status_code == 201
    assert counted(engine) == stored(engine)


def test_bytes_up_to_the_quota(
    forms: Forms, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORM_BYTES_PER_SHOP", "1000")
    # The draft of a new form is its schema, and a text is counted as it is stored.
    refused(forms.create({"text": "é" * 250}), 409, "quota_exceeded")
    created = forms.create({"text": "é" * 200})
    assert created.status_code == 201
    form_id = created.get_json()["data"]["id"]
    before = counted(engine)
    assert 800 < before[1] < 1000
    refused(forms.replace(form_id, {"text": "x" * 600}), 409, "quota_exceeded")
    assert counted(engine) == before == stored(engine)
    # A shop with more than the quota may write less.
    monkeypatch.setenv("FORM_BYTES_PER_SHOP", "10")
    assert forms.replace(form_id, {"text": "x" * 100}).status_code == 200
    assert counted(engine) == stored(engine) < before


def test_another_shop_has_a_quota_of_its_own(
    forms: Forms, client: FlaskClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORMS_PER_SHOP", "1")
    assert forms.create({}).status_code == 201
    other = Forms(client, ShopBuilder(engine, "another.example").mint())
    assert other.create({}).status_code == 201
    refused(forms.create({}), 409, "quota_exceeded")


def test_writers_at_once_do_not_pass_together(
    forms: Forms, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORMS_PER_SHOP", "3")
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: forms.create({}).status_code, range(8)))
    # Where too many wait for the lock, some are told to come again.
    assert set(statuses) <= {201, 409, 503}
    while 409 not in statuses:
        statuses.append(forms.create({}).status_code)
    assert statuses.count(201) == 3
    assert counted(engine) == stored(engine)


def test_a_shop_that_was_deleted_meanwhile_takes_no_form(engine: Engine, shop: ShopBuilder) -> None:
    with writing(engine) as connection:
        connection.execute(delete(tables.shop))
    with writing(engine) as connection, pytest.raises(Refusal) as refusal:
        form_quota.use(connection, shop.key, 0, forms=1, size=1)
    assert (refusal.value.status, refusal.value.code) == (401, "unauthorized")
