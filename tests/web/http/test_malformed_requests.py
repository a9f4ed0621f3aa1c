"""Requests that are refused for what they say: parameters and bodies."""

import json

import pytest
from flask.testing import FlaskClient

from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder

FORM = "11111111-1111-4111-8111-111111111111"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def headers(shop: ShopBuilder) -> dict[str, str]:
    shop.form(FORM)
    return {"Authorization": f"Bearer {shop.mint()}"}


def test_malformed_range(client: FlaskClient, headers: dict[str, str]) -> None:
    for text in (
        "",
        "8d",
        "7D",
        "2026-02-30",
        "2026-1-01",
        "2026-01-01..",
        "..2026-01-01",
        "2026-01-02..2026-01-01",
        "2026-01-01..2026-01-02..2026-01-03",
        "20260101",
        "2010-01-01..2020-01-09",
        "%202026-01-01",
        "2026-01-01%0A",
        "٢٠٢٦-01-01",
        "0000-01-01",
        "2026-01-01T00:00:00Z",
        "7d&range=7d",
    ):
        answer = client.get(f"/v1/attribution?range={text}", headers=headers)
        refused(answer, 400, "invalid_range", text)


def test_malformed_form_ids(client: FlaskClient, headers: dict[str, str]) -> None:
    for text in (
        "",
        "x",
        FORM + ",",
        f"{FORM},%20{FORM}",
        FORM.replace("-", ""),
        "{" + FORM + "}",
        f"{FORM}&form_ids={FORM}",
        ",".join(f"{n:08}-1111-4111-8111-111111111111" for n in range(101)),
    ):
        answer = client.get(f"/v1/forms/funnel?form_ids={text}", headers=headers)
        refused(answer, 400, "invalid_form_ids", text)


def test_malformed_limit(client: FlaskClient, headers: dict[str, str]) -> None:
    for text in ("", "0", "00", "-1", "+5", "5.0", "1e2", "x", "%205", "٣", "5&limit=5"):
        answer = client.get(f"/v1/forms?limit={text}", headers=headers)
        refused(answer, 400, "invalid_limit", text)


def test_malformed_dimension(client: FlaskClient, headers: dict[str, str]) -> None:
    for path in ("/v1/revenue/by-utm", "/v1/customers/ltv"):
        for query in ("", "dimension=", "dimension=Form", "dimension=form&dimension=form"):
            answer = client.get(f"{path}?{query}", headers=headers)
            refused(answer, 400, "invalid_dimension", query)


def test_malformed_field(client: FlaskClient, headers: dict[str, str]) -> None:
    for query in (
        "",
        "fieldA=a",
        "fieldB=b",
        "fieldA=&fieldB=b",
        "fieldA=a&fieldB=a",
        "fieldA=a&fieldA=c&fieldB=b",
    ):
        answer = client.get(f"/v1/forms/{FORM}/cross-field?{query}", headers=headers)
        refused(answer, 400, "invalid_field", query)


def test_no_json(client: FlaskClient, headers: dict[str, str]) -> None:
    for body in (
        b"",
        b"{",
        b"{'a': 1}",
        b'{"name": "x", "schema": {"a": NaN}}',
        b"\xff",
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"name": "x", "schema": {}} {}',
    ):
        answer = client.post("/v1/forms", data=body, headers=headers | JSON)
        refused(answer, 400, "invalid_json", body[:40])


def test_not_the_body_asked_for(client: FlaskClient, headers: dict[str, str]) -> None:
    for body in (
        "[]",
        "null",
        '"x"',
        "1",
        "{}",
        '{"name": "x"}',
        '{"schema": {}}',
        '{"name": 1, "schema": {}}',
        '{"name": "", "schema": {}}',
        '{"name": "  ", "schema": {}}',
        '{"name": "x", "schema": []}',
        '{"name": "x", "schema": null}',
        '{"name": "a\\u0000b", "schema": {}}',
        '{"name": "a\\ud800", "schema": {}}',
        '{"name": "x", "schema": {"a": ["\\u0000"]}}',
        '{"name": "x", "schema": {"\\ud800": 1}}',
        json.dumps({"name": "x" * 256, "schema": {}}),
    ):
        answer = client.post("/v1/forms", data=body, headers=headers | JSON)
        refused(answer, 400, "invalid_body", body)


def test_unusual_bodies_are_taken(client: FlaskClient, headers: dict[str, str]) -> None:
    for body in (
        ' { "schema" : { "a" : "}\\"" } , "name" : "x" , "more" : "\\ud800" } ',
        '{"name": "first", "name": "x", "schema": 1, "schema": {"a": 1e999}}',
        '{"na\\u006de": "x", "schema": ' + '{"a":' * 200 + "1" + "}" * 201,
    ):
        answer = client.post("/v1/forms", data=body, headers=headers | JSON)
        assert answer.status_code == 201, answer.get_data(as_text=True)
        assert answer.get_json()["data"]["name"] == "x"


def test_draft_must_be_an_object(client: FlaskClient, headers: dict[str, str]) -> None:
    path = f"/v1/forms/{FORM}"
    for body in ("{}", '{"draft_schema": 1}', '{"schema": {}}'):
        refused(client.put(path, data=body, headers=headers | JSON), 400, "invalid_body")
    refused(client.put(path, data="{", headers=headers | JSON), 400, "invalid_json")


def test_other_media_types(client: FlaskClient, headers: dict[str, str]) -> None:
    for kind in (None, "text/plain", "application/x-www-form-urlencoded"):
        answer = client.post("/v1/forms", data=b"{}", content_type=kind, headers=headers)
        refused(answer, 415, "unsupported_media_type", kind)


def test_a_body_of_one_mebibyte_is_taken_and_a_longer_one_is_not(
    client: FlaskClient, headers: dict[str, str]
) -> None:
    frame = '{"name": "x", "schema": {"a": "%s"}}'
    body = frame % ("a" * (1024 * 1024 - len(frame) + 2))
    assert client.post("/v1/forms", data=body, headers=headers | JSON).status_code == 201
    answer = client.post("/v1/forms", data=body + " ", headers=headers | JSON)
    refused(answer, 413, "payload_too_large")


NO_HOSTS = (
    "a..b",
    ".",
    "..",
    f"{'a' * 64}.example",
    ".".join(["a" * 60] * 5),
    "a b",
    "a,b",
    "a/b",
    "a@b",
    "*",
    "é",
    "\x01",
    "a\x7f",
    "a:b",
    "a:123456",
    "[::1",
    "[::g]",
    "[::1]x",
    ":80",
    "",
)
HOSTS = ("localhost", "a.example.", "A_b-c.example:8000", "a:", "192.0.2.1:1", "[2001:db8::1]:80")


def test_a_host_that_is_none(client: FlaskClient, headers: dict[str, str]) -> None:
    for host in NO_HOSTS:
        here = {"HTTP_HOST": host}
        for path in ("/v1/forms", "/v1/nothing", "/v1/openapi.json", "/docs", "/healthz", "/"):
            answer = client.get(path, headers=headers, environ_overrides=here)
            refused(answer, 400, "invalid_host", host)
        answer = client.get("/v1/forms", environ_overrides=here)
        refused(answer, 401, "unauthorized", host)
        for path in ("/settings", "/settings/sign-in", "/settings/nothing"):
            page = client.get(path, environ_overrides=here)
            assert (page.status_code, page.mimetype) == (400, "text/html"), host
            assert page.headers["X-Request-Id"] in page.text
    for host in HOSTS:
        answer = client.get("/settings/sign-in", environ_overrides={"HTTP_HOST": host})
        assert answer.status_code == 200, host


def test_only_before_http_1_1_a_request_needs_no_host(client: FlaskClient) -> None:
    for protocol, status in (("HTTP/1", 200), ("HTTP/1.0", 200), ("HTTP/1.1", 400)):
        sent = {"SERVER_PROTOCOL": protocol, "HTTP_HOST": ""}
        assert client.get("/healthz", environ_overrides=sent).status_code == status


def test_a_body_that_ends_early_is_not_taken(client: FlaskClient, headers: dict[str, str]) -> None:
    """Though what came of it could be."""
    whole = b'{"name": "x", "schema": {}}'
    for announced in (len(whole) + 1, 10_000_000_000):
        sent = {"wsgi.input_terminated": True, "CONTENT_LENGTH": str(announced)}
        answer = client.post(
            "/v1/forms", data=whole, headers=headers | JSON, environ_overrides=sent
        )
        refused(answer, 400, "invalid_body", announced)
        assert (
            f"after {len(whole)} of the {announced} bytes" in answer.get_json()["error"]["message"]
        )
