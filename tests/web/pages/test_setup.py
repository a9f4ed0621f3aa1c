"""`/setup`: what it shows of the shop, what it leads to, and each source as it begins to arrive."""

import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, insert, select

from tests.support.fixtures import Clock
from tests.support.import_files import account, event, order, spend
from tests.support.people import Browser, add_member, await_background_writes
from tests.support.shop_builder import ShopBuilder, writing
from tests.web.pages.conftest import Jobs
from warehouse.domain.example_rows import EXAMPLE_ROWS
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND
from warehouse.intake.shop_pulls import decrypted
from warehouse.operations import collectors
from warehouse.tables import pull
from web.auth import sessions
from web.pages.setup import KINDS

SETUP = "/setup"
SHOPIFY = "/setup/shopify"
KEY = b64encode(b"k" * 32).decode()
LATER = 3_600 * MICROS_PER_SECOND


def shown(browser: Browser, path: str = SETUP) -> str:
    """The text of the page, without its marks."""
    page = browser.signed_in().get(path).get_data(as_text=True)
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def pulls_of(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(select(pull).order_by(pull.c.name)))


def add_pull(engine: Engine, shop_key: int, name: str, **values: Any) -> None:
    with writing(engine) as connection:
        connection.execute(insert(pull), {"shop_key": shop_key, "name": name, **values})


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "This line works on this computer alone: no visitor reaches http://"),
        (
            "http://127.0.0.2:9",
            "This line works on this computer alone: no visitor reaches http://",
        ),
        ("http://[::1]:9", "This line works on this computer alone: no visitor reaches http://"),
        ("http://collect.example", "This line works on pages without HTTPS alone: a browser loads"),
        ("https://collect.example", ""),
    ],
)
def test_the_line_says_where_it_works(
    browser: Browser, shop: ShopBuilder, monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    monkeypatch.setenv("COLLECT_URL", address)
    browser.signed_in().post(
        "/settings/connections/write-keys/new", name="shop", origins="https://shop.example"
    )
    text = shown(browser)
    assert "formrevenue.js" in text
    assert (said or "Copy this line") in text
    for name in ("COLLECT_URL", "PUBLIC_URL", "TRUSTED_PROXIES"):
        assert (f" {name} " in text.partition("Copy this line")[0]) == bool(said), name


def test_a_new_shop_is_led_from_the_overview_to_its_snippet(
    browser: Browser, shop: ShopBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLLECT_URL", "https://collect.example/")
    overview = browser.signed_in().get("/", headers={"Accept": "text/html"})
    assert overview.get_data(as_text=True).count(f'href="{SETUP}"') == 2
    assert f'href="{SETUP}"' in browser.get("/data").get_data(as_text=True)
    text = shown(browser)
    assert f"Shop {shop.shop_id} Name none Currency USD Time zone UTC" in text
    assert text.count("nothing yet") == 5
    assert "formrevenue.js" not in text
    assert "No scheduler has been seen." in text
    page = browser.get(SETUP).get_data(as_text=True)
    new = re.search(r'href="([^"]*write-keys/new[^"]*)"', page)
    assert new
    for origins in ("", "https://Shop.example/"):
        created = browser.post(new[1], name="site", origins=origins)
        assert created.location == SETUP
        has_line = '<script async src="https://collect.example/formrevenue.js" data-write-key="fwk_'
        page = browser.get(SETUP).get_data(as_text=True)
        # A key without origins is for servers alone.
        line = has_line.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;")
        assert (line in page) is bool(origins)
    assert "The line works on pages of https://shop.example." in shown(browser)


def test_a_form_goes_back_to_pages_of_this_site_alone(browser: Browser) -> None:
    browser.signed_in()
    path = "/settings/connections/write-keys/new?next=https://evil.example/"
    created = browser.post(path, name="site", origins="")
    assert created.location == "/settings/connections"


def test_events_without_an_id_are_told_for_a_week(
    browser: Browser, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    assert "without an id" not in shown(browser)
    with writing(engine) as connection:
        collectors.add_uncollected(connection, {(shop.key, collectors.NO_ID): 412}, clock.now)
        collectors.add_uncollected(
            connection, {(shop.key, collectors.TOO_MANY_BYTES): 7}, clock.now
        )
    told = "412 events without an id of the visitor or the form session came on"
    assert told in shown(browser)
    clock.now += 7 * MICROS_PER_DAY
    assert told in shown(browser)
    clock.now += MICROS_PER_DAY
    assert "without an id" not in shown(browser)


def test_each_source_as_it_begins_to_arrive(
    browser: Browser, shop: ShopBuilder, jobs: Jobs
) -> None:
    mine = {"shop_id": shop.shop_id}
    other = ShopBuilder(shop.engine, "other.example")
    jobs.load("events", event(shop_id=other.shop_id))
    assert shown(browser).count("nothing yet") == 5
    assert "The first figures come with the first events or orders." in shown(browser)
    jobs.load("events", *(event(event_id=f"e{n}", **mine) for n in range(3)))
    jobs.load("events", event(event_id="e4", **mine))
    assert "Some rows wait" in shown(browser)
    assert re.search(r"Events 4 imported \w+ \d+, \d{4}, \d+:\d\d.[AP]M UTC", shown(browser))
    assert browser.get(SETUP).headers["Refresh"] == "10; url=/setup"
    stopped = browser.get(f"{SETUP}?reload=off")
    assert "Refresh" not in stopped.headers
    assert "Look again every few seconds" in stopped.get_data(as_text=True)
    assert "Until orders have arrived, this page looks again" in shown(browser)
    jobs.load("orders", order(**mine))
    # No shop needs the rest, and nothing puts what waits into the figures.
    assert "Refresh" not in browser.get(SETUP).headers
    assert "nothing refreshes the figures yet" in shown(browser)
    jobs.load("ad-spend", spend(**mine), spend(date="2026-01-09", **mine))
    jobs.load("ad-accounts", account(synced_at="2026-01-05T06:07:08Z", **mine))
    jobs.load("exchange-rates", EXAMPLE_ROWS["exchange-rates"])
    text = shown(browser)
    assert "nothing yet" not in text
    assert re.search(r"Orders 1 imported \w+ \d+, \d+", text)
    assert re.search(r"Ad spend 2 of the days Jan \d+, 2026 to Jan 9, 2026", text)
    assert "Ad accounts 1 fetched Jan 5, 2026, 6:07 AM UTC Exchange" in text
    assert "Exchange rates 1 of the days Jan 30, 2026 " in text
    assert "Refresh" not in browser.get(SETUP).headers
    jobs.rollup()
    assert "All of it is in the figures: see the overview" in shown(browser)


def test_a_shop_without_figures_says_that_rows_wait(
    client: FlaskClient, engine: Engine, jobs: Jobs
) -> None:
    new = ShopBuilder(engine, "new.example", rolled_up=False)
    eve = Browser(client).signed_in(add_member(engine, new, "eve@example.com"))

    def overview() -> str:
        return eve.get("/", headers={"Accept": "text/html"}).get_data(as_text=True)

    assert "No figures yet" in overview()
    assert "Rows have come in" not in overview()
    jobs.load("events", event(shop_id=new.shop_id))
    page = overview()
    assert "<strong>Rows have come in</strong> and wait to be in the figures." in page
    # Without a scheduler, no time is promised.
    assert "Nothing refreshes the figures yet" in page
    assert "python -m jobs" not in page


def test_a_page_that_reloads_itself_does_not_keep_a_sign_in(
    browser: Browser, client: FlaskClient, engine: Engine, clock: Clock
) -> None:
    browser.signed_in()
    began = clock.now

    def seen_at() -> int:
        await_background_writes(client)
        with engine.connect() as connection:
            member = sessions.find(connection, token_of_session(browser), clock.now)
        assert member
        return member.seen_at

    clock.now += LATER // 2
    assert browser.get(SETUP).status_code == 200
    assert seen_at() == began
    browser.get("/settings/connections")
    assert seen_at() == clock.now
    clock.now += LATER // 2
    browser.get(SETUP)
    clock.now += LATER // 2
    assert browser.get(SETUP).status_code == 302


def token_of_session(browser: Browser) -> str:
    with browser.client.session_transaction() as session:
        return str(session["token"])


@pytest.mark.parametrize("ending", ["csv", "ndjson"])
def test_example_files_are_accepted(
    browser: Browser,
    shop: ShopBuilder,
    jobs: Jobs,
    tmp_path: Path,
    ending: str,
) -> None:
    files = {}
    browser.signed_in()
    for kind in KINDS:
        path = f"/setup/examples/{kind}.{ending}"
        assert f'href="{path}"' in browser.get(SETUP).get_data(as_text=True)
        answer = browser.get(path)
        assert answer.headers["Content-Disposition"] == f"attachment; filename={kind}.{ending}"
        files[kind] = tmp_path / f"{kind}.{ending}"
        files[kind].write_bytes(answer.data)
    for kind, file in files.items():
        assert jobs.take(kind, file)["new"] == 1, kind
    assert shown(browser).count("nothing yet") == 0
    for name in ("shops.csv", "events.xml", "events", "../setup.csv"):
        assert browser.get(f"/setup/examples/{name}").status_code == 404


def test_pulls_of_the_shop_and_why_one_failed(
    browser: Browser, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    assert "Nothing is set up for it yet." in shown(browser)
    assert "export SHOPIFY_CLIENT_ID" in shown(browser)
    other = ShopBuilder(engine, "other.example")
    failed = {"source": "shopify", "status": "error", "message": "<b>token</b> refused"}
    add_pull(engine, shop.key, "mine", schedule="5 * * * *", ran_at=clock.now, **failed)
    add_pull(engine, shop.key, "new", source="singer")
    add_pull(engine, 0, "ecb", source="ecb", status="ok", ran_at=clock.now, rows=41)
    add_pull(engine, other.key, "theirs", source="shopify", status="error", message="hidden")
    for path in (SETUP, "/data"):
        text = shown(browser, path)
        assert "failed" in text
        assert "&lt;b&gt;token&lt;/b&gt; refused" in text
        assert "python -m jobs pull shopify --name mine" in text
        assert "new has not run yet by hand only" in text
        assert "41 rows" in text
        assert "theirs" not in text
        assert "hidden" not in text
    assert "Some data are not fetched any more." in shown(browser, "/forms")


def test_shopify_credentials_are_kept_encrypted(
    browser: Browser, shop: ShopBuilder, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.signed_in()
    assert browser.get(SHOPIFY).status_code == 404
    assert f'href="{SHOPIFY}"' not in browser.get(SETUP).get_data(as_text=True)
    monkeypatch.setenv("CREDENTIALS_KEY", KEY)
    assert f'href="{SHOPIFY}"' in browser.get(SETUP).get_data(as_text=True)
    assert f'value="{shop.shop_id}"' in browser.get(SHOPIFY).get_data(as_text=True)
    secret = {"client_id": "an id", "client_secret": "a secret"}
    for domain in ("shop.example", "https://x.myshopify.com", ""):
        assert browser.post(SHOPIFY, domain=domain, **secret).status_code == 422
    assert browser.post(SHOPIFY, domain=shop.shop_id, client_id="x").status_code == 422
    assert pulls_of(engine) == []
    assert browser.post(SHOPIFY, domain=shop.shop_id, **secret).location == f"{SETUP}#pulls"
    (kept,) = pulls_of(engine)
    assert (kept.name, kept.shop_key, kept.schedule, kept.lookback_days) == (
        *(f"shopify-{shop.shop_id}", shop.key),
        *("5 * * * *", 1),
    )
    assert decrypted(kept.credentials) == secret
    assert json.loads(kept.config) == {}
    assert "a secret" not in browser.get(SETUP).get_data(as_text=True)
    assert "Set up a pull" in shown(browser, "/settings/activity")
    # Entered again, how far it came stays.
    with writing(engine) as connection:
        connection.execute(pull.update().values(state='{"updated_through": "x"}'))
    browser.post(SHOPIFY, domain="Other.myshopify.com", **secret)
    (kept,) = pulls_of(engine)
    assert json.loads(kept.config) == {"domain": "other.myshopify.com"}
    assert kept.state == '{"updated_through": "x"}'


def test_a_pull_of_another_shop_is_not_replaced(
    browser: Browser, shop: ShopBuilder, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CREDENTIALS_KEY", KEY)
    other = ShopBuilder(engine, "other.example")
    add_pull(engine, other.key, f"shopify-{shop.shop_id}", source="shopify", credentials="theirs")
    browser.signed_in()
    refused = browser.post(SHOPIFY, domain=shop.shop_id, client_id="a", client_secret="b")
    assert refused.status_code == 422
    assert "to set it up under another name" in refused.get_data(as_text=True)
    (kept,) = pulls_of(engine)
    assert (kept.shop_key, kept.credentials) == (other.key, "theirs")


def test_a_member_who_may_not_manage(
    browser: Browser, client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop, "bob@example.com", ("discounts:view",))
    bob = Browser(client).signed_in("bob@example.com")
    for path in (SETUP, SHOPIFY, "/setup/examples/events.csv", "/setup/shop"):
        assert bob.get(path).status_code == 403, path
    assert f'href="{SETUP}"' not in bob.get("/settings/account").get_data(as_text=True)
    nobody = Browser(client).get(SETUP)
    assert (nobody.status_code, nobody.location) == (302, "/settings/sign-in?next=/setup")
