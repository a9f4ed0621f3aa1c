"""Headers, error pages and cookies of all pages."""

import re
import time

import pytest
from flask.testing import FlaskClient
from itsdangerous import TimestampSigner
from sqlalchemy import Engine, select

from tests.support.fixtures import Clock
from tests.support.people import ACCOUNT, CONNECTIONS, NEW, SIGN_IN, Browser, key_on, new_link
from tests.support.shop_builder import ShopBuilder
from warehouse.tables import secret
from web.app import close_app, create_app
from web.http.services import services_of
from web.pages.session_cookie import shared_secret

COOKIE_KEY = select(secret).where(secret.c.name == "cookie key")

DIRECTIVES = {
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
}


def test_each_page_has_the_headers(browser: Browser, engine: Engine, clock: Clock) -> None:
    link = new_link(engine, "ada@example.com", clock.now)
    answers = [browser.get(path) for path in (SIGN_IN, link, CONNECTIONS, "/settings/nothing")]
    answers.append(browser.sign_in(password="a wrong password"))
    answers.append(browser.client.post(SIGN_IN))
    browser.signed_in()
    answers += [browser.get(path) for path in (CONNECTIONS, NEW, "/settings/activity", ACCOUNT)]
    answers.append(browser.post(NEW, name="x", scopes=["analytics:read"]))
    assert [answer.status_code for answer in answers] == [
        *(200, 200, 302, 404, 403, 400),
        *(200, 200, 200, 200, 200),
    ]
    assert key_on(answers[-1])
    for answer in answers:
        assert set(answer.headers["Content-Security-Policy"].split("; ")) == DIRECTIVES
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Cache-Control"] == "no-store"
        page = answer.get_data(as_text=True)
        assert not re.search(r"<style|style=|<script(?! src=)|\son\w+=|javascript:", page)
        assert not re.search(r'(src|href|action)="(https?:)?//', page)


def test_headers_of_static_files(browser: Browser) -> None:
    for name in ("pages.css", "copy.js", "icon.svg"):
        answer = browser.get(f"/settings/static/{name}")
        answer.close()
        assert answer.status_code == 200
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-cache"
        assert answer.headers["ETag"]
    assert browser.get("/settings/static/../pages.py").status_code == 404


def test_a_page_says_which_methods_it_takes(browser: Browser) -> None:
    for path, methods in (
        (SIGN_IN, "GET, HEAD, OPTIONS, POST"),
        ("/settings/sign-out", "OPTIONS, POST"),
        ("/setup", "GET, HEAD, OPTIONS"),
        ("/settings/static/pages.css", "GET, HEAD, OPTIONS"),
    ):
        answer = browser.client.options(path)
        assert (answer.status_code, answer.headers["Allow"]) == (204, methods), path
        assert answer.get_data() == b""


def test_errors_are_pages_here_and_json_in_the_api(browser: Browser) -> None:
    for path, method, status in (
        ("/settings/nothing", "GET", 404),
        ("/settings/sign-in", "DELETE", 405),
        ("/settings/activity?before=x", "GET", 404),
        ("/settings/password/nothing", "GET", 404),
    ):
        browser.signed_in()
        answer = browser.client.open(path, method=method)
        assert (answer.status_code, answer.mimetype) == (status, "text/html"), path
        assert answer.headers["X-Request-Id"] in answer.get_data(as_text=True)
    for path in ("/v1/nothing", "/nothing", "/settingsnothing"):
        assert browser.get(path).mimetype == "application/json"


def test_forms_of_other_types_are_not_read(browser: Browser) -> None:
    nameless = "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"
    for kind, body in (
        ("multipart/form-data; boundary=b", nameless),
        ("application/json", "[]"),
        ("text/plain", "x"),
    ):
        for path in (SIGN_IN, NEW):
            answer = browser.client.post(path, data=body, content_type=kind)
            assert (answer.status_code, answer.mimetype) == (415, "text/html"), kind


def test_failure_shows_no_detail(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("a secret of the inside")

    browser.signed_in()
    monkeypatch.setattr("web.pages.connections.api_keys.list_keys", broken)
    answer = browser.get(CONNECTIONS)
    assert (answer.status_code, answer.mimetype) == (500, "text/html")
    page = answer.get_data(as_text=True)
    assert "Something went wrong on our side." in page
    assert not re.search("secret of|Traceback|RuntimeError|\\.py", page)


def test_warehouse_that_is_down(client: FlaskClient, clock: Clock) -> None:
    url = "postgresql+psycopg://nobody@127.0.0.1:9/nothing"
    app = create_app(url, clock)
    try:
        answer = app.test_client().get(SIGN_IN)
        assert (answer.status_code, answer.mimetype) == (503, "text/html")
        assert "does not answer" in answer.get_data(as_text=True)
    finally:
        close_app(app)


def test_cookie_is_secure_behind_https(browser: Browser) -> None:
    plain = browser.get(SIGN_IN).headers["Set-Cookie"]
    assert re.fullmatch(r"member=[^;]+; HttpOnly; Path=/; SameSite=Lax", plain)
    secure = browser.get(SIGN_IN, base_url="https://localhost").headers["Set-Cookie"]
    assert re.fullmatch(r"__Host-member=[^;]+; Secure; HttpOnly; Path=/; SameSite=Lax", secure)


def test_forwarded_headers_of_a_trusted_proxy(
    client: FlaskClient, warehouse_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", "10.0.0.0/8, 2001:db8::1")
    seen: list[str | None] = []
    app = create_app(
        warehouse_url, clock, observe=lambda handled: seen.append(handled.client_address)
    )
    said = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.1, 203.0.113.5"}
    for proxy, believed in (
        ("10.1.2.3", True),
        # As a listener on `::` has it.
        ("::ffff:10.1.2.3", True),
        ("2001:db8::1", True),
        ("2001:db8::2", False),
        ("192.0.2.1", False),
        ("", False),
    ):
        answer = Browser(app.test_client(), REMOTE_ADDR=proxy).get(SIGN_IN, headers=said)
        assert ("Secure" in answer.headers["Set-Cookie"]) is believed, proxy
        assert seen.pop() == ("203.0.113.5" if believed else proxy)
    # One proxy behind another: the client is the last that is none of them.
    chain = {**said, "X-Forwarded-For": "198.51.100.1, 203.0.113.5, 10.9.9.9"}
    Browser(app.test_client(), REMOTE_ADDR="10.1.2.3").get(SIGN_IN, headers=chain)
    assert seen.pop() == "203.0.113.5"
    close_app(app)
    assert "Secure" not in Browser(client).get(SIGN_IN, headers=said).headers["Set-Cookie"]


def test_api_ignores_cookies(client: FlaskClient, engine: Engine, shop: ShopBuilder) -> None:
    client.get("/v1/forms", headers={"Authorization": f"Bearer {shop.mint()}"})
    with engine.connect() as connection:
        assert connection.execute(COOKIE_KEY).all() == []


def test_clock_of_another_host_may_be_ahead(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as ahead:
        ahead.setattr(TimestampSigner, "get_timestamp", lambda _signer: int(time.time()) + 2)
        browser.signed_in()
        token = browser.form(CONNECTIONS)["csrf_token"]
    assert browser.is_in()
    assert browser.client.post(CONNECTIONS, data={"csrf_token": token}).status_code != 400


def test_processes_share_the_key_that_signs_cookies(
    browser: Browser,
    engine: Engine,
    warehouse_url: str,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    browser.signed_in()
    another = create_app(warehouse_url, clock)
    cookie = browser.client.get_cookie("member")
    assert cookie
    elsewhere = Browser(another.test_client())
    elsewhere.client.set_cookie("member", cookie.value)
    assert elsewhere.is_in()
    with engine.connect() as connection:
        (row,) = connection.execute(COOKIE_KEY)
    assert row.value == shared_secret(services_of(another).database)
    close_app(another)
    monkeypatch.setenv("SECRET_KEY", "one of our own, of 32 characters")
    with_own = create_app(warehouse_url, clock)
    stranger = Browser(with_own.test_client())
    stranger.client.set_cookie("member", cookie.value)
    assert not stranger.is_in()
    close_app(with_own)
