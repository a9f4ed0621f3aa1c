"""The document is whole: every endpoint with its scope, every field with a word about it."""

import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.shop_builder import ShopBuilder
from tests.web.openapi.reading import operations, parameters, success
from web.app import close_app, create_app
from web.openapi.document import document
from web.openapi.responses import EXAMPLES
from web.reports import ENDPOINTS


def test_every_endpoint_is_described_with_its_scope_and_errors(openapi: dict[str, Any]) -> None:
    found = {
        (path, method): operation
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    }
    assert len(found) == len(ENDPOINTS)
    for endpoint in ENDPOINTS:
        operation = found[f"/v1{endpoint.path}", endpoint.method.lower()]
        assert operation["security"] == [{"apiKey": [endpoint.scope] if endpoint.scope else []}]
        assert ("403" in operation["responses"]) == (endpoint.scope is not None)
        assert ("404" in operation["responses"]) == ("{" in endpoint.path)
        assert {"401", "500", "503"} <= set(operation["responses"])
        assert operation["summary"]


def test_every_method_has_the_header_that_makes_it_conditional(openapi: dict[str, Any]) -> None:
    conditional = {"get": "If-None-Match", "post": "Idempotency-Key", "put": "If-Match"}
    # A note that is taken away twice is a 404.
    for methods in openapi["paths"].values():
        for method, operation in methods.items():
            described = parameters(openapi, operation)
            headers = [each["name"] for each in described if each["in"] == "header"]
            expected = [conditional[method]] if method in conditional else []
            assert headers == expected, operation["operationId"]


def test_nothing_is_left_without_a_word(openapi: dict[str, Any]) -> None:
    for name, schema in openapi["components"]["schemas"].items():
        assert schema["description"], name
    for operation in operations(openapi).values():
        for parameter in parameters(openapi, operation):
            assert parameter["description"], operation["operationId"]


def test_a_field_can_be_null_where_its_words_say_when(openapi: dict[str, Any]) -> None:
    """A client that is generated from the document has no null where none is declared."""
    for name, schema in openapi["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            values = [described, described.get("additionalProperties")]
            can_be_null = any(
                {"type": "null"} in value.get("anyOf", ())
                for value in values
                if isinstance(value, dict)
            )
            assert can_be_null == ("null" in described.get("description", "")), (name, field)


def test_every_format_is_one_that_validators_know(openapi: dict[str, Any]) -> None:
    """They take no notice of any other word."""
    formats = re.findall(r'"format": "([^"]*)"', json.dumps(openapi["components"]["schemas"]))
    assert set(formats) <= {"date", "date-time", "email", "uri", "uuid"}


def test_the_document_takes_no_key_and_is_not_sent_twice() -> None:
    app = create_app("sqlite://")
    client = app.test_client()
    first = client.get("/v1/openapi.json")
    assert json.loads(first.data) == json.loads(json.dumps(document()))
    again = client.get("/v1/openapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert client.get("/openapi.json").data == first.data
    assert client.post("/v1/openapi.json").status_code == 405
    assert client.get("/v1/openapi.json/").status_code == 401
    close_app(app)


def test_a_language_model_reads_of_every_endpoint(
    openapi: dict[str, Any], shop: ShopBuilder, client: FlaskClient
) -> None:
    text = client.get("/llms.txt").text
    assert text.startswith("# formrevenue\n")
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            assert f"- {method.upper()} {path}: {operation['summary']}\n" in text
    for address in re.findall(r"\]\((/[^)]*)\)", text):
        assert client.get(address).status_code == 200, address
    (prefix,) = re.findall(r"KEY begins with `(\w+)`", text)
    key = shop.mint("analytics:read")
    assert key.startswith(prefix)
    asked = {"Authorization": f"Bearer {key}"}
    assert client.get("/v1/attribution?range=30d", headers=asked).status_code == 200


def test_an_example_that_is_not_recorded_yet_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The document is whole without it; `test_the_examples_are_true_answers` asks for it."""
    for kind in ("answers", "requests"):
        monkeypatch.setitem(EXAMPLES, kind, {})
    for methods in document()["paths"].values():
        for operation in methods.values():
            assert "examples" not in success(operation)
            assert success(operation)["schema"]
