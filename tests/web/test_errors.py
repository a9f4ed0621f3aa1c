"""Every error: status, code, shape, and the order in which they are checked."""

import json
import logging

import pytest
from flask.testing import FlaskClient

from tests.web.builders import ShopBuilder, instant
from web.app import create_app
from web.key_text import new_key

FORM = "11111111-1111-4111-8111-111111111111"
UNKNOWN = "99999999-9999-4999-8999-999999999999"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def headers(shop: ShopBuilder) -> dict[str, str]:
    shop.form(FORM)
    return {"Authorization": f"Bearer {shop.mint()}"}


def refused(answer, status: int, code: str, case: object = "") -> None:
    assert (answer.status_code, answer.mimetype) == (status, "application/json"), case
    body = answer.get_json()
    assert list(body) == ["error"]
    error = body["error"]
    assert error["code"] == code, case
    assert error["message"]
    assert answer.headers["X-Request-Id"] == error["requestId"]
    assert error["requestId"].startswith("req_")
    assert set(error) == {"code", "message", "requestId"}


def test_malformed_range(client: FlaskClient, headers: dict[str, str]) -> None:
    for text in (
        "", "8d", "7D", "2026-02-30", "2026-1-01", "2026-01-01..", "..2026-01-01",
        "2026-01-02..2026-01-01", "2026-01-01..2026-01-02..2026-01-03", "20260101",
        "2010-01-01..2020-01-09", "%202026-01-01", "2026-01-01%0A", "٢٠٢٦-01-01", "0000-01-01",
        "2026-01-01T00:00:00Z", "7d&range=7d",
    ):
        answer = client.get(f"/v1/attribution?range={text}", headers=headers)
        refused(answer, 400, "invalid_range", text)


def test_malformed_form_ids(client: FlaskClient, headers: dict[str, str]) -> None:
    for text in (
        "", "x", FORM + ",", f"{FORM},%20{FORM}", FORM.replace("-", ""), "{" + FORM + "}",
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
        "", "fieldA=a", "fieldB=b", "fieldA=&fieldB=b", "fieldA=a&fieldB=a",
        "fieldA=a&fieldA=c&fieldB=b",
    ):
        answer = client.get(f"/v1/forms/{FORM}/cross-field?{query}", headers=headers)
        refused(answer, 400, "invalid_field", query)


def test_no_json(client: FlaskClient, headers: dict[str, str]) -> None:
    for body in (
        b"", b"{", b"{'a': 1}", b'{"name": "x", "schema": {"a": NaN}}', b"\xff",
        b'\xef\xbb\xbf{}', b"[" * 100_000, b'{"a":' * 100_000, b'{"name": "x", "schema": {}} {}',
    ):
        answer = client.post("/v1/forms", data=body, headers=headers | JSON)
        refused(answer, 400, "invalid_json", body[:40])


def test_not_the_body_asked_for(client: FlaskClient, headers: dict[str, str]) -> None:
    for body in (
        "[]", "null", '"x"', "1", "{}", '{"name": "x"}', '{"schema": {}}',
        '{"name": 1, "schema": {}}', '{"name": "", "schema": {}}', '{"name": "  ", "schema": {}}',
        '{"name": "x", "schema": []}', '{"name": "x", "schema": null}',
        '{"name": "a\\u0000b", "schema": {}}', '{"name": "a\\ud800", "schema": {}}',
        '{"name": "x", "schema": {"a": ["\\u0000"]}}', '{"name": "x", "schema": {"\\ud800": 1}}',
        json.dumps({"name": "x" * 256, "schema": {}}),
    ):
        answer = client.post("/v1/forms", data=body, headers=headers | JSON)
        refused(answer, 400, "invalid_body", body)


def test_unusual_bodies_are_taken(client: FlaskClient, headers: dict[str, str]) -> None:
    for body in (
        ' { "schema" : { "a" : "}\\"" } , "name" : "x" , "more" : "\\ud800" } ',
        '{"name": "first", "name": "x", "schema": 1, "schema": {"a": 1e999}}',
        '{"na\\u006de": "x", "schema": %s1%s}' % ('{"a":' * 200, "}" * 200),
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


def test_no_valid_key(client: FlaskClient, headers: dict[str, str]) -> None:
    key = headers["Authorization"].removeprefix("Bearer ")
    typo = key[:20] + ("a" if key[20] != "a" else "b") + key[21:]
    for header in (
        None, "", "Bearer", "Bearer ", "Basic abc", f"Bearer  {key}", key, f"Bearer {key}x",
        f"Bearer {key},Bearer {key}", f"Bearer {typo}", f"Bearer {new_key()}", "Bearer frk_live_é",
    ):
        sent = {} if header is None else {"Authorization": header}
        for path in ("/v1/forms", "/v1/unknown", f"/v1/forms/{UNKNOWN}/funnel?range=x", "/v1"):
            answer = client.get(path, headers=sent)
            refused(answer, 401, "unauthorized", header)
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        refused(client.delete("/v1/forms", headers=sent), 401, "unauthorized")


def test_the_scheme_is_case_insensitive(client: FlaskClient, headers: dict[str, str]) -> None:
    sent = {"Authorization": headers["Authorization"].replace("Bearer", "bearer")}
    assert client.get("/v1/forms", headers=sent).status_code == 200


def test_expired(client: FlaskClient, shop: ShopBuilder, clock) -> None:
    sent = {"Authorization": f"Bearer {shop.mint(expires_at=instant('2026-04-01T00:00:00'))}"}
    clock.set("2026-03-31T23:59:59.999999")
    assert client.get("/v1/forms", headers=sent).status_code == 200
    clock.set("2026-04-01T00:00:00")
    refused(client.get("/v1/forms", headers=sent), 401, "unauthorized")


def test_unknown_paths(client: FlaskClient, headers: dict[str, str]) -> None:
    for path in (
        "/v1", "/v1/", "/v1/forms/", "//v1/forms", "/v1//forms", "/v1/forms/x/y", "/v1/FORMS",
        "/v2/forms", "/", "/v1/forms/funnel/", "/v1/forms/funnel/funnel", "/v1/discounts",
        "/healthz/",
    ):
        answer = client.get("http://localhost" + path, headers=headers)
        refused(answer, 404, "not_found", path)


FORM_PATHS = ("", "/funnel", "/steps/dropoff", "/time-to-complete", "/devices", "/visitor-conversion",
              "/cross-field", "/response-revenue", "/trends")


def test_unknown_forms_come_before_the_request(
    client: FlaskClient, headers: dict[str, str]
) -> None:
    for form_id in (
        UNKNOWN, "x", "1", FORM.replace("-", ""), "{" + FORM + "}", FORM + "%0A", "%00", "%ff",
        "..%2f", FORM[:-1] + "g", "urn:uuid:" + FORM,
    ):
        for path in FORM_PATHS:
            answer = client.get(f"/v1/forms/{form_id}{path}?range=x", headers=headers)
            refused(answer, 404, "not_found", form_id)
        answer = client.put(f"/v1/forms/{form_id}", data="{", headers=headers)
        refused(answer, 404, "not_found", form_id)


def test_scope_comes_before_the_form_and_the_body(client: FlaskClient, shop: ShopBuilder) -> None:
    reader = {"Authorization": f"Bearer {shop.mint('analytics:read')}"}
    writer = {"Authorization": f"Bearer {shop.mint('forms:write')}"}
    refused(client.post("/v1/forms", data="{", headers=reader), 403, "insufficient_scope")
    refused(client.put("/v1/forms/x", data="{", headers=reader), 403, "insufficient_scope")
    refused(client.get("/v1/forms/x/funnel?range=x", headers=writer), 403, "insufficient_scope")


def test_other_methods(client: FlaskClient, headers: dict[str, str]) -> None:
    for method, path, allowed in (
        ("DELETE", "/v1/forms", {"GET", "HEAD", "POST"}),
        ("POST", f"/v1/forms/{FORM}/funnel", {"GET", "HEAD"}),
        ("PUT", "/v1/forms/funnel", {"GET", "HEAD"}),
        ("PATCH", f"/v1/forms/{FORM}", {"GET", "HEAD", "PUT"}),
        ("POST", "/healthz", {"GET", "HEAD"}),
    ):
        answer = client.open(path, method=method, headers=headers)
        refused(answer, 405, "method_not_allowed", path)
        assert set(answer.headers["Allow"].split(", ")) == allowed


def test_head_and_options(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = client.head("/v1/forms", headers=headers)
    assert (answer.status_code, answer.data) == (200, b"")
    answer = client.options(f"/v1/forms/{FORM}")
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS, PUT"


def test_what_goes_wrong_inside_stays_inside(
    client: FlaskClient, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret")

    caplog.set_level(logging.INFO, "web")
    monkeypatch.setattr("web.forms.form_store.list_forms", fail)
    answer = client.get("/v1/forms", headers=headers)
    refused(answer, 500, "internal_error")
    assert "secret" not in answer.get_data(as_text=True)
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    "url", ["postgresql+psycopg://nobody@127.0.0.1:1/nothing", "sqlite:////proc/warehouse.db"]
)
def test_no_warehouse(url: str) -> None:
    client = create_app(url).test_client()
    headers = {"Authorization": f"Bearer {new_key()}"}
    refused(client.get("/v1/forms", headers=headers), 503, "unavailable")
    refused(client.get("/readyz"), 503, "unavailable")
    assert client.get("/healthz").get_json() == {"status": "ok"}
    refused(client.get("/v1/forms"), 401, "unauthorized")


def test_a_warehouse_that_is_not_migrated_is_not_ready(tmp_path) -> None:
    client = create_app(f"sqlite:///{tmp_path / 'empty.db'}").test_client()
    refused(client.get("/readyz"), 503, "unavailable")
