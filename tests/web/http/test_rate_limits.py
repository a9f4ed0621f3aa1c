"""How often the API may be asked, and how often an address may fail to authenticate."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.people import Browser
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND
from warehouse.setting_values import SettingError
from warehouse.settings import RATE_LIMIT
from web.app import close_app, create_app
from web.http.rate_limits import _USES_TO_SWEEP, FAILURES, RateBuckets

Start = Callable[[str], FlaskClient]


@pytest.fixture
def start(
    engine: Engine,
    warehouse_url: str,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Start]:
    """A function that gives a client of another process of one server, with this RATE_LIMIT."""
    apps = []

    def another(limit: str) -> FlaskClient:
        monkeypatch.setenv("RATE_LIMIT", limit)
        apps.append(create_app(warehouse_url, clock, str(tmp_path / "counts.db")))
        return apps[-1].test_client()

    yield another
    for app in apps:
        close_app(app)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_a_shop_is_limited_in_all_processes_together(
    start: Start, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    clients = [start("3/60"), start("3/60")]
    keys = [shop.mint(), shop.mint()]
    key, other = keys[0], ShopBuilder(engine, "another.example").mint()
    for place, (left, whole_in) in enumerate([(2, 20), (1, 40), (0, 60)]):
        # A request that is refused for another reason counts, too.
        path = ("/v1/forms", "/v1/unknown", "/v1/attribution?range=x")[place]
        answer = clients[place % 2].get(path, headers=bearer(keys[place % 2]))
        assert answer.status_code == (200, 404, 400)[place]
        assert answer.headers["RateLimit-Policy"] == '"default";q=3;w=60'
        assert answer.headers["RateLimit"] == f'"default";r={left};t={whole_in}'
    for client in clients:
        answer = client.get("/v1/forms", headers=bearer(key))
        refused(answer, 429, "rate_limited")
        assert answer.headers["Retry-After"] == "20"
        assert answer.headers["RateLimit"] == '"default";r=0;t=20'
        assert client.get("/v1/forms", headers=bearer(other)).status_code == 200
        assert client.get("/healthz").headers.get("RateLimit") is None
    clock.now += 20 * MICROS_PER_SECOND - 1
    refused(clients[0].get("/v1/forms", headers=bearer(key)), 429, "rate_limited")
    clock.now += 1
    assert clients[1].get("/v1/forms", headers=bearer(key)).headers["RateLimit"].endswith("t=60")
    clock.now += 90 * MICROS_PER_SECOND
    assert '";r=2;' in clients[0].get("/v1/forms", headers=bearer(key)).headers["RateLimit"]


def test_without_the_setting_a_shop_has_a_hundred_requests_a_second(
    start: Start, shop: ShopBuilder
) -> None:
    client = start("")
    answer = client.get("/v1/forms", headers=bearer(shop.mint()))
    assert answer.headers["RateLimit-Policy"] == '"default";q=6000;w=60'


def test_the_limit_can_be_switched_off(start: Start, shop: ShopBuilder) -> None:
    client, key = start("off"), bearer(shop.mint())
    answers = [client.get("/v1/forms", headers=key) for _ in range(FAILURES.times + 5)]
    assert {answer.status_code for answer in answers} == {200}
    assert not {"RateLimit", "RateLimit-Policy"} & set(answers[0].headers.keys())


def test_failures_are_limited_by_address(start: Start, shop: ShopBuilder, clock: Clock) -> None:
    key = bearer(shop.mint())
    clients = [start(""), start("")]

    def ask(headers: dict[str, str], address: str = "192.0.2.1", number: int = 0) -> int:
        environ = {"REMOTE_ADDR": address}
        answer = clients[number % 2].get("/v1/forms", headers=headers, environ_overrides=environ)
        return answer.status_code

    wrong = [{}, bearer("frk_live_nonsense"), bearer(shop.mint()[:-1] + "!")]
    assert FAILURES.times == 300
    for number in range(FAILURES.times):
        assert ask(wrong[number % 3], number=number) == 401
        assert ask(key, number=number) == 200
    assert {ask({}, number=number) for number in range(4)} == {429}
    # A valid key passes: people behind one address share it.
    assert ask(key) == 200
    assert ask({}, "192.0.2.2") == 401
    # A client's own word about its address does not count.
    assert ask({"X-Forwarded-For": "203.0.113.1"}) == 429
    answer = clients[0].get("/v1", environ_overrides={"REMOTE_ADDR": "192.0.2.1"})
    refused(answer, 429, "rate_limited")
    assert answer.headers["Retry-After"] == "1"
    # They come back at one a second.
    clock.now += 60 * MICROS_PER_SECOND
    assert [ask({}) for _ in range(61)] == [401] * 60 + [429]


def test_an_ipv6_customer_has_one_allowance(start: Start) -> None:
    client = start("")

    def ask(address: str) -> int:
        return client.get("/v1", environ_overrides={"REMOTE_ADDR": address}).status_code

    assert {ask(f"2001:db8:1:2::{number:x}") for number in range(FAILURES.times)} == {401}
    assert (ask("2001:db8:1:2:ffff::1"), ask("2001:db8:1:3::1")) == (429, 401)


def test_without_its_file_a_process_counts_for_itself(
    start: Start, shop: ShopBuilder, tmp_path: Path
) -> None:
    (tmp_path / "counts.db").mkdir()
    client, key = start("1/60"), bearer(shop.mint())
    assert client.get("/v1/forms", headers=key).status_code == 200
    refused(client.get("/v1/forms", headers=key), 429, "rate_limited")
    assert {client.get("/v1").status_code for _ in range(FAILURES.times)} == {401}
    refused(client.get("/v1"), 429, "rate_limited")
    (tmp_path / "counts.db").rmdir()
    assert client.get("/v1/forms", headers=key).status_code == 200
    refused(client.get("/v1/forms", headers=key), 429, "rate_limited")


def test_pages_are_limited_apart_from_keys(
    start: Start, engine: Engine, shop: ShopBuilder, ada: str
) -> None:
    client = start("5/60")
    browser = Browser(client)
    assert browser.sign_in().status_code == 302
    statuses = [browser.get("/settings/connections").status_code for _ in range(7)]
    assert statuses == [200] * 5 + [429] * 2
    page = browser.get("/settings/connections")
    assert page.mimetype == "text/html"
    assert int(page.headers["Retry-After"]) > 0
    assert client.get("/v1/forms", headers=bearer(shop.mint())).status_code == 200
    # A browser that is signed in nowhere is not counted for the shop.
    assert Browser(client).get("/settings/sign-in").status_code == 200


def test_a_clock_that_was_ahead_locks_nobody_out(tmp_path: Path, clock: Clock) -> None:
    counts = RateBuckets(str(tmp_path / "counts.db"))
    for _ in range(FAILURES.times):
        counts.take("address", FAILURES, clock.now + 365 * MICROS_PER_DAY)
    taken = counts.take("address", FAILURES, clock.now)
    assert (taken.retry_after, taken.remaining) == (0, FAILURES.times - 1)
    counts.close()


def test_what_is_whole_again_is_forgotten(tmp_path: Path, clock: Clock) -> None:
    counts = RateBuckets(str(tmp_path / "counts.db"))
    for number in range(_USES_TO_SWEEP + 1):
        at = clock.now + number * 2 * MICROS_PER_SECOND
        assert counts.take(f"address {number}", FAILURES, at).remaining == FAILURES.times - 1
    assert counts._connection
    kept = counts._connection.execute("SELECT subject FROM rate_bucket").fetchall()
    assert kept == [(f"address {_USES_TO_SWEEP}",)]
    counts.close()


@pytest.mark.parametrize(
    "text", ["600", "on", "0/60", "600/0", "a/60", "-1/60", "600/60/1", "9999999/1"]
)
def test_a_setting_that_is_no_limit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RATE_LIMIT", text)
    with pytest.raises(SettingError, match="RATE_LIMIT"):
        RATE_LIMIT.get()
