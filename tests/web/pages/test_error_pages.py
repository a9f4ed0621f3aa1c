"""An error is told on a page: what happened, and a way on."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, text
from werkzeug.test import TestResponse

from tests.support.people import ACCOUNT, CONNECTIONS, SIGN_IN, Browser, add_member
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app
from web.http.admission import PER_SHOP
from web.http.services import services_of

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
DEEP = "/revenue?range=2026-01-01..2026-01-31&compare=year&sort=campaigns.-orders"


def assert_page(answer: TestResponse, status: int, title: str) -> None:
    """A page with the product's name and icon, a title, and the request's id."""
    assert (answer.status_code, answer.mimetype) == (status, "text/html")
    assert f"<title>{title} – formrevenue</title>" in answer.text
    assert f"<h1>{title}</h1>" in answer.text
    assert '<link rel="icon" type="image/svg+xml" href="/settings/static/icon.svg">' in answer.text
    assert answer.headers["X-Request-Id"] in answer.text


def assert_retries(answer: TestResponse) -> None:
    """The browser asks for the same address again by itself, at a calm pace."""
    assert_page(answer, 503, "Not available right now")
    assert answer.headers["Refresh"] == "5"
    assert "does not answer" in answer.text
    assert "tries again by itself every 5 seconds" in answer.text
    assert '<a class="button" href="">Try again now</a>' in answer.text


def assert_parts(client: FlaskClient) -> None:
    """The files that the page of an error loads are there."""
    for name in ("icon.svg", "pages.css"):
        with client.get(f"/settings/static/{name}") as answer:
            assert answer.status_code == 200


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[tuple[Browser, Engine]]:
    """A browser in which Ada is signed in, and the warehouse behind it."""
    engine = open_engine(postgres_url)
    add_member(engine, ShopBuilder(engine))
    app = create_app(postgres_url)
    yield Browser(app.test_client()).signed_in(), engine
    close_app(app)
    engine.dispose()


def test_a_warehouse_that_is_stuck(postgres: tuple[Browser, Engine]) -> None:
    browser, engine = postgres
    form = browser.form(ACCOUNT)
    with engine.connect() as holder:
        holder.execute(text("LOCK TABLE sign_in IN ACCESS EXCLUSIVE MODE"))
        stuck = browser.get(DEEP, headers=HTML)
        assert_retries(stuck)
        # A form that is sent again would act twice.
        sent = browser.client.post("/settings/sign-out", data=form)
        assert_page(sent, 503, "Not available right now")
        assert "Refresh" not in sent.headers
        assert "tries again" not in sent.text
        assert 'href=""' not in sent.text
        # These need no warehouse.
        assert_parts(browser.client)
    assert browser.get(DEEP, headers=HTML).status_code == 200


@pytest.mark.parametrize("missing", ["postgresql", "sqlite"])
@pytest.mark.parametrize("secret", ["", "one of our own, of 32 characters"])
def test_a_warehouse_that_is_not_there(
    missing: str, secret: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor, perhaps, is the secret that signs cookies: the page and what it loads need nothing of it."""
    monkeypatch.setenv("SECRET_KEY", secret)
    urls = {
        "postgresql": "postgresql+psycopg://nobody@127.0.0.1:9/nothing",
        "sqlite": f"sqlite:///{tmp_path / 'nothing.db'}",
    }
    app = create_app(urls[missing])
    client = app.test_client()
    if secret:
        with client.session_transaction(SIGN_IN) as session:
            session["token"] = "token"
        for path in ("/", DEEP, SIGN_IN, CONNECTIONS):
            assert_retries(client.get(path, headers=HTML))
    else:
        sent = client.post(SIGN_IN, data={"csrf_token": "token"}, headers=HTML)
        assert_page(sent, 503, "Not available right now")
    assert_retries(client.get(f"{SIGN_IN}/token", headers=HTML))
    assert_parts(client)
    close_app(app)


def test_a_damaged_file(engine: Engine, browser: Browser) -> None:
    if engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL's files are its own")
    browser.signed_in()
    with engine.begin() as connection:
        connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    path = Path(str(engine.url.database))
    whole = path.read_bytes()
    engine.dispose()
    services_of(browser.client.application).database.close()
    path.write_bytes(b"\xa5" * len(whole))
    assert_retries(browser.get(DEEP, headers=HTML))
    services_of(browser.client.application).database.close()
    path.write_bytes(whole)
    assert browser.get(DEEP, headers=HTML).status_code == 200


def test_nothing_at_an_address(client: FlaskClient, browser: Browser) -> None:
    """People get a page wherever they look; programs get JSON where there are no pages."""
    form = "/forms/8f0e0000-0000-4000-8000-000000000001"
    for path in ("/overview", "/nothing/at/all", "/settings/nothing", "/docs/nothing"):
        answer = client.get(path, headers=HTML)
        assert_page(answer, 404, "Not found")
        assert f'<a class="button quiet" href="{SIGN_IN}">Go to the sign-in</a>' in answer.text
        assert "Refresh" not in answer.headers
    browser.signed_in()
    for path in (form, "/settings/nothing", f"{CONNECTIONS}/none/revoke"):
        answer = browser.get(path, headers=HTML)
        assert_page(answer, 404, "Not found")
        assert '<a class="button quiet" href="/">Go to the overview</a>' in answer.text
    for path in ("/overview", "/nothing/at/all", "/", "/docs/nothing"):
        refused(client.get(path), 404, "not_found", path)
    for path in ("/v1/nothing", "/v1", "/v1nothing"):
        assert client.get(path, headers=HTML).mimetype == "application/json", path


def test_a_page_that_is_not_allowed(client: FlaskClient, engine: Engine, shop: ShopBuilder) -> None:
    """The pages of the shop are still there to choose from."""
    add_member(engine, shop, permissions=["forms:edit"])
    answer = Browser(client).signed_in().get("/discounts", headers=HTML)
    assert_page(answer, 403, "Not allowed")
    assert "Discounts view permission" in answer.text
    assert '<nav aria-label="Pages">' in answer.text
    assert "Go to the overview" in answer.text
    assert "Refresh" not in answer.headers


def test_too_many_requests_of_a_shop(browser: Browser, shop: ShopBuilder) -> None:
    browser.signed_in()
    # The first page sets a token, from then on the cookie is known.
    assert {browser.get(DEEP, headers=HTML).status_code for _ in range(2)} == {200}
    threads = services_of(browser.client.application).admission.threads
    with ExitStack() as others:
        for _ in range(PER_SHOP):
            others.enter_context(threads.hold(shop.key))
        answer = browser.get(DEEP, headers=HTML)
    assert_page(answer, 429, "Too many requests")
    assert answer.headers["Retry-After"] == "1"
    # By itself, it would be one more of them.
    assert "Refresh" not in answer.headers
    assert '<a class="button" href="">Try again now</a>' in answer.text
    assert browser.get(DEEP, headers=HTML).status_code == 200
