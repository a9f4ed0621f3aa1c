"""Keys on the page: minted, shown once, used, rotated, revoked, expired."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.web.builders import ShopBuilder, instant
from tests.web.conftest import Clock
from tests.web.members.people import CONNECTIONS, NEW, Browser, key_on
from warehouse.days import MICROS_PER_SECOND
from web import keys

HOUR = 3600 * MICROS_PER_SECOND


def opens(client: FlaskClient, key: str) -> bool:
    answer = client.get("/v1/forms", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code in (200, 401)
    return answer.status_code == 200


def only(engine: Engine, **wanted: object) -> keys.Key:
    with engine.connect() as connection:
        (found,) = (
            key
            for key in keys.list_keys(connection)
            if all(getattr(key, name) == value for name, value in wanted.items())
        )
    return found


def test_a_key_is_shown_once(browser: Browser, client: FlaskClient, engine: Engine) -> None:
    browser.signed_in()
    form = browser.form(NEW)
    data = {**form, "name": " A <b>tool</b> ", "scopes": ["analytics:read"], "expires": ""}
    answer = browser.client.post(NEW, data=data)
    key = key_on(answer)
    page = answer.get_data(as_text=True)
    assert f'curl -H "Authorization: Bearer {key}" "http://localhost/v1/forms"' in page.replace(
        "&#34;", '"'
    )
    assert opens(client, key)
    listed = browser.get(CONNECTIONS).get_data(as_text=True)
    assert key not in listed
    assert key[:13] in listed
    assert "A &lt;b&gt;tool&lt;/b&gt;" in listed
    # The same form once more (a reload) mints nothing, and shows nothing.
    again = browser.client.post(NEW, data=data)
    assert again.location == CONNECTIONS
    assert "was sent before" in browser.get(CONNECTIONS).get_data(as_text=True)
    assert only(engine).created_by == "ada@example.com"


def test_the_call_names_the_public_address(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBLIC_URL", "https://stats.example/")
    answer = browser.signed_in().post(NEW, name="x", scopes=["analytics:read"])
    assert '"https://stats.example/v1/forms"' in answer.get_data(as_text=True)


def test_the_list_says_what_is_known_of_a_key(
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
        "31 Mar 2026, 12:00 UTC",
        "ada@example.com",
        "Never",
        "2 Apr 2026, end of the day UTC",
        "Active",
    ):
        assert text in page, text
    clock.now += HOUR // 2
    assert opens(client, key)
    later = client.application.extensions["later"]
    later.stop()
    later._thread = None
    assert "31 Mar 2026, 12:30 UTC" in browser.get(CONNECTIONS).get_data(as_text=True)


def test_a_key_expires_with_its_last_day(
    browser: Browser, client: FlaskClient, clock: Clock
) -> None:
    browser.signed_in()
    key = browser.mint("analytics:read", expires="2026-03-31")
    clock.now = instant("2026-04-01T00:00:00") - 1
    assert opens(client, key)
    clock.now += 1
    assert not opens(client, key)
    assert "Expired" in browser.signed_in().get(CONNECTIONS).get_data(as_text=True)


def test_what_a_key_form_does_not_take(browser: Browser, engine: Engine) -> None:
    browser.signed_in()
    good: dict[str, Any] = {"name": "x", "scopes": ["analytics:read"], "expires": ""}
    wrongs: tuple[dict[str, Any], ...] = (
        {"name": " "},
        {"name": "x" * 101},
        {"name": "a\x00b"},
        {"scopes": []},
        {"expires": "2026-03-30"},
        {"expires": "31.3.2026"},
        {"expires": "9999-12-31"},
        {"once": ""},
    )
    for wrong in wrongs:
        answer = browser.post(NEW, **{**good, **wrong})
        assert answer.status_code == 422, wrong
        assert 'role="alert"' in answer.get_data(as_text=True)
    with engine.connect() as connection:
        assert keys.list_keys(connection) == []


def test_rotation(browser: Browser, client: FlaskClient, engine: Engine, clock: Clock) -> None:
    for grace, length in (("now", 0), ("1h", HOUR), ("24h", 24 * HOUR), ("7d", 7 * 24 * HOUR)):
        browser.signed_in()
        old = browser.mint("forms:write", "analytics:read", name=grace)
        path = f"{CONNECTIONS}/{only(engine, name=grace).credential_id}/rotate"
        form = browser.form(path)
        new = key_on(browser.client.post(path, data={**form, "grace": grace, "expires": ""}))
        rotated_at = clock.now
        assert new != old
        assert opens(client, new)
        replaced = only(engine, name=grace, hint=old[:13])
        successor = only(engine, name=grace, hint=new[:13])
        assert replaced.replaced_by == successor.credential_id
        assert successor.scopes == replaced.scopes == ("analytics:read", "forms:write")
        assert replaced.expires_at == rotated_at + length
        # Again: neither by the page nor by the same form.
        assert browser.get(path).location == CONNECTIONS
        again = browser.client.post(path, data={**form, "grace": grace, "expires": ""})
        assert again.location == CONNECTIONS
        if length:
            clock.now = rotated_at + length - 1
            assert opens(client, old)
        clock.now = rotated_at + length
        assert not opens(client, old)
        assert opens(client, new)


def test_rotation_never_lets_a_key_live_longer(
    browser: Browser, client: FlaskClient, engine: Engine, clock: Clock
) -> None:
    browser.signed_in()
    old = browser.mint("analytics:read", expires="2026-04-01")
    path = f"{CONNECTIONS}/{only(engine).credential_id}/rotate"
    assert 'value="2026-04-01"' in browser.get(path).get_data(as_text=True)
    browser.post(path, grace="7d", expires="2026-04-01")
    assert only(engine, hint=old[:13]).expires_at == instant("2026-04-02T00:00:00")
    for wrong in ({"grace": "1y"}, {"grace": ""}, {"grace": "1h", "expires": "2020-01-01"}):
        key = browser.mint("analytics:read", name=str(wrong))
        found = only(engine, hint=key[:13])
        answer = browser.post(f"{CONNECTIONS}/{found.credential_id}/rotate", **wrong)
        assert answer.status_code == 422, wrong
        assert only(engine, hint=key[:13]).replaced_by == ""


def test_revocation_counts_from_the_next_request_on(
    browser: Browser, client: FlaskClient, engine: Engine
) -> None:
    browser.signed_in()
    key = browser.mint("analytics:read")
    path = f"{CONNECTIONS}/{only(engine).credential_id}/revoke"
    assert "stops at once" in browser.get(path).get_data(as_text=True)
    assert opens(client, key)
    assert browser.post(path).location == CONNECTIONS
    assert not opens(client, key)
    page = browser.get(CONNECTIONS).get_data(as_text=True)
    assert "Keys that no longer work (1)" in page
    assert "Revoked" in page
    assert browser.get(path.replace("revoke", "rotate")).location == CONNECTIONS


def test_a_key_opens_no_page_and_a_sign_in_no_endpoint(
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
