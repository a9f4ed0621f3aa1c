"""The API's description says what the API does: on both databases, of every endpoint."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import jsonschema_rs
import pytest
from sqlalchemy import URL, make_url

from tests import postgres
from tests.web import request_rules
from tests.web.described import QUESTIONS, Described, described, shown
from tests.web.serving import served
from web.app import RESOURCES, close_app, create_app
from web.openapi.document import document
from web.openapi.examples import EXAMPLES

ROOT = Path(__file__).parent.parent.parent
Answers = dict[tuple[str, str], Any]
"""By operation and name of the question."""


@pytest.fixture(scope="module")
def openapi() -> dict[str, Any]:
    app = create_app("sqlite://")
    answer = app.test_client().get("/v1/openapi.json")
    close_app(app)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.get_json()
    return found


@pytest.fixture(scope="module")
def sqlite_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Described]:
    with described(f"sqlite:///{tmp_path_factory.mktemp('openapi') / 'demo.db'}") as found:
        yield found


@pytest.fixture(scope="module")
def postgresql_service(postgres_server: URL) -> Iterator[Described]:
    with postgres.new_database(postgres_server) as url, described(url) as found:
        yield found


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def service(request: pytest.FixtureRequest) -> Described:
    found: Described = request.getfixturevalue(f"{request.param}_service")
    return found


@pytest.fixture(scope="module")
def answers(service: Described) -> Answers:
    return {(asked.operation, asked.name): service.ask(asked) for asked in QUESTIONS}


def operations(openapi: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: operation
        for methods in openapi["paths"].values()
        for operation in methods.values()
    }


def success(operation: dict[str, Any]) -> dict[str, Any]:
    (status,) = (status for status in operation["responses"] if status.startswith("2"))
    found: dict[str, Any] = operation["responses"][status]["content"]["application/json"]
    return found


def closed(schema: Any) -> Any:
    """The schema, in which no object may have a member that is not declared."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(part) for name, part in schema.items()}
    if found.get("type") == "object" and "properties" in found:
        found["additionalProperties"] = False
    return found


def complaints(openapi: dict[str, Any], schema: dict[str, Any], value: Any) -> list[str]:
    whole = {**closed(schema), "components": closed(openapi["components"])}
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    return [
        f"{error.instance_path}: {error.message}"[:300] for error in validator.iter_errors(value)
    ]


def test_every_answer_is_as_described(openapi: dict[str, Any], answers: Answers) -> None:
    described = operations(openapi)
    assert {operation for operation, _ in answers} == set(described)
    for (operation, name), body in answers.items():
        assert complaints(openapi, success(described[operation])["schema"], body) == [], name


def test_every_field_is_in_the_answers_in_the_order_described(
    openapi: dict[str, Any], answers: Answers
) -> None:
    rows = openapi["components"]["schemas"]
    seen: set[str] = set()

    def follow(schema: dict[str, Any], value: Any) -> None:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            seen.add(name)
            assert list(value) == rows[name]["required"] == list(rows[name]["properties"]), name
            follow(rows[name], value)
        elif "discriminator" in schema:
            follow({"$ref": schema["discriminator"]["mapping"][value["dimension"]]}, value)
        elif schema.get("type") == "array":
            for element in value:
                follow(schema["items"], element)
        else:
            for field, inner in schema.get("properties", {}).items():
                follow(inner, value[field])

    described = operations(openapi)
    for (operation, _), body in answers.items():
        follow(success(described[operation])["schema"], body)
    assert seen == set(rows) - {"ErrorDetail", "NewForm", "DraftReplacement"}


def test_the_examples_are_true_answers(answers: Answers) -> None:
    assert {(asked.operation, asked.name) for asked in QUESTIONS} == {
        (operation, name) for operation, kept in EXAMPLES.items() for name in kept["answers"]
    }
    for (operation, name), body in answers.items():
        assert EXAMPLES[operation]["answers"][name] == shown(body), (operation, name)


def test_every_header_is_described(
    openapi: dict[str, Any], service: Described, answers: Answers
) -> None:
    """After the `answers`, which another form would change."""
    described = openapi["components"]["headers"]
    seen: set[str] = set()
    for asked in QUESTIONS:
        operation = operations(openapi)[asked.operation]
        forms = ("json", "csv") if asked.method == "GET" else ("json",)
        for kind in forms:
            query = asked.query | ({"format": kind} if kind == "csv" else {})
            answer = service.send(replace(asked, query=query))
            declared = operation["responses"][str(answer.status_code)]["headers"]
            sent = set(answer.headers.keys()) - {"Content-Type", "Content-Length"}
            assert sent <= set(declared), asked.operation
            required = {name for name in declared if described.get(name, {}).get("required")}
            assert required <= sent, asked.operation
            seen |= sent
    assert seen >= {"Link", "Location", "X-Range-From", "ETag"}


def test_a_field_too_many_or_of_another_type_is_seen(
    openapi: dict[str, Any], answers: Answers
) -> None:
    schema = success(operations(openapi)["formFunnel"])["schema"]
    true = answers["formFunnel", "answer"]
    changes: list[dict[str, Any]] = [{"more": 1}, {"views": "1"}, {"views": -1}, {"stages": [{}]}]
    for change in changes:
        body = deepcopy(true)
        body["data"] |= change
        assert len(complaints(openapi, schema, body)) > 0, change


def test_every_endpoint_is_described_with_its_scope_and_errors(openapi: dict[str, Any]) -> None:
    endpoints = [one for resource in RESOURCES for one in resource.blueprint.endpoints]
    found = {
        (path, method): operation
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    }
    assert len(found) == len(endpoints) == 19
    for endpoint in endpoints:
        operation = found[f"/v1{endpoint.path}", endpoint.method.lower()]
        assert operation["security"] == [{"apiKey": [endpoint.scope] if endpoint.scope else []}]
        assert ("403" in operation["responses"]) == (endpoint.scope is not None)
        assert ("404" in operation["responses"]) == ("{id}" in endpoint.path)
        assert {"401", "500", "503"} <= set(operation["responses"])
        assert operation["summary"]


def test_nothing_is_left_without_a_word(openapi: dict[str, Any]) -> None:
    for name, schema in openapi["components"]["schemas"].items():
        assert schema["description"], name
    for operation in operations(openapi).values():
        for parameter in operation["parameters"]:
            assert parameter["description"], operation["operationId"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/v1/forms?limit=0", None, "400"),
        ("GET", "/v1/attribution?range=2026-02-30", None, "400"),
        ("GET", "/v1/revenue/by-utm?dimension=x", None, "400"),
        ("GET", "/v1/forms/funnel?form_ids=x", None, "400"),
        ("GET", "/v1/forms/{id}/cross-field?fieldA=x", None, "400"),
        ("GET", "/v1/forms/{id}", None, "404"),
        ("POST", "/v1/forms", "{", "400"),
        ("POST", "/v1/forms", "{}", "400"),
    ],
)
def test_every_error_is_as_described(
    openapi: dict[str, Any],
    service: Described,
    method: str,
    path: str,
    body: str | None,
    status: str,
) -> None:
    known = QUESTIONS[1].path.rpartition("/")[2]
    answer = service.app.test_client().open(
        path.replace("{id}", known if status == "400" else "unknown"),
        method=method,
        data=body,
        content_type="application/json" if body else None,
        headers={"Authorization": f"Bearer {service.key}"},
    )
    assert str(answer.status_code) == status
    response = openapi["paths"][path.partition("?")[0]][method.lower()]["responses"][status]
    if "$ref" in response:
        response = openapi["components"]["responses"][response["$ref"].rpartition("/")[2]]
    schema = response["content"]["application/json"]["schema"]
    whole = {**schema, "components": closed(openapi["components"])}
    assert jsonschema_rs.Draft202012Validator(whole).is_valid(answer.get_json())


def test_the_examples_of_errors_are_as_described(openapi: dict[str, Any]) -> None:
    for name, response in openapi["components"]["responses"].items():
        content = response["content"]["application/json"]
        if "example" in content:
            assert complaints(openapi, content["schema"], content["example"]) == [], name
            assert content["example"]["error"]["code"] == name


def test_the_document_takes_no_key_and_is_not_sent_twice() -> None:
    app = create_app("sqlite://")
    client = app.test_client()
    first = client.get("/v1/openapi.json")
    assert json.loads(first.data) == json.loads(json.dumps(document(app)))
    again = client.get("/v1/openapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert client.post("/v1/openapi.json").status_code == 405
    assert client.get("/v1/openapi.json/").status_code == 401
    close_app(app)


def test_the_service_keeps_to_its_description(sqlite_service: Described, tmp_path: Path) -> None:
    """schemathesis, against a real server. By hand, hundreds of examples find the same."""
    url = copied(sqlite_service.url, tmp_path)
    with served(url) as (server, port):
        assert server.stderr
        # A log that nobody reads would hold the server up.
        Thread(target=server.stderr.read, daemon=True).start()
        finished = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", "--no-color"),
                *("--header", f"Authorization: Bearer {sqlite_service.key}"),
                *("--phases", "examples,coverage,fuzzing", "--max-examples", "2"),
                # No text that is stored has a NUL.
                *("--generation-deterministic", "--generation-allow-x00", "false"),
                f"http://127.0.0.1:{port}/v1/openapi.json",
            ],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "SCHEMATHESIS_HOOKS": request_rules.__name__,
            },
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert finished.returncode == 0, finished.stdout[-8000:] + finished.stderr
    assert "Tested: 19" in finished.stdout


def copied(url: str, folder: Path) -> str:
    """A warehouse of one's own, with the same in it."""
    copy = folder / "copy.db"
    source = make_url(url).database
    assert source
    with closing(sqlite3.connect(source)) as there, closing(sqlite3.connect(copy)) as here:
        there.backup(here)
    return f"sqlite:///{copy}"
