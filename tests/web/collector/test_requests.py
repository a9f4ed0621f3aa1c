"""Requests to the collector: which are taken, dropped and refused, and what browsers may send."""

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from tests.support.fixtures import Clock
from tests.support.shop_builder import ShopBuilder, writing
from tests.support.waiting import wait_until
from tests.web.collector.conftest import ORIGIN, new_write_key
from tests.web.collector.lines import lines_of
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.operations import collectors
from web.auth import write_keys
from web.auth.audit import Actor, Change
from web.collector.app import Collector, HandledPost, create_collector
from web.collector.calls import MAX_BATCH_BYTES, MAX_EVENT_BYTES
from web.collector.known_keys import KnownKeys
from web.collector.landing_writer import LandingWriter
from web.collector.limits import SendLimits
from web.collector.warehouse_writer import WarehouseWriter
from web.db.database import Database

VIEW = {
    "type": "track",
    "event": "Form Viewed",
    "messageId": "m1",
    "anonymousId": "v1",
    "properties": {"form_id": "f", "form_session_id": "s1"},
}
IDENTIFY = {"type": "identify", "messageId": "m2", "anonymousId": "v1"}


def basic(key: str) -> str:
    return "Basic " + base64.b64encode(f"{key}:".encode()).decode()


def post(client: FlaskClient, path: str, body: Any, **headers: str) -> TestResponse:
    sent = {"Content-Type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(path, data=data, headers=sent)


def refusal(answer: TestResponse) -> tuple[int, str]:
    body = answer.get_json()
    assert body["success"] is False
    assert body["error"]["message"].endswith(".")
    return answer.status_code, body["error"]["code"]


@pytest.fixture
def written(shared: Collector, landing: Path) -> Any:
    """A function that returns the rows on disk, and ends the writer."""

    def calls() -> list[dict[str, Any]]:
        shared.writer.close()
        return [json.loads(line) for line in lines_of(landing)]

    return calls


@pytest.mark.parametrize("media_type", ["application/json", "text/plain;charset=UTF-8"])
@pytest.mark.parametrize("path", ["/v1/track", "/v1/t"])
def test_one_call(
    collector: FlaskClient, write_key: str, written: Any, path: str, media_type: str
) -> None:
    answer = post(collector, path, {**VIEW, "writeKey": write_key}, Content_Type=media_type)
    assert (answer.status_code, answer.get_json()) == (200, {"success": True})
    assert [row["event_id"] for row in written()] == ["m1"]


@pytest.mark.parametrize("path", ["/v1/batch", "/v1/b"])
def test_a_batch_with_calls_of_other_types(
    collector: FlaskClient, write_key: str, written: Any, handled: list[HandledPost], path: str
) -> None:
    other = {**VIEW, "event": "Order Completed"}
    batch = {"batch": [VIEW, IDENTIFY, other, {**VIEW, "messageId": "m3"}], "sentAt": "x"}
    answer = post(collector, path, batch, Authorization=basic(write_key))
    assert (answer.status_code, answer.get_json()) == (200, {"success": True})
    assert [row["event_id"] for row in written()] == ["m1", "m3"]
    assert dict(handled[-1].outcomes) == {"taken": 2, "other": 2}
    assert handled[-1].bytes > 0


@pytest.mark.parametrize(
    "path", ["identify", "i", "page", "p", "screen", "s", "group", "g", "alias", "a", "m"]
)
def test_other_calls_are_dropped(collector: FlaskClient, written: Any, path: str) -> None:
    answer = post(collector, f"/v1/{path}", b"whatever", Origin=ORIGIN)
    assert (answer.status_code, answer.get_json()) == (200, {"success": True})
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert written() == []


def test_a_compressed_body(collector: FlaskClient, write_key: str, written: Any) -> None:
    body = gzip.compress(json.dumps({**VIEW, "writeKey": write_key}).encode())
    assert post(collector, "/v1/t", body, Content_Encoding="gzip").status_code == 200
    assert len(written()) == 1
    bomb = gzip.compress(b" " * 10_000_000)
    too_large = post(collector, "/v1/t", bomb, Content_Encoding="gzip")
    assert refusal(too_large) == (400, "payload_too_large")
    torn = post(collector, "/v1/t", b"no gzip", Content_Encoding="gzip")
    assert refusal(torn) == (400, "invalid_body")


def test_sizes(collector: FlaskClient, write_key: str, written: Any) -> None:
    def view(size: int) -> dict[str, Any]:
        call = {**VIEW, "x": ""}
        return {**call, "x": "x" * (size - len(json.dumps(call)))}

    def sent(*sizes: int) -> tuple[int, str] | int:
        batch = {"batch": [view(size) for size in sizes]}
        answer = post(collector, "/v1/b", batch, Authorization=basic(write_key))
        return answer.status_code if answer.status_code == 200 else refusal(answer)

    assert sent(MAX_EVENT_BYTES) == 200
    assert sent(500, MAX_EVENT_BYTES + 1) == 200
    assert sent(*[MAX_EVENT_BYTES - 10] * 15) == 200
    assert sent(*[MAX_EVENT_BYTES] * 16) == (400, "payload_too_large")
    assert MAX_EVENT_BYTES * 16 > MAX_BATCH_BYTES
    single = post(collector, "/v1/t", view(MAX_EVENT_BYTES + 1), Authorization=basic(write_key))
    assert refusal(single) == (400, "payload_too_large")
    # Nothing of a batch that is refused is taken; of one with a call that is too large, the others are.
    assert len(written()) == 17


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/t", b""),
        ("/v1/t", b"[]"),
        ("/v1/t", b'{"a":'),
        ("/v1/t", b'{"a": "\xff"}'),
        ("/v1/t", b"[" * 10_000),
        ("/v1/b", b"{}"),
        ("/v1/b", b'{"batch": {}}'),
        ("/v1/b", b'{"batch": [{"a": NaN}]}'),
        ("/v1/b", b'{"batch": [' + b"{}," * 2_500 + b"{}]}"),
    ],
)
def test_bodies_that_hold_no_calls(collector: FlaskClient, path: str, body: bytes) -> None:
    assert refusal(post(collector, path, body)) == (400, "invalid_body")


def test_a_call_that_cannot_be_used_costs_itself_alone(
    collector: FlaskClient, write_key: str, written: Any
) -> None:
    """A library would send the whole batch again, or lose it."""
    others: list[Any] = [
        None,
        1,
        [],
        "x",
        {**VIEW, "x": "x" * MAX_EVENT_BYTES},
        {**VIEW, "anonymousId": None},
    ]
    calls = [VIEW, *others, {**VIEW, "messageId": "m3"}]
    answer = post(collector, "/v1/b", {"batch": calls}, Authorization=basic(write_key))
    assert (answer.status_code, answer.get_json()) == (200, {"success": True, "dropped": 6})
    assert len(written()) == 2
    answer = post(collector, "/v1/b", {"batch": [None]}, Authorization=basic(write_key))
    assert answer.get_json() == {"success": True, "dropped": 1}
    torn = post(collector, "/v1/b", b'{"batch": [{"event": ]}', Authorization=basic(write_key))
    assert refusal(torn) == (400, "invalid_body")


def test_bodies_of_other_types(collector: FlaskClient, write_key: str) -> None:
    for media_type in ("application/x-www-form-urlencoded", ""):
        answer = post(collector, "/v1/t", {"writeKey": write_key}, Content_Type=media_type)
        assert refusal(answer) == (415, "unsupported_media_type")


def test_events_of_refused_requests_are_counted(
    collector: FlaskClient, write_key: str, handled: list[HandledPost]
) -> None:
    batch = {"batch": [VIEW, IDENTIFY], "writeKey": write_key}
    assert post(collector, "/v1/b", batch, Origin="https://evil.example").status_code == 403
    told = handled[-1]
    assert (told.path, told.status, dict(told.outcomes)) == ("/v1/b", 403, {"refused": 2})


def test_addresses_and_methods(collector: FlaskClient) -> None:
    assert refusal(collector.post("/v1/unknown")) == (404, "not_found")
    wrong = collector.get("/v1/t")
    assert refusal(wrong) == (405, "method_not_allowed")
    assert wrong.headers["Allow"] == "POST"


def test_an_answer_has_the_headers_of_every_answer(
    collector: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, status in (("/healthz", 200), ("/v1/track", 405), ("/nothing", 404)):
        answer = collector.get(path)
        assert answer.status_code == status
        assert re.fullmatch(r"req_[0-9a-f-]{36}", answer.headers["X-Request-Id"])
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "Strict-Transport-Security" not in answer.headers
    monkeypatch.setenv("PUBLIC_URL", "https://stats.example")
    assert "Strict-Transport-Security" in collector.get("/healthz").headers


@pytest.mark.parametrize("key", [None, "", "fwk_unknown", 1, ["a"], {"a": 1}])
def test_write_keys_that_do_not_work(collector: FlaskClient, key: Any) -> None:
    assert refusal(post(collector, "/v1/t", {**VIEW, "writeKey": key})) == (401, "unauthorized")


def test_a_revoked_key_stops(
    collector: FlaskClient, engine: Engine, write_key: str, shared: Collector
) -> None:
    with writing(engine) as connection:
        write_keys.revoke(Change(connection, Actor("test", "test"), 1), write_key)
    wait_until(lambda: shared.keys.find(write_key) is None)
    refused = post(collector, "/v1/t", {**VIEW, "writeKey": write_key})
    assert refusal(refused) == (401, "unauthorized")


def test_origins(
    collector: FlaskClient, engine: Engine, shop: ShopBuilder, write_key: str, shared: Collector
) -> None:
    of_servers = new_write_key(engine, shop.shop_id)
    of_other = new_write_key(engine, shop.shop_id, "https://other.example")
    wait_until(lambda: shared.keys.find(of_other))

    def sent(key: str, origin: str = "") -> tuple[int, str | None]:
        headers = {"Origin": origin} if origin else {}
        answer = post(collector, "/v1/t", {**VIEW, "writeKey": key}, **headers)
        if answer.status_code != 200:
            assert refusal(answer) == (403, "origin_not_allowed")
        assert answer.headers["Vary"] == "Origin"
        return answer.status_code, answer.headers.get("Access-Control-Allow-Origin")

    assert sent(write_key, ORIGIN) == (200, ORIGIN)
    assert sent(write_key) == (200, None)
    # The page is told why, since it may send with another key.
    assert sent(write_key, "https://other.example") == (403, "https://other.example")
    assert sent(write_key, "https://evil.example") == (403, None)
    assert sent(write_key, "null") == (403, None)
    of_no_origin = post(collector, "/v1/t", {**VIEW, "writeKey": write_key}, Origin="null")
    assert of_no_origin.get_json()["error"]["message"] == (
        "This write key is not for pages without an origin (`Origin: null`): a file that was opened from "
        "a disk, or a sandboxed frame. Open the page at an address of http or https whose origin the key "
        "names, or give the frame `allow-same-origin`."
    )
    assert sent(write_key, ORIGIN + ".evil.example") == (403, None)
    assert sent(of_servers) == (200, None)
    assert sent(of_servers, ORIGIN) == (403, ORIGIN)
    of_all = new_write_key(engine, shop.shop_id, "*")
    wait_until(lambda: shared.keys.find(of_all))
    assert sent(of_all, "https://evil.example") == (200, "https://evil.example")
    # A key for all pages names none, and what comes without an origin may come from anywhere.
    named = {of_all: False, write_key: True, of_servers: False}
    for key, is_named in named.items():
        known = shared.keys.find(key)
        assert known
        assert known.names(ORIGIN) == is_named
        assert not known.names("")
        assert not known.names("*")


def test_a_browser_asks_before_it_sends(collector: FlaskClient) -> None:
    def asked(origin: str, for_headers: str = "") -> TestResponse:
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        if for_headers:
            headers["Access-Control-Request-Headers"] = for_headers
        return collector.options("/v1/batch", headers=headers)

    answer = asked(ORIGIN)
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert answer.headers["Access-Control-Allow-Methods"] == "POST"
    allowed = answer.headers["Access-Control-Allow-Headers"].split(", ")
    assert {"Authorization", "Content-Type"} <= set(allowed)
    # The headers of Segment's library, of RudderStack's, and of one that traces requests.
    for own in (
        "authorization,content-type,x-retry-count",
        "anonymousid,authorization,content-type",
        "anonymousid,authorization,content-type,rsa-recovered,rsa-retry-attempt,rsa-retry-reason,sentat",
        "content-type,traceparent",
    ):
        answer = asked(ORIGIN, own)
        assert answer.headers["Access-Control-Allow-Headers"] == own
        assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "Access-Control-Allow-Credentials" not in answer.headers
    refused = asked("https://evil.example")
    assert refusal(refused) == (403, "origin_not_allowed")
    assert "Access-Control-Allow-Origin" not in refused.headers


Send = Callable[..., TestResponse]


@pytest.fixture
def limited(
    warehouse_url: str,
    write_key: str,
    landing: Path,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Send]:
    """A function that sends calls from an address to a collector with small limits."""
    monkeypatch.setenv("COLLECT_CALLS_PER_ADDRESS", "60")
    monkeypatch.setenv("COLLECT_CALLS_PER_KEY", "400")
    monkeypatch.setenv("COLLECT_MB_PER_SHOP", "1")
    database = Database(warehouse_url)
    shared = Collector(
        KnownKeys(database),
        LandingWriter(landing),
        SendLimits(str(tmp_path / "counts.db"), b"secret"),
        WarehouseWriter(database, clock, write_seconds=0.05),
        clock,
    )
    wait_until(lambda: shared.keys.were_read)
    client = create_collector(shared).test_client()

    def send(address: str, *calls: dict[str, Any], path: str = "/v1/b") -> TestResponse:
        return client.post(
            path,
            data=json.dumps({"batch": calls or [VIEW], "writeKey": write_key}),
            content_type="application/json",
            environ_base={"REMOTE_ADDR": address},
        )

    yield send
    shared.close()
    # The addresses themselves are nowhere on disk.
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert b"203.0.113" not in file.read_bytes(), file


def test_calls_of_an_address_are_limited(limited: Send, clock: Clock) -> None:
    assert limited("203.0.113.7", *[VIEW] * 58).status_code == 200
    # Dropped calls count, and so does a request without any.
    assert limited("203.0.113.7", IDENTIFY).status_code == 200
    assert limited("203.0.113.7", path="/v1/page").status_code == 200
    refused = limited("203.0.113.7")
    assert refusal(refused) == (429, "rate_limited")
    assert refused.headers["Retry-After"] == "1"
    assert "This address has sent too many events" in refused.get_json()["error"]["message"]
    assert limited("203.0.113.8").status_code == 200
    # A request with more calls than are left is taken, and the address then owes them.
    clock.now += 10_000_000
    assert limited("203.0.113.7", *[IDENTIFY] * 40).status_code == 200
    refused = limited("203.0.113.7")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "31")
    clock.now += 31_000_000
    assert limited("203.0.113.7").status_code == 200


def test_calls_of_a_key_are_limited_and_dropped_ones_do_not_count(
    limited: Send, clock: Clock
) -> None:
    for number in range(10):
        assert limited(f"203.0.113.{number}", *[IDENTIFY] * 60).status_code == 200
    # Few calls each, of many addresses.
    answers = [limited(f"203.0.113.{number}", VIEW, VIEW) for number in range(20, 221)]
    assert {answer.status_code for answer in answers[:200]} == {200}
    assert refusal(answers[200]) == (429, "rate_limited")
    assert "This write key has sent too many events" in answers[200].get_json()["error"]["message"]
    clock.now += 60_000_000
    assert limited("203.0.113.220").status_code == 200


def test_a_few_addresses_cannot_use_up_a_key(limited: Send) -> None:
    """Twelve networks, as in a report: each may send a tenth of a key's calls or more."""
    strangers = [
        limited(f"203.0.113.{number}", *[VIEW] * 20).status_code
        for _ in range(3)
        for number in range(12)
    ]
    assert strangers.count(200) == 15
    assert set(strangers) == {200, 429}
    visitors = [limited(f"203.0.113.{number}").status_code for number in range(100, 200)]
    assert visitors == [200] * 100


def uncollected_calls(engine: Engine, shop: ShopBuilder, clock: Clock, reason: str) -> int:
    """Those of today and yesterday, in the warehouse."""
    with engine.connect() as connection:
        told = collectors.find_uncollected(connection, shop.key, reason, clock.now, 1)
    return told.calls if told else 0


def test_bytes_of_a_shop_are_limited(
    limited: Send, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    properties = {"form_id": "f", "form_session_id": "s1", "variant": "x" * 30_000}
    large = {**VIEW, "properties": properties}
    answers = [limited(f"203.0.113.{number}", *[large] * 16) for number in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert "This shop has sent too many bytes" in answers[2].get_json()["error"]["message"]
    assert int(answers[2].headers["Retry-After"]) > 3_600
    wait_until(lambda: uncollected_calls(engine, shop, clock, collectors.TOO_MANY_BYTES) == 16)


def test_calls_without_an_id_are_counted_in_the_warehouse(
    limited: Send, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    def counted() -> int:
        return uncollected_calls(engine, shop, clock, collectors.NO_ID)

    nobody = {**VIEW, "anonymousId": "undefined"}
    assert limited("203.0.113.7", nobody, nobody, VIEW).status_code == 200
    wait_until(lambda: counted() == 2)
    assert limited("203.0.113.7", nobody).status_code == 200
    wait_until(lambda: counted() == 3)
    # The count is that of the last day with any.
    clock.now += MICROS_PER_DAY
    assert counted() == 3
    assert limited("203.0.113.7", nobody).status_code == 200
    wait_until(lambda: counted() == 1)
    clock.now += 2 * MICROS_PER_DAY
    assert counted() == 0


def test_a_warehouse_that_is_down(
    tmp_path: Path,
    engine: Engine,
    warehouse_url: str,
    write_key: str,
    clock: Clock,
    troubles: list[str],
) -> None:
    database = Path(warehouse_url.removeprefix("sqlite:///"))
    away, loop = tmp_path / "away.db", tmp_path / "loop"

    def go_down() -> None:
        """At once: a collector that reads at an instant without a file would make one."""
        away.hardlink_to(database)
        loop.symlink_to(database)
        loop.rename(database)

    engine.dispose()
    go_down()
    served = Database(warehouse_url)
    shared = Collector(
        KnownKeys(served),
        LandingWriter(tmp_path / "landing"),
        SendLimits(None, b""),
        WarehouseWriter(served, clock, write_seconds=0.05),
        clock,
    )
    client = create_collector(shared).test_client()

    def of_keys() -> int:
        return sum("write keys" in trouble for trouble in troubles)

    wait_until(of_keys)
    waits = post(client, "/v1/t", {**VIEW, "writeKey": write_key})
    assert refusal(waits) == (503, "unavailable")
    assert waits.headers["Retry-After"] == "5"
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200
    away.rename(database)
    wait_until(lambda: shared.keys.were_read)
    assert post(client, "/v1/t", {**VIEW, "writeKey": write_key}).status_code == 200
    assert client.get("/readyz").status_code == 200
    # Down again: the keys that were read go on working.
    go_down()
    # Last: a connection that is opened anew finds the folder.
    shared.keys._database.close()
    wait_until(lambda: of_keys() == 2)
    assert post(client, "/v1/t", {**VIEW, "writeKey": write_key}).status_code == 200
    assert of_keys() == 2
    shared.close()


def test_a_key_of_any_origin_is_that_of_no_page_without_a_key(
    shared: Collector, engine: Engine, shop: ShopBuilder, write_key: str
) -> None:
    new_write_key(engine, shop.shop_id, "*")
    wait_until(lambda: shared.keys.allows("https://else.example"))
    assert shared.keys.naming(ORIGIN)
    for origin in ("*", "https://else.example"):
        assert shared.keys.naming(origin) is None
