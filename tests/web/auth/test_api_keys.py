"""Keys at the API: scopes, other shops, revocation, storage, last use, log."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select

from tests.support.endpoints import ENDPOINTS, FORM, OTHER
from tests.support.fixtures import Clock
from tests.support.shop_builder import ShopBuilder, instant, writing
from tests.support.waiting import wait_until
from warehouse.domain.vocabulary import SCOPES
from warehouse.tables import api_key
from web.auth import api_keys
from web.auth.api_key_format import is_well_formed, key_hash, new_key
from web.auth.audit import OPERATOR, Change

BODY: dict[str, Any] = {"data": "{}", "content_type": "application/json"}


def test_each_scope_on_each_endpoint(client: FlaskClient, shop: ShopBuilder) -> None:
    shop.form(FORM)
    for scope in SCOPES:
        headers = {"Authorization": f"Bearer {shop.mint(scope)}"}
        for number, (method, path, needed) in ENDPOINTS.items():
            body = BODY if method in ("POST", "PUT") else {}
            answer = client.open(path, method=method, headers=headers, **body)
            if needed in (None, scope):
                # An empty body passes the check of the scope, and is refused after it.
                assert answer.status_code == (400 if body else 200), (number, scope)
            else:
                assert answer.status_code == 403, (number, scope)
                assert answer.get_json()["error"]["code"] == "insufficient_scope"


def test_a_parameter_that_names_live_codes_needs_their_scope(
    client: FlaskClient, shop: ShopBuilder
) -> None:
    for scopes, status in (
        (("customers:read",), 403),
        (("customers:read", "discounts:read"), 400),
    ):
        headers = {"Authorization": f"Bearer {shop.mint(*scopes)}"}
        for query in ("discount_id=", "discount_id=x&type=sun"):
            assert client.get(f"/v1/orders?{query}", headers=headers).status_code == status
        answer = client.get("/v1/orders?utm_source=", headers=headers)
        assert answer.status_code == 200


def test_form_of_another_shop_is_not_found(
    client: FlaskClient, shop: ShopBuilder, engine: Engine
) -> None:
    theirs = ShopBuilder(engine, "other.myshopify.com")
    theirs.form(FORM)
    theirs.daily("all_forms", "2026-03-20", form=FORM, events=1, views=1)
    theirs.daily("funnel", "2026-03-20", form=FORM, views=1)
    theirs.daily("attribution", "2026-03-20", type="visitor", orders=1)
    headers = {"Authorization": f"Bearer {shop.mint()}"}

    def without_id(path: str, method: str) -> tuple[int, dict]:
        answer = client.open(path, method=method, headers=headers, **BODY)
        error = answer.get_json()["error"]
        assert error.pop("requestId")
        return answer.status_code, error

    for method, path, _ in ENDPOINTS.values():
        if FORM in path:
            answer_theirs = without_id(path, method)
            assert answer_theirs == without_id(path.replace(FORM, OTHER), method)
            assert answer_theirs[0] == 404
    for path in ("/v1/forms", f"/v1/forms/funnel?form_ids={FORM}", "/v1/forms/funnel"):
        assert client.get(path, headers=headers).get_json()["data"] == []
    totals = client.get("/v1/attribution", headers=headers).get_json()["data"]
    assert sum(row["orders"] for row in totals) == 0
    answer = client.get(
        "/v1/forms", headers={"Authorization": f"Bearer {theirs.mint()}"}
    ).get_json()
    assert answer["meta"]["shopId"] == "other.myshopify.com"
    assert [form["id"] for form in answer["data"]] == [FORM]


def test_revoked_key_stops_at_once(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    headers = {"Authorization": f"Bearer {shop.mint()}"}
    credential_id = client.get("/v1/forms", headers=headers).get_json()["meta"]["credentialId"]
    with writing(engine) as connection:
        api_keys.revoke(Change(connection, OPERATOR, clock.now), credential_id)
    assert client.get("/v1/forms", headers=headers).status_code == 401
    with writing(engine) as connection:
        api_keys.revoke(Change(connection, OPERATOR, clock.now + 1), credential_id)
        (key,) = api_keys.list_keys(connection)
    assert (api_keys.status(key, clock.now), key.revoked_at) == ("revoked", clock.now)


def test_key_is_stored_as_a_hash(shop: ShopBuilder, engine: Engine) -> None:
    key = shop.mint("forms:write", "analytics:read")
    assert is_well_formed(key)
    assert not is_well_formed(key[:-1] + ("a" if key[-1] != "a" else "b"))
    with engine.connect() as connection:
        row = connection.execute(select(api_key)).one()
    assert row.key_hash == key_hash(key)
    assert row.credential_id.startswith("cred_")
    assert int(row.credential_id.removeprefix("cred_"), 16)
    assert row.scopes == "analytics:read forms:write"
    assert not any(key[12:] in str(value) for value in row)
    assert len({new_key() for _ in range(100)}) == 100


def test_last_use_is_recorded_once_a_minute(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    headers = {"Authorization": f"Bearer {shop.mint()}"}

    def recorded() -> int | None:
        with engine.connect() as connection:
            return api_keys.list_keys(connection)[0].last_used_at

    def use(at: str) -> None:
        clock.set(at)
        assert client.get("/v1/forms", headers=headers).status_code == 200

    def await_record(at: str) -> None:
        wait_until(lambda: recorded() == instant(at), recorded)

    assert recorded() is None
    use("2026-03-31T12:00:00")
    await_record("2026-03-31T12:00:00")
    use("2026-03-31T12:00:59")
    use("2026-03-31T12:01:00")
    await_record("2026-03-31T12:01:00")


def test_request_does_not_wait_for_a_write(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A request that waited for the lock would wait until the test is ended.
    monkeypatch.setattr("warehouse.connections.sqlite._API_BUSY_SECONDS", 3_600)
    headers = {"Authorization": f"Bearer {shop.mint()}"}
    with engine.connect().execution_options(writes=True) as writer:
        writer.execute(api_key.update().values(name="locked"))
        assert client.get("/v1/forms", headers=headers).status_code == 200
        writer.rollback()


def test_log_has_one_line_per_request_and_no_secret(
    client: FlaskClient, shop: ShopBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    import orjson

    key = shop.mint()
    answer = client.get(
        "/v1/forms?cursor=someone@example.com", headers={"Authorization": f"Bearer {key}"}
    )
    client.get("/v1/someone@example.com", headers={"Authorization": f"Bearer {key}"})
    log = capsys.readouterr().err
    first, second = map(orjson.loads, log.splitlines())
    meta = answer.get_json()["meta"]
    assert first.pop("ms") >= 0
    assert first == {
        "time": "2026-03-31T12:00:00.000Z",
        "requestId": meta["requestId"],
        "method": "GET",
        "path": "/v1/forms",
        "status": 200,
        "shopId": "example.myshopify.com",
        "credentialId": meta["credentialId"],
        "clientAddress": "127.0.0.1",
    }
    assert (second["path"], second["status"], second["error"]) == (None, 404, "not_found")
    assert "@" not in log
    assert key not in log
