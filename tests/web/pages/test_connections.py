"""Keys on the pages: created, shown once, used, rotated, revoked, expired."""

from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.people import CONNECTIONS, NEW, Browser, await_background_writes, key_on
from tests.support.shop_builder import ShopBuilder, instant
from warehouse.domain.time import MICROS_PER_SECOND
from web.auth import api_keys

HOUR = 3600 * MICROS_PER_SECOND


def works(client: FlaskClient, key: str) -> bool:
    answer = client.get("/v1/forms", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code in (200, 401)
    return answer.status_code == 200


def find_key(engine: Engine, **wanted: object) -> api_keys.ApiKey:
    with engine.connect() as connection:
        (match,) = (
            key
            for key in api_keys.list_keys(connection)
            if all(getattr(key, name) == value for name, value in wanted.items())
        )
    return match


def test_key_is_shown_once(browser: Browser, client: FlaskClient, engine: Engine) -> None:
    browser.signed_in()
    form = browser.form(NEW)
    data = {**form, "name": " A <b>tool</b> ", "scopes": ["analytics:read"], "expires": ""}
    answer = browser.client.post(NEW, data=data)
    key = key_on(answer)
    page = unescape(answer.get_data(as_text=True))
    assert f'curl -H "Authorization: Bearer {key}" "http://localhost/v1/forms"' in page
    assert works(client, key)
    listed = browser.get(CONNECTIONS).get_data(as_text=True)
    assert key not in listed
    assert key[:13] in listed
    assert "A &lt;b&gt;tool&lt;/b&gt;" in listed
    # The same form again (a reload) creates no key and shows none.
    again = browser.client.post(NEW, data=data)
    assert again.location == CONNECTIONS
    assert "was sent twice" in browser.get(CONNECTIONS).get_data(as_text=True)
    assert find_key(engine).created_by == "ada@example.com"


def test_example_call_uses_the_public_url(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBLIC_URL", "https://stats.example/")
    answer = browser.signed_in().post(NEW, name="x", scopes=["analytics:read"])
    assert '"https://stats.example/v1/forms"' in unescape(answer.get_data(as_text=True))


def test_list_shows_the_details_of_a_key(
    browser: Browser, client: FlaskClient, clock: Clock
) -> None:
    browser.signed_in()
    key = browser.mint("analytics:read", "forms:write", expires="2026-04-02")
    page = browser.get(CONNECTIONS).get_data(as_text=True)
    for text in (
        "A tool",
        key[:13],
        "analytics:read",
        "forms:write",
        "Mar 31, 2026, 12:00\N{NARROW NO-BREAK SPACE}PM UTC",
        "ada@example.com",
        "Never",
        "Apr 2, 2026, end of the day UTC",
        "Active",
    ):
        assert text in page, text
    german = browser.get(CONNECTIONS, headers={"Accept-Language": "de"}).get_data(as_text=True)
    assert "31.03.2026, 12:00 UTC" in german
    assert "02.04.2026, end of the day UTC" in german
    clock.now += HOUR // 2
    assert works(client, key)
    await_background_writes(client)
    assert "Mar 31, 2026, 12:30\N{NARROW NO-BREAK SPACE}PM UTC" in browser.get(
        CONNECTIONS
    ).get_data(as_text=True)


def test_key_expires_at_the_end_of_its_last_day(
    browser: Browser, client: FlaskClient, clock: Clock
) -> None:
    browser.signed_in()
    key = browser.mint("analytics:read", expires="2026-03-31")
    clock.now = instant("2026-04-01T00:00:00") - 1
    assert works(client, key)
    clock.now += 1
    assert not works(client, key)
    assert "Expired" in browser.signed_in().get(CONNECTIONS).get_data(as_text=True)


def test_form_refuses_wrong_values(browser: Browser, engine: Engine) -> None:
    browser.signed_in()
    good: dict[str, Any] = {"name": "x", "scopes": ["analytics:read"], "expires": ""}
    wrong_values: tuple[dict[str, Any], ...] = (
        {"name": " "},
        {"name": "x" * 101},
        {"name": "a\x00b"},
        {"scopes": []},
        {"expires": "2026-03-30"},
        {"expires": "31.3.2026"},
        {"expires": "9999-12-31"},
        {"once": ""},
    )
    for wrong in wrong_values:
        answer = browser.post(NEW, **{**good, **wrong})
        assert answer.status_code == 422, wrong
        assert 'role="alert"' in answer.get_data(as_text=True)
    with engine.connect() as connection:
        assert api_keys.list_keys(connection) == []


def test_rotation(browser: Browser, client: FlaskClient, engine: Engine, clock: Clock) -> None:
    for grace, length in (("now", 0), ("1h", HOUR), ("24h", 24 * HOUR), ("7d", 7 * 24 * HOUR)):
        browser.signed_in()
        old = browser.mint("forms:write", "analytics:read", name=grace)
        path = f"{CONNECTIONS}/{find_key(engine, name=grace).credential_id}/rotate"
        form = browser.form(path)
        new = key_on(browser.client.post(path, data={**form, "grace": grace, "expires": ""}))
        rotated_at = clock.now
        assert new != old
        assert works(client, new)
        replaced = find_key(engine, name=grace, hint=old[:13])
        successor = find_key(engine, name=grace, hint=new[:13])
        assert replaced.replaced_by == successor.credential_id
        assert successor.scopes == replaced.scopes == ("analytics:read", "forms:write")
        assert replaced.expires_at == rotated_at + length
        # A key is rotated once: the page and the form refuse to do it again.
        assert browser.get(path).location == CONNECTIONS
        again = browser.client.post(path, data={**form, "grace": grace, "expires": ""})
        assert again.location == CONNECTIONS
        if length:
            clock.now = rotated_at + length - 1
            assert works(client, old)
        clock.now = rotated_at + length
        assert not works(client, old)
        assert works(client, new)


def test_rotation_never_extends_the_old_key(
    browser: Browser, client: FlaskClient, engine: Engine, clock: Clock
) -> None:
    browser.signed_in()
    old = browser.mint("analytics:read", expires="2026-04-01")
    path = f"{CONNECTIONS}/{find_key(engine).credential_id}/rotate"
    assert 'value="2026-04-01"' in browser.get(path).get_data(as_text=True)
    browser.post(path, grace="7d", expires="2026-04-01")
    assert find_key(engine, hint=old[:13]).expires_at == instant("2026-04-02T00:00:00")
    for wrong in ({"grace": "1y"}, {"grace": ""}, {"grace": "1h", "expires": "2020-01-01"}):
        key = browser.mint("analytics:read", name=str(wrong))
        credential_id = find_key(engine, hint=key[:13]).credential_id
        answer = browser.post(f"{CONNECTIONS}/{credential_id}/rotate", **wrong)
        assert answer.status_code == 422, wrong
        assert find_key(engine, hint=key[:13]).replaced_by == ""


def test_revoked_key_is_refused_at_once(
    browser: Browser, client: FlaskClient, engine: Engine
) -> None:
    browser.signed_in()
    key = browser.mint("analytics:read")
    path = f"{CONNECTIONS}/{find_key(engine).credential_id}/revoke"
    assert "stops working at once" in browser.get(path).get_data(as_text=True)
    assert works(client, key)
    assert browser.post(path).location == CONNECTIONS
    assert not works(client, key)
    page = browser.get(CONNECTIONS).get_data(as_text=True)
    assert "Expired and revoked keys (1)" in page
    assert "Revoked" in page
    assert browser.get(path.replace("revoke", "rotate")).location == CONNECTIONS


def test_key_opens_no_page_and_sign_in_no_endpoint(
    browser: Browser, client: FlaskClient, shop: ShopBuilder
) -> None:
    headers = {"Authorization": f"Bearer {shop.mint()}"}
    for path in (CONNECTIONS, NEW, "/settings/activity"):
        answer = Browser(client).get(path, headers=headers)
        assert answer.location.startswith("/settings/sign-in"), path
    browser.signed_in()
    for path in ("/v1/forms", "/v1/attribution", "/v1/nothing"):
        answer = browser.get(path)
        assert answer.status_code == 401, path
        assert answer.mimetype == "application/json"
        assert "Set-Cookie" not in answer.headers
