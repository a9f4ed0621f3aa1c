"""Every answer of every endpoint is as it is described, on both databases."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

from tests.web.openapi.conftest import Answers
from tests.web.openapi.described import QUESTIONS, Described, shown
from tests.web.openapi.reading import complaints, operations, success
from web.openapi.examples import EXAMPLES


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


def test_a_field_too_many_or_of_another_type_is_seen(openapi: dict[str, Any]) -> None:
    schema = success(operations(openapi)["formFunnel"])["schema"]
    true = EXAMPLES["formFunnel"]["answers"]["answer"]
    changes: list[dict[str, Any]] = [{"more": 1}, {"views": "1"}, {"views": -1}, {"stages": [{}]}]
    for change in changes:
        body = deepcopy(true)
        body["data"] |= change
        assert len(complaints(openapi, schema, body)) > 0, change
