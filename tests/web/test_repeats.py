"""Requests that come again word for word: the same answers as ever, and none that no longer holds.

Now is 2026-03-31 12:00.
"""

import gzip
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import orjson
import pytest
from flask import Flask, Response, request_started
from flask.testing import FlaskClient
from sqlalchemy import Engine, text
from werkzeug.test import TestResponse

from tests.web.builders import ShopBuilder, instant, writing
from tests.web.conftest import Clock
from tests.web.refusals import refused
from tests.web.test_answers import PATH, move
from tests.web.test_conditional_requests import GETS, Client
from tests.web.test_keys_and_scopes import FORM
from warehouse.settings import CORS_ORIGINS, RATE_LIMIT
from web import keys
from web.app import close_app, create_app
from web.audit import OPERATOR
from web.varying import vary_by

LONG = "/v1/attribution/daily?range=30d"
OURS = "https://app.example.com"


@contextmanager
def ordinary(client: FlaskClient) -> Iterator[list[None]]:
    """The requests that reach the framework meanwhile."""
    seen: list[None] = []

    def note(_sender: Flask, **_: object) -> None:
        seen.append(None)

    with request_started.connected_to(note, client.application):
        yield seen


def told(answer: TestResponse) -> tuple[object, ...]:
    """All that an answer says, with its own id."""
    headers = dict(answer.headers)
    own, body = headers.pop("X-Request-Id"), answer.data
    assert headers.get("Content-Length", "0") == str(len(body))
    if headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
        del headers["Content-Length"]
    assert (own.encode() in body) == (headers.get("Content-Type") == "application/json")
    return answer.status, headers, body.replace(own.encode(), b"")


@pytest.fixture
def repeated(client: FlaskClient) -> Callable[[Client], bool]:
    """Whether PATH, asked for with a client's key, is answered without the framework."""

    def ask(one: Client) -> bool:
        with ordinary(client) as seen:
            assert one.get(PATH).status_code == 200
        return not seen

    return ask


@pytest.fixture
def one(client: FlaskClient, shop: ShopBuilder, repeated: Callable[[Client], bool]) -> Client:
    """With a key that has asked for PATH until it was remembered."""
    found = Client(client, shop.mint())
    assert [repeated(found) for _ in range(4)] == [False, False, True, True]
    return found


def test_an_answer_says_the_same_again(client: FlaskClient, shop: ShopBuilder) -> None:
    shop.form(FORM)
    shop.daily("attribution", "2026-03-20", type="visitor", orders=3, gross=9)
    one = Client(client, shop.mint())
    packed = {"Accept_Encoding": "gzip"}
    for path in [*GETS, LONG]:
        tag = one.tag(path)
        for headers in ({}, packed, {"Accept": "text/csv"}, {"Accept": "text/csv", **packed}):
            for known in ({}, {"If_None_Match": tag}, {"If_None_Match": "*"}):
                asked = headers | known
                first, second = (one.get(path, **asked) for _ in range(2))
                with ordinary(client) as seen:
                    third, fourth = (one.get(path, **asked) for _ in range(2))
                assert not seen or path == f"/v1/forms/{FORM}", (path, asked)
                assert told(first) == told(second) == told(third) == told(fourth), (path, asked)
                assert len({each.headers["X-Request-Id"] for each in (second, third, fourth)}) == 3
        assert one.get(path, "HEAD").data == b""
    assert one.get(LONG, **packed).headers["Content-Encoding"] == "gzip"


def test_other_words_are_another_request(client: FlaskClient, one: Client) -> None:
    assert one.get(PATH, If_None_Match='W/"other"').status_code == 200
    assert one.get(PATH.replace("-31", "-30")).headers["ETag"] != one.tag(PATH)
    assert one.get(PATH, Accept="text/csv").mimetype == "text/csv"
    assert client.get(PATH).status_code == 401
    assert client.post(PATH, headers=one.headers).status_code == 405


def test_a_key_that_stops_stops_at_once(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, clock: Clock, one: Client
) -> None:
    credential_id = one.get(PATH).get_json()["meta"]["credentialId"]
    with writing(engine) as connection:
        keys.revoke(connection, credential_id, by=OPERATOR, now=clock.now)
    refused(one.get(PATH), 401, "unauthorized")
    brief = Client(client, shop.mint(expires_at=clock.now + 1))
    assert {brief.get(PATH).status_code for _ in range(4)} == {200}
    clock.now += 1
    refused(brief.get(PATH), 401, "unauthorized")


def test_what_has_changed_is_answered_anew(
    shop: ShopBuilder,
    engine: Engine,
    clock: Clock,
    one: Client,
    repeated: Callable[[Client], bool],
) -> None:
    shop.daily("attribution", "2026-03-20", type="visitor", orders=3)
    move(shop)
    assert [repeated(one) for _ in range(3)] == [False, False, True]
    assert sum(row["orders"] for row in one.get(PATH).get_json()["data"]) == 3
    clock.set("2026-04-01T00:00:00")
    assert [repeated(one) for _ in range(3)] == [False, False, True]
    # By another machine's clock, the last change is not before tomorrow.
    move(shop, instant("2026-04-02T00:00:00"))
    assert not any(repeated(one) for _ in range(4))
    clock.set("2026-04-02T12:00:00")
    assert [repeated(one) for _ in range(3)] == [False, False, True]
    clock.set("2026-04-02T13:00:00")
    assert repeated(one)
    with writing(engine) as connection:
        connection.execute(text("UPDATE api_key SET scopes = 'discounts:read'"))
    refused(one.get(PATH), 403, "insufficient_scope")


def test_an_account_that_gets_stale(client: FlaskClient, shop: ShopBuilder, clock: Clock) -> None:
    shop.account("meta", "ok", "2026-03-29T18:00:00")
    one = Client(client, shop.mint())

    def stale() -> int:
        answers = [one.get("/v1/ads/spend?range=2026-03-31").get_json() for _ in range(3)]
        return len(answers[-1]["data"]["unavailableProviders"])

    clock.set("2026-03-31T18:00:00")
    assert stale() == 0
    clock.now += 1
    assert stale() == 1


def test_the_log_and_the_last_use_know_of_it(
    client: FlaskClient,
    clock: Clock,
    engine: Engine,
    one: Client,
    repeated: Callable[[Client], bool],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "web"):
        first = one.get(PATH, Accept="*/*")
        clock.now += 61_000_000
        with ordinary(client) as seen:
            again = one.get(PATH)
    assert not seen
    lines = [orjson.loads(record.message) for record in caplog.records]
    for line, answer in zip(lines, (first, again), strict=True):
        assert line.pop("ms") >= 0
        assert line.pop("requestId") == answer.headers["X-Request-Id"]
    assert lines[1] == lines[0] | {"time": "2026-03-31T12:01:01.000Z"}
    close_app(client.application)
    with engine.connect() as connection:
        assert keys.list_keys(connection)[0].last_used_at == clock.now


def test_a_warehouse_that_does_not_answer(engine: Engine, one: Client) -> None:
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE api_key RENAME TO gone"))
    assert one.get(PATH).status_code in (500, 503)
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE gone RENAME TO api_key"))
    assert one.get(PATH).status_code == 200


def test_an_answer_that_depends_on_more_is_not_remembered(
    warehouse_url: str, shop: ShopBuilder, clock: Clock
) -> None:
    app = create_app(warehouse_url, clock)

    @app.after_request
    def vary(response: Response) -> Response:
        vary_by(response, "Cookie")
        return response

    client = app.test_client()
    one = Client(client, shop.mint())
    with ordinary(client) as seen:
        assert {one.get(PATH).status_code for _ in range(5)} == {200}
    assert len(seen) == 5
    close_app(app)


def test_limits_and_origins(
    warehouse_url: str, shop: ShopBuilder, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CORS_ORIGINS.name, OURS)
    monkeypatch.setenv(RATE_LIMIT.name, "6/60")
    app = create_app(warehouse_url, clock)
    client = app.test_client()
    one = Client(client, shop.mint())
    with ordinary(client) as seen:
        answers = [one.get(PATH, Origin=OURS) for _ in range(5)]
    assert len(seen) == 2
    assert [answer.headers["RateLimit"].partition(";t")[0] for answer in answers] == [
        f'"default";r={left}' for left in (5, 4, 3, 2, 1)
    ]
    for answer in answers:
        assert answer.headers["RateLimit-Policy"] == '"default";q=6;w=60'
        assert answer.headers["Access-Control-Allow-Origin"] == OURS
    stranger = one.get(PATH, Origin="https://evil.example")
    assert "Access-Control-Allow-Origin" not in stranger.headers
    refused(one.get(PATH, Origin=OURS), 429, "rate_limited")
    clock.now += 10_000_000
    assert one.get(PATH, Origin=OURS).headers["RateLimit"] == '"default";r=0;t=60'
    close_app(app)
