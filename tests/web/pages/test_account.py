"""The Account page: change the password; see and end other sign-ins."""

import re
from datetime import UTC, datetime, timedelta

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.people import (
    ACCOUNT,
    HOME,
    PASSWORD,
    SIGN_IN,
    Browser,
    add_member,
    new_link,
    token_of,
)
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND
from web.auth import audit, passwords, sessions
from web.auth.audit import AuditEvent
from web.auth.sign_in_limits import PER_BROWSER

NEW = "quite another sentence"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
)


def browser_of(client: FlaskClient, address: str, agent: str) -> Browser:
    return Browser(client, REMOTE_ADDR=address, HTTP_USER_AGENT=agent)


def page_of(browser: Browser) -> str:
    return browser.get(ACCOUNT).get_data(as_text=True)


def events(engine: Engine, *actions: str) -> list[AuditEvent]:
    with engine.connect() as connection:
        listed = audit.list_events(connection)
    return [event for event in listed if event.action in actions]


def test_changing_the_password_ends_all_other_sign_ins(
    client: FlaskClient, engine: Engine, ada: str, clock: Clock
) -> None:
    here, elsewhere = Browser(client).signed_in(), Browser(client).signed_in()
    link = new_link(engine, ada, clock.now)
    changed = here.post(ACCOUNT, old=PASSWORD, password=NEW, again=NEW)
    assert (changed.status_code, changed.location) == (302, ACCOUNT)
    assert "Your password is changed." in page_of(here)
    assert here.is_in()
    assert not elsewhere.is_in()
    assert here.get(link).status_code == 404
    assert Browser(client).sign_in().status_code == 403
    assert Browser(client).sign_in(password=NEW).status_code == 302
    (event,) = events(engine, "password_changed")
    assert (event.actor, event.source_ip, event.detail) == (ada, "127.0.0.1", ada)


def test_the_browser_gets_a_new_sign_in_with_the_new_password(browser: Browser) -> None:
    browser.signed_in()
    cookie = browser.client.get_cookie("member")
    assert cookie
    browser.post(ACCOUNT, old=PASSWORD, password=NEW, again=NEW)
    browser.client.set_cookie("member", cookie.value)
    assert not browser.is_in()


def test_a_password_that_cannot_be_changed(browser: Browser, engine: Engine) -> None:
    browser.signed_in()
    for old, password, again, message in (
        ("", NEW, NEW, "Enter your current password."),
        ("a wrong password", NEW, NEW, "This is not your current password."),
        (PASSWORD, NEW, NEW + "x", "The two passwords are not the same."),
        (PASSWORD, "short", "short", "Use at least 12 characters."),
        (PASSWORD, "ada@example.com", "ada@example.com", "too easy to guess"),
    ):
        answer = browser.post(ACCOUNT, old=old, password=password, again=again)
        assert answer.status_code == 422, message
        assert message in answer.get_data(as_text=True)
        assert browser.is_in()
    (event,) = events(engine, "password_change_refused")
    assert (event.actor, event.times) == ("ada@example.com", 1)
    assert events(engine, "password_changed") == []


def test_the_old_password_is_not_to_be_guessed(
    browser: Browser, client: FlaskClient, engine: Engine
) -> None:
    browser.signed_in()
    for _ in range(PER_BROWSER.times):
        answer = browser.post(ACCOUNT, old="a wrong password", password=NEW, again=NEW)
        assert answer.status_code == 422
    answer = browser.post(ACCOUNT, old=PASSWORD, password=NEW, again=NEW)
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert "Too many attempts." in answer.get_data(as_text=True)
    (event,) = events(engine, "password_change_refused")
    assert event.times == PER_BROWSER.times
    # The member is not kept out by it.
    assert Browser(client).sign_in().status_code == 302


def test_a_change_finds_no_place_to_hash(browser: Browser) -> None:
    browser.signed_in()
    with passwords.place_to_hash("a"), passwords.place_to_hash("b"):
        answer = browser.post(ACCOUNT, old=PASSWORD, password=NEW, again=NEW)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert browser.post(ACCOUNT, old=PASSWORD, password=NEW, again=NEW).status_code == 302


def test_sign_ins_are_listed_and_ended(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, ada: str, clock: Clock
) -> None:
    add_member(engine, shop, "bea@example.com")
    bea = Browser(client).signed_in("bea@example.com")
    phone = browser_of(client, "198.51.100.7", IPHONE).signed_in()
    clock.now += 600 * MICROS_PER_SECOND
    desk = browser_of(client, "192.0.2.1", FIREFOX).signed_in()
    page = page_of(desk)
    assert re.findall(r"<h3>(.*)</h3>", page) == ["Firefox on Linux", "Safari on iPhone"]
    for shown in (
        "192.0.2.1",
        "198.51.100.7",
        *(f"Mar 31, 2026, 12:{minutes}\N{NARROW NO-BREAK SPACE}PM UTC" for minutes in ("00", "10")),
    ):
        assert shown in page
    assert page.index("This browser") < page.index("Safari")
    assert "End all others" not in page

    (path,) = re.findall(r'action="(/settings/account/sign-ins/\w+/end)"', page)
    # Nobody ends the sign-in of another member.
    assert bea.post(path, ACCOUNT).status_code == 302
    assert phone.is_in()
    assert desk.post(path, ACCOUNT).location == ACCOUNT
    assert "Ended 1 sign-in." in page_of(desk)
    assert not phone.is_in()
    assert desk.is_in()
    assert bea.is_in()
    assert "You are signed in nowhere else." in page_of(desk)
    (event,) = events(engine, "sign_ins_ended")
    assert (event.actor, event.detail) == (ada, "1 sign-in")
    own = Browser(client).signed_in()
    ended = re.findall(r'action="(/settings/account/sign-ins/\w+/end)"', page_of(own))
    assert len(ended) == 1


def test_all_other_sign_ins_are_ended_at_once(client: FlaskClient, ada: str) -> None:
    here, *others = (Browser(client).signed_in() for _ in range(4))
    assert "End all others" in page_of(here)
    here.post("/settings/account/sign-ins/end", ACCOUNT)
    assert "Ended 3 sign-ins." in page_of(here)
    assert not any(other.is_in() for other in others)
    assert here.is_in()


def test_a_sign_in_that_has_expired_is_not_listed(
    client: FlaskClient, ada: str, clock: Clock
) -> None:
    Browser(client).signed_in()
    clock.now += sessions.IDLE_LIMIT
    assert "You are signed in nowhere else." in page_of(Browser(client).signed_in())


def test_a_sign_in_is_shown_whatever_the_browser_says(
    client: FlaskClient, engine: Engine, ada: str
) -> None:
    for agent in ("", "curl/8.0", "<script>Windows</script>", "x" * 5_000):
        browser_of(client, "192.0.2.1", agent).signed_in()
    page = page_of(browser_of(client, "192.0.2.2", FIREFOX).signed_in())
    assert sorted(re.findall(r"<h3>(.*)</h3>", page)) == [
        *["An unknown browser"] * 3,
        "Firefox on Linux",
        "Windows",
    ]


def test_the_page_needs_a_sign_in(client: FlaskClient) -> None:
    assert Browser(client).get(ACCOUNT).location == f"{SIGN_IN}?next={ACCOUNT}"


def test_a_sign_in_that_ends_meanwhile_changes_nothing(
    browser: Browser, engine: Engine, clock: Clock
) -> None:
    browser.signed_in()
    form = browser.form(ACCOUNT)
    with writing(engine) as connection:
        connection.exec_driver_sql("DELETE FROM sign_in")
    data = {**form, "old": PASSWORD, "password": NEW, "again": NEW}
    answer = browser.client.post(ACCOUNT, data=data)
    assert answer.location == SIGN_IN
    assert Browser(browser.client).sign_in().status_code == 302


class TestAPersistentSignIn:
    """ "Keep me signed in on this device"."""

    def test_it_lasts_unused_for_30_days(self, client: FlaskClient, ada: str, clock: Clock) -> None:
        stays, ends = Browser(client), Browser(client).signed_in()
        assert stays.post(SIGN_IN, email=ada, password=PASSWORD, stay="y").location == HOME
        clock.now += sessions.LIFETIME
        assert not ends.is_in()
        assert stays.is_in()
        clock.now += 30 * MICROS_PER_DAY - sessions.LIFETIME - 1
        # A new sign-in deletes those that have expired.
        Browser(client).signed_in()
        assert stays.is_in()
        clock.now += 1
        assert not stays.is_in()

    def test_the_cookie_outlives_the_window(self, client: FlaskClient, ada: str) -> None:
        def expires(**fields: str) -> datetime | None:
            browser = Browser(client)
            browser.post(SIGN_IN, email=ada, password=PASSWORD, **fields)
            cookie = browser.client.get_cookie("member")
            assert cookie
            return cookie.expires

        assert expires() is None
        end = expires(stay="y")
        assert end
        assert timedelta(days=29) < end - datetime.now(UTC) <= timedelta(days=30)

    def test_it_is_listed_with_its_end_and_ended_like_others(
        self, client: FlaskClient, ada: str
    ) -> None:
        stays = browser_of(client, "198.51.100.7", IPHONE)
        stays.post(SIGN_IN, email=ada, password=PASSWORD, stay="y")
        assert "Apr 30, 2026, 12:00\N{NARROW NO-BREAK SPACE}PM UTC" in page_of(stays)
        desk = Browser(client).signed_in()
        assert page_of(desk).count("Stays until") == 1
        desk.post("/settings/account/sign-ins/end", ACCOUNT)
        assert not stays.is_in()

    def test_a_new_password_ends_it(self, client: FlaskClient, ada: str, clock: Clock) -> None:
        """On the device where the password was changed, a new one takes its place."""
        here, elsewhere = Browser(client), Browser(client)
        for browser in (here, elsewhere):
            browser.post(SIGN_IN, email=ada, password=PASSWORD, stay="y")
        old = token_of(here)
        here.post(ACCOUNT, old=PASSWORD, password=NEW, again=NEW)
        assert not elsewhere.is_in()
        clock.now += sessions.LIFETIME
        assert here.is_in()
        here.client.set_cookie("member", old)
        assert not here.is_in()
