"""How often a sign-in can be tried."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, func, select

from tests.web.builders import ShopBuilder, writing
from tests.web.conftest import Clock
from tests.web.members.people import CONNECTIONS, SIGN_IN, Browser, add_member
from warehouse.days import MICROS_PER_SECOND
from warehouse.schema import allowance
from web.members.throttle import PER_ACCOUNT, PER_ADDRESS, WINDOW, Attempt, admit


@pytest.mark.parametrize("email", ["ada@example.com", "nobody@example.com"])
def test_an_account_is_tried_so_often_whether_or_not_it_exists(
    client: FlaskClient, ada: str, clock: Clock, email: str
) -> None:
    for number in range(PER_ACCOUNT):
        browser = Browser(client, REMOTE_ADDR=f"192.0.2.{number}")
        assert browser.sign_in(email, "a wrong password").status_code == 403
    stranger = Browser(client, REMOTE_ADDR="192.0.2.99")
    refused = stranger.sign_in(email)  # for ada, with the right password
    assert refused.status_code == 429
    wait = WINDOW // PER_ACCOUNT // MICROS_PER_SECOND
    assert int(refused.headers["Retry-After"]) == wait
    assert "Too many attempts" in refused.get_data(as_text=True)
    assert not stranger.is_in()
    clock.now += wait * MICROS_PER_SECOND
    again = stranger.sign_in(email)
    assert again.status_code == (302 if email == ada else 403)


def test_an_address_tries_so_many_accounts(browser: Browser, client: FlaskClient) -> None:
    form = browser.form(SIGN_IN)
    for number in range(PER_ADDRESS):
        data = {**form, "email": f"{number}@example.com", "password": "a guess"}
        answer = browser.client.post(SIGN_IN, data=data, environ_overrides=browser.environ)
        assert answer.status_code == 403
    assert browser.sign_in().status_code == 429
    assert Browser(client, REMOTE_ADDR="198.51.100.7").sign_in().location == CONNECTIONS


def test_what_a_client_says_of_its_address_does_not_count(browser: Browser, engine: Engine) -> None:
    for number in range(3):
        browser.client.post(
            SIGN_IN,
            data={**browser.form(SIGN_IN), "email": f"{number}@example.com", "password": "a guess"},
            headers={"X-Forwarded-For": f"203.0.113.{number}", "X-Real-IP": "203.0.113.9"},
        )
    with engine.connect() as connection:
        subjects = set(connection.execute(select(allowance.c.subject)).scalars())
    assert {one for one in subjects if one.startswith("address")} == {"address 127.0.0.1"}
    assert not any("example.com" in one for one in subjects)


def test_a_success_gives_the_account_its_allowance_back(browser: Browser) -> None:
    for _ in range(2):
        for _ in range(PER_ACCOUNT - 1):
            assert browser.sign_in(password="a wrong password").status_code == 403
        browser.signed_in()
        browser.post("/settings/sign-out", CONNECTIONS)


def test_attempts_at_once_do_not_pass_together(engine: Engine, clock: Clock) -> None:
    def attempt(number: int) -> int:
        with writing(engine) as connection:
            return admit(connection, Attempt("ada@example.com", f"192.0.2.{number}"), clock.now)

    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(attempt, range(3 * PER_ACCOUNT)))
    assert waits.count(0) == PER_ACCOUNT


def test_the_window_slides(engine: Engine, clock: Clock) -> None:
    def attempts(number: int) -> int:
        """How many of so many are admitted."""
        admitted = 0
        for place in range(number):
            with writing(engine) as connection:
                attempt = Attempt("ada@example.com", f"192.0.2.{place}")
                admitted += admit(connection, attempt, clock.now) == 0
        return admitted

    assert attempts(20) == PER_ACCOUNT
    clock.now += WINDOW // 2
    assert attempts(20) == PER_ACCOUNT // 2
    clock.now += WINDOW
    assert attempts(20) == PER_ACCOUNT
    clock.now += 2 * WINDOW
    with writing(engine) as connection:
        admit(connection, Attempt("x", "y"), clock.now)
        kept = select(func.count()).select_from(allowance)
        assert connection.execute(kept).scalar_one() == 2


def test_addresses_of_one_network() -> None:
    def subject(address: str) -> str:
        return Attempt("", address).address_subject

    assert subject("2001:db8:1:2:3::4") == subject("2001:db8:1:2:ffff::1")
    assert subject("2001:db8:1:2::1") != subject("2001:db8:1:3::1")
    assert subject("::ffff:192.0.2.1") == subject("192.0.2.1") != subject("192.0.2.2")
    assert subject("") == "address "


def test_the_shop_of_an_account_does_not_matter(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop)
    add_member(engine, ShopBuilder(engine, "other.myshopify.com"))
    for _ in range(PER_ACCOUNT):
        assert Browser(client).sign_in(password="a wrong password").status_code == 403
    assert Browser(client).sign_in().status_code == 429
