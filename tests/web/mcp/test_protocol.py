"""The Model Context Protocol in both versions, message by message; the checks before a tool is asked."""

from typing import Any

import orjson
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.support.fixtures import Clock
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder
from tests.web.mcp.asking import VERSIONS, message
from warehouse import VERSION
from warehouse.settings import CORS_ORIGINS, PUBLIC_URL, RATE_LIMIT
from web.app import close_app, create_app
from web.mcp import HANDSHAKE, META, STATELESS
from web.mcp.tools import INSTRUCTIONS, TOOLS


@pytest.fixture
def key(shop: ShopBuilder) -> dict[str, str]:
    return {"Authorization": f"Bearer {shop.mint()}"}


def ask(
    client: FlaskClient,
    key: dict[str, str],
    method: str,
    version: str,
    headers: dict[str, str] | None = None,
    **params: Any,
) -> TestResponse:
    body, own = message(method, params, version)
    return client.post("/mcp", json=body, headers={**key, **own, **(headers or {})})


def error_of(answer: TestResponse, status: int, code: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.data
    error: dict[str, Any] = answer.get_json()["error"]
    assert error["code"] == code, error
    return error


def test_a_handshake_of_which_nothing_is_remembered(
    client: FlaskClient, key: dict[str, str]
) -> None:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x"}}
    body = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params}
    answer = client.post("/mcp", json=body, headers=key)
    assert answer.get_json() == {
        "jsonrpc": "2.0",
        "id": "a",
        "result": {
            "protocolVersion": HANDSHAKE,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "formrevenue", "version": VERSION},
            "instructions": INSTRUCTIONS,
        },
    }
    assert "Mcp-Session-Id" not in answer.headers
    for told in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 7, "result": {}},
    ):
        answer = client.post("/mcp", json=told, headers=key)
        assert (answer.status_code, answer.data) == (202, b"")
    assert ask(client, key, "ping", HANDSHAKE).get_json()["result"] == {}


def test_the_stateless_version_says_what_it_is(client: FlaskClient, key: dict[str, str]) -> None:
    found = ask(client, key, "server/discover", STATELESS).get_json()["result"]
    assert found["supportedVersions"] == [STATELESS, HANDSHAKE]
    assert (found["resultType"], found["capabilities"]) == ("complete", {"tools": {}})
    assert found["_meta"][f"{META}serverInfo"]["name"] == "formrevenue"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_list_of_tools(client: FlaskClient, key: dict[str, str], version: str) -> None:
    result = ask(client, key, "tools/list", version).get_json()["result"]
    assert result["tools"] == list(TOOLS.values())
    assert ("ttlMs" in result) == ("resultType" in result) == (version == STATELESS)
    result = ask(client, key, "tools/call", version, name="list_forms").get_json()["result"]
    assert result["structuredContent"]["data"] == []


def test_methods_of_the_other_version(client: FlaskClient, key: dict[str, str]) -> None:
    for method in ("initialize", "ping", "resources/list"):
        error_of(ask(client, key, method, STATELESS), 404, -32601)
    for method in ("server/discover", "resources/list"):
        error_of(ask(client, key, method, HANDSHAKE), 200, -32601)


def test_a_message_that_contradicts_itself(client: FlaskClient, key: dict[str, str]) -> None:
    params = {"name": "list_forms", "arguments": {}}
    for name in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"):
        answer = ask(client, key, "tools/call", STATELESS, {name: "other"}, **params)
        assert name in error_of(answer, 400, -32020)["message"]
    body, headers = message("tools/list", {}, STATELESS)
    del body["params"]["_meta"][f"{META}clientCapabilities"]
    answer = client.post("/mcp", json=body, headers={**key, **headers})
    assert "clientCapabilities" in error_of(answer, 400, -32602)["message"]
    body["params"] = {}
    error_of(client.post("/mcp", json=body, headers={**key, **headers}), 400, -32602)


def test_a_version_that_is_not_spoken(client: FlaskClient, key: dict[str, str]) -> None:
    body, headers = message("tools/list", {}, STATELESS)
    body["params"]["_meta"][f"{META}protocolVersion"] = "2099-01-01"
    headers["MCP-Protocol-Version"] = "2099-01-01"
    error = error_of(client.post("/mcp", json=body, headers={**key, **headers}), 400, -32022)
    assert error["data"] == {"supported": [STATELESS, HANDSHAKE], "requested": "2099-01-01"}
    error_of(ask(client, key, "tools/list", "2024-11-05"), 400, -32022)
    # The first message of the older version may name one that the server does not speak.
    answer = ask(client, key, "initialize", "2024-11-05")
    assert answer.get_json()["result"]["protocolVersion"] == HANDSHAKE


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        (b"7", -32600),
        (b'{"id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600),
    ],
)
def test_what_is_no_message(
    client: FlaskClient, key: dict[str, str], body: bytes, code: int
) -> None:
    answer = client.post("/mcp", data=body, headers=key, content_type="application/json")
    error_of(answer, 400, code)


@pytest.mark.parametrize(
    "params",
    [{}, {"name": "x"}, {"name": 7}, {"name": "list_forms", "arguments": []}, {"name": None}],
)
def test_what_is_no_call(client: FlaskClient, key: dict[str, str], params: dict[str, Any]) -> None:
    error_of(ask(client, key, "tools/call", HANDSHAKE, **params), 400, -32602)


def test_without_a_key_as_the_api(client: FlaskClient, shop: ShopBuilder) -> None:
    answer = ask(client, {}, "ping", HANDSHAKE)
    refused(answer, 401, "unauthorized")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    refused(client.get("/mcp"), 401, "unauthorized")


def test_the_checks_of_the_api(client: FlaskClient, key: dict[str, str]) -> None:
    for method in ("GET", "HEAD", "PUT", "DELETE"):
        assert client.open("/mcp", method=method, headers=key).status_code == 405
    refused(client.get("/mcp", headers=key), 405, "method_not_allowed")
    refused(client.post("/mcp", data=b"{}", headers=key), 415, "unsupported_media_type")
    large = b'{"x":"' + b"x" * 1_048_576 + b'"}'
    answer = client.post("/mcp", data=large, headers=key, content_type="application/json")
    refused(answer, 413, "payload_too_large")
    assert client.post("/mcp/", json={}, headers=key).status_code == 404
    answer = ask(client, key, "ping", HANDSHAKE)
    assert answer.headers["X-Request-Id"].startswith("req_")


def test_a_foreign_origin(
    client: FlaskClient, key: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def status(origin: str) -> int:
        return ask(client, key, "ping", HANDSHAKE, {"Origin": origin}).status_code

    for origin in ("https://evil.example", "null", "http://localhost.evil.example", "", "*"):
        answer = ask(client, key, "ping", HANDSHAKE, {"Origin": origin})
        refused(answer, 403, "forbidden_origin", origin)
    assert status("http://localhost") == 200
    monkeypatch.setenv(PUBLIC_URL.name, "https://figures.example")
    assert (status("http://localhost"), status("https://figures.example")) == (403, 200)
    monkeypatch.setenv(CORS_ORIGINS.name, "https://app.example")
    assert status("https://app.example") == 200
    assert status("https://evil.example") == 403


def test_a_shop_that_asks_too_often(
    monkeypatch: pytest.MonkeyPatch, warehouse_url: str, clock: Clock, shop: ShopBuilder
) -> None:
    monkeypatch.setenv(RATE_LIMIT.name, "2/60")
    app = create_app(warehouse_url, clock)
    client, key = app.test_client(), {"Authorization": f"Bearer {shop.mint()}"}
    assert client.get("/v1/forms", headers=key).status_code == 200
    assert ask(client, key, "ping", HANDSHAKE).status_code == 200
    answer = ask(client, key, "ping", HANDSHAKE)
    refused(answer, 429, "rate_limited")
    assert int(answer.headers["Retry-After"]) > 0
    close_app(app)


def test_the_log_names_the_key_and_the_refusal(
    client: FlaskClient, key: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    ask(client, key, "tools/call", HANDSHAKE, name="ask_report", arguments={"report": "x"})
    line = orjson.loads(capsys.readouterr().err.splitlines()[-1])
    assert (line["path"], line["status"], line["error"]) == ("/mcp", 200, "unknown_report")
    assert line["credentialId"].startswith("cred_")


def test_a_failure_tells_its_cause_to_the_log_alone(
    client: FlaskClient, key: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> bytes:
        raise RuntimeError("secret")

    monkeypatch.setattr("web.mcp.tools.answer", fail)
    result = ask(client, key, "tools/call", HANDSHAKE, name="list_forms").get_json()["result"]
    assert result["isError"]
    assert result["structuredContent"]["error"]["code"] == "internal_error"
    assert "secret" not in result["content"][0]["text"]
