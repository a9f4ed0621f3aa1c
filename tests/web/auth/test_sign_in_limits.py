"""Limits on attempts to sign in: strangers are slowed, and do not keep the member out."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask.testing import FlaskClient
from itsdangerous import URLSafeSerializer
from sqlalchemy import Engine, func, select

from tests.support.fixtures import Clock
from tests.support.people import CONNECTIONS, HOME, SIGN_IN, Browser, add_member
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.tables import rate_bucket
from web.auth import passwords
from web.auth.sign_in_limits import (
    PER_ACCOUNT,
    PER_ACCOUNT_AND_NETWORK,
    PER_BROWSER,
    PER_NETWORK,
    WINDOW,
    Attempt,
    KnownRefusals,
    account_hash,
    count,
    reset_account,
)
from web.pages import browser_cookie

ADA = "ada@example.com"
WRONG = "a wrong password"
STRANGER = "192.0.2.66"


@pytest.mark.parametrize("email", [ADA, "nobody@example.com"])
def test_limit_per_account_and_network(
    client: FlaskClient, ada: str, clock: Clock, email: str
) -> None:
    stranger = Browser(client, REMOTE_ADDR=STRANGER)
    for _ in range(PER_ACCOUNT_AND_NETWORK.times):
        assert stranger.sign_in(email, WRONG).status_code == 403
    refused = stranger.sign_in(email)  # for ada, with the right password
    assert refused.status_code == 429
    wait = WINDOW // PER_ACCOUNT_AND_NETWORK.times // MICROS_PER_SECOND
    assert int(refused.headers["Retry-After"]) == wait
    assert "Too many attempts. Try again in 2 minutes." in refused.get_data(as_text=True)
    assert not stranger.is_in()
    clock.now += wait * MICROS_PER_SECOND
    assert stranger.sign_in(email).status_code == (302 if email == ada else 403)


def test_a_stranger_does_not_keep_a_member_out(client: FlaskClient, ada: str) -> None:
    known = Browser(client, REMOTE_ADDR=STRANGER).signed_in()
    known.post("/settings/sign-out", CONNECTIONS)
    stranger = Browser(client, REMOTE_ADDR=STRANGER)
    for number in range(PER_NETWORK.times):
        stranger.sign_in(f"{number // 10}@example.com" if number >= 10 else ada, WRONG)
    assert stranger.sign_in().status_code == 429
    # Not from elsewhere, and in a browser of theirs not even from the stranger's network.
    assert Browser(client, REMOTE_ADDR="198.51.100.7").sign_in().location == HOME
    assert known.sign_in().location == HOME


def test_attempts_of_many_networks_slow_unknown_browsers_alone(
    client: FlaskClient, engine: Engine, ada: str, clock: Clock
) -> None:
    known = Browser(client).signed_in()
    known.post("/settings/sign-out", CONNECTIONS)
    with writing(engine) as connection:
        waits = [
            count(connection, KnownRefusals(), Attempt(ada, f"198.51.100.{host}"), clock.now)
            for host in range(PER_ACCOUNT.times)
        ]
    assert set(waits[:-1]) == {0}  # one of the hundred was Ada's own
    assert waits[-1] > 0
    unknown = Browser(client, REMOTE_ADDR="203.0.113.1")
    assert unknown.sign_in().status_code == 429
    assert known.sign_in().location == HOME
    # A sign-in gives a stranger nothing back.
    assert unknown.sign_in().status_code == 429
    clock.now += PER_ACCOUNT.interval
    assert unknown.sign_in().location == HOME


def test_one_network_does_not_use_up_an_account(engine: Engine, clock: Clock) -> None:
    with writing(engine) as connection:
        for _ in range(2 * PER_ACCOUNT.times):
            count(connection, KnownRefusals(), Attempt(ADA, STRANGER), clock.now)
        assert count(connection, KnownRefusals(), Attempt(ADA, "198.51.100.7"), clock.now) == 0


def test_a_known_browser_has_a_count_of_its_own(client: FlaskClient, ada: str) -> None:
    known = Browser(client).signed_in()
    known.post("/settings/sign-out", CONNECTIONS)
    for _ in range(PER_BROWSER.times):
        assert known.sign_in(password=WRONG).status_code == 403
    assert known.sign_in().status_code == 429
    assert Browser(client).sign_in().location == HOME


def test_a_browser_is_known_for_its_account_for_half_a_year(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, ada: str, clock: Clock
) -> None:
    add_member(engine, shop, "bea@example.com")
    answer = Browser(client).sign_in()
    (cookie,) = (line for line in answer.headers.getlist("Set-Cookie") if line.startswith("bro"))
    text, _, attributes = cookie.removeprefix("browser=").partition("; ")
    assert "HttpOnly" in attributes
    assert "SameSite=Lax" in attributes
    assert f"Max-Age={180 * 86_400}" in attributes
    # All who use the device can read it: no list of addresses tells whose it is.
    (_, account, _) = URLSafeSerializer("x").loads_unsafe(text)[1]
    assert account not in (ada, account_hash(ada))
    secret = str(client.application.secret_key)

    def known(said: str, email: str = ada, key: str = secret) -> str:
        return browser_cookie.browser_id(key, said, email, clock.now)

    assert known(text) == known(text) != ""
    for wrong in (text[:-1], text.replace(text[3], "x"), "", ".", "\0", "a.b.c"):
        assert known(wrong) == "", wrong
    assert known(text, "bea@example.com") == known(text, key="other") == ""
    clock.now += browser_cookie.LIFETIME - 1
    assert known(text)
    clock.now += 1
    assert known(text) == ""


def test_the_cookie_is_secure_behind_https(client: FlaskClient, ada: str) -> None:
    browser = Browser(client, **{"wsgi.url_scheme": "https"})
    form = browser.get(SIGN_IN).get_data(as_text=True)
    token = form.partition('name="csrf_token" value="')[2].partition('"')[0]
    answer = browser.client.post(
        SIGN_IN,
        base_url="https://localhost",
        data={"csrf_token": token, "email": ada, "password": "correct horse battery"},
        headers={"Referer": "https://localhost/settings/sign-in"},
        environ_overrides=browser.environ,
    )
    cookies = [line for line in answer.headers.getlist("Set-Cookie") if "browser" in line]
    assert len(cookies) == 1, answer.status
    assert cookies[0].startswith("__Host-browser=")
    assert "; Secure" in cookies[0]


def test_limit_per_network(browser: Browser, client: FlaskClient) -> None:
    form = browser.form(SIGN_IN)
    for number in range(PER_NETWORK.times):
        data = {**form, "email": f"{number}@example.com", "password": "a guess"}
        answer = browser.client.post(SIGN_IN, data=data, environ_overrides=browser.environ)
        assert answer.status_code == 403
    assert browser.sign_in().status_code == 429
    assert Browser(client, REMOTE_ADDR="198.51.100.7").sign_in().location == HOME


def test_a_flood_of_sign_ins_is_told_to_come_back(
    client: FlaskClient,
    engine: Engine,
    browser: Browser,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passwords._hashing, "_seconds", 0)
    link = browser.form(SIGN_IN)
    with passwords.place_to_hash("a"), passwords.place_to_hash("b"):
        for _ in range(PER_BROWSER.times + PER_NETWORK.times):
            busy = browser.client.post(
                SIGN_IN, data={**link, "email": ADA, "password": "correct horse battery"}
            )
            assert (busy.status_code, busy.mimetype) == (503, "text/html")
            assert busy.headers["Retry-After"] == "2"
        assert "Too many people are signing in at once." in busy.get_data(as_text=True)
        assert client.get("/healthz").status_code == 200
    # An attempt that was not checked does not count.
    assert browser.sign_in().location == HOME


def test_forwarded_address_is_ignored_without_a_trusted_proxy(
    browser: Browser, engine: Engine
) -> None:
    for number in range(3):
        browser.client.post(
            SIGN_IN,
            data={**browser.form(SIGN_IN), "email": f"{number}@example.com", "password": "a guess"},
            headers={"X-Forwarded-For": f"203.0.113.{number}", "X-Real-IP": "203.0.113.9"},
        )
    with engine.connect() as connection:
        subjects = set(connection.execute(select(rate_bucket.c.subject)).scalars())
    assert {subject for subject in subjects if subject.startswith("network")} == {
        "network 127.0.0.1"
    }
    assert not any("example.com" in subject for subject in subjects)


def test_sign_in_lifts_the_limit_of_its_account_and_network(client: FlaskClient, ada: str) -> None:
    for _ in range(2):
        browser = Browser(client)
        for _ in range(PER_ACCOUNT_AND_NETWORK.times - 1):
            assert browser.sign_in(password=WRONG).status_code == 403
        browser.signed_in()


def test_a_new_password_lifts_all_limits_of_its_account(engine: Engine, clock: Clock) -> None:
    with writing(engine) as connection:
        for host in (*range(PER_ACCOUNT.times), *[0] * PER_ACCOUNT_AND_NETWORK.times):
            count(connection, KnownRefusals(), Attempt(ADA, f"198.51.100.{host}"), clock.now)
        count(connection, KnownRefusals(), Attempt("bea@example.com", "203.0.113.1"), clock.now)
        reset_account(connection, ADA)
        left = connection.execute(select(rate_bucket.c.subject)).scalars()
        assert len([subject for subject in left if subject.startswith("account")]) == 2
        assert count(connection, KnownRefusals(), Attempt(ADA, "203.0.113.2"), clock.now) == 0


def test_concurrent_attempts_stay_within_the_limit(engine: Engine, clock: Clock) -> None:
    def attempt(_number: int) -> int:
        with writing(engine) as connection:
            return count(connection, KnownRefusals(), Attempt(ADA, STRANGER), clock.now)

    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(attempt, range(3 * PER_ACCOUNT_AND_NETWORK.times)))
    assert waits.count(0) == PER_ACCOUNT_AND_NETWORK.times


def test_attempts_come_back_evenly(engine: Engine, clock: Clock) -> None:
    def attempts(number: int) -> int:
        """How many of `number` attempts are allowed."""
        with writing(engine) as connection:
            waits = [
                count(connection, KnownRefusals(), Attempt(ADA, STRANGER), clock.now)
                for _ in range(number)
            ]
        return waits.count(0)

    most = PER_ACCOUNT_AND_NETWORK.times
    assert attempts(20) == most
    clock.now += WINDOW // 2
    assert attempts(20) == most // 2
    clock.now += WINDOW
    assert attempts(20) == most
    clock.now += 2 * WINDOW
    with writing(engine) as connection:
        count(connection, KnownRefusals(), Attempt("x", "y"), clock.now)
        # The buckets that are full again have been deleted.
        buckets = select(func.count()).select_from(rate_bucket)
        assert connection.execute(buckets).scalar_one() == 3


def test_addresses_are_counted_by_network() -> None:
    def subject(address: str) -> str:
        return Attempt("", address).limits()[0][0]

    assert subject("2001:db8:1:2:3::4") == subject("2001:db8:1:2:ffff::1")
    assert subject("2001:db8:1:2::1") != subject("2001:db8:1:3::1")
    assert subject("::ffff:192.0.2.1") == subject("192.0.2.1") != subject("192.0.2.2")
    assert subject("") == "network "


def test_limit_is_shared_by_the_shops_of_an_account(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop)
    add_member(engine, ShopBuilder(engine, "other.myshopify.com"))
    for _ in range(PER_ACCOUNT_AND_NETWORK.times):
        assert Browser(client).sign_in(password=WRONG).status_code == 403
    assert Browser(client).sign_in().status_code == 429
