"""Every answer of every endpoint is as it is described, on both databases."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

from tests.web.openapi.conftest import ResponseCache
from tests.web.openapi.described import NOW, QUESTIONS, Described, shown
from tests.web.openapi.reading import complaints, operations, success
from warehouse.domain.time import to_micros
from web.api.endpoint import ROW_LIMITS
from web.api.row_limit import RowLimits
from web.app import close_app, create_app
from web.openapi.responses import EXAMPLES


def test_every_answer_is_as_described(openapi: dict[str, Any], answers: ResponseCache) -> None:
    described = operations(openapi)
    assert {operation for operation, _ in answers} == set(described)
    for (operation, name), body in answers.items():
        assert complaints(openapi, success(described[operation])["schema"], body) == [], name


def test_every_field_is_in_the_answers_in_the_order_described(
    openapi: dict[str, Any], answers: ResponseCache
) -> None:
    rows = openapi["components"]["schemas"]
    seen: set[str] = set()

    def follow(schema: dict[str, Any], value: Any) -> None:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            seen.add(name)
            fields = list(rows[name]["properties"])
            optional = {"otherRows", "matureThrough", "filter", "recomputingSince"}
            assert set(fields) - optional <= set(rows[name]["required"]) <= set(value), name
            assert list(value) == [field for field in fields if field in value], name
            follow(rows[name], value)
        elif "discriminator" in schema:
            follow({"$ref": schema["discriminator"]["mapping"][value["dimension"]]}, value)
        elif "anyOf" in schema and value is not None:
            follow(schema["anyOf"][0], value)
        elif schema.get("type") == "array":
            for element in value:
                follow(schema["items"], element)
        else:
            for field, inner in schema.get("properties", {}).items():
                if field in value:
                    follow(inner, value[field])

    described = operations(openapi)
    for (operation, _), body in answers.items():
        follow(success(described[operation])["schema"], body)
    assert seen == set(rows) - {
        *("Error", "ErrorDetail", "NewForm", "DraftReplacement", "NewNote", "Format")
    }


def test_the_examples_are_true_answers(answers: ResponseCache) -> None:
    assert {(asked.operation, asked.name) for asked in QUESTIONS} == {
        (operation, name) for operation, named in EXAMPLES["answers"].items() for name in named
    }
    for (operation, name), body in answers.items():
        assert EXAMPLES["answers"][operation][name] == shown(body), (operation, name)
    assert set(EXAMPLES["requests"]) == {asked.operation for asked in QUESTIONS if asked.body}


def test_every_header_is_described(
    openapi: dict[str, Any], service: Described, answers: ResponseCache
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


def test_rows_that_are_summed_are_described(
    openapi: dict[str, Any], sqlite_service: Described
) -> None:
    app = create_app(sqlite_service.url, lambda: to_micros(NOW))
    app.config[ROW_LIMITS] = RowLimits(rows=1, values=1)
    few = replace(sqlite_service, app=app)
    summed = set()
    for asked in (one for one in QUESTIONS if one.method == "GET"):
        described = operations(openapi)[asked.operation]
        body = few.ask(asked)
        assert complaints(openapi, success(described)["schema"], body) == [], asked.operation
        if "otherRows" in body["meta"]:
            summed.add((asked.operation, asked.name))
            table = few.send(replace(asked, query={**asked.query, "format": "csv"}))
            assert table.headers["X-Other-Rows"] == str(body["meta"]["otherRows"])
    close_app(app)
    limited = ("responseRevenue", "discountPerformance", "revenueByUtm", "adSpend", "lifetimeValue")
    assert summed == {
        (asked.operation, asked.name) for asked in QUESTIONS if asked.operation in limited
    }


def test_a_field_too_many_or_of_another_type_is_seen(openapi: dict[str, Any]) -> None:
    schema = success(operations(openapi)["formFunnel"])["schema"]
    true = EXAMPLES["answers"]["formFunnel"]["answer"]
    changes: list[dict[str, Any]] = [{"more": 1}, {"views": "1"}, {"views": -1}, {"stages": [{}]}]
    for change in changes:
        body = deepcopy(true)
        body["data"] |= change
        assert len(complaints(openapi, schema, body)) > 0, change
