"""One endpoint as an operation of the document."""

from collections.abc import Callable, Iterator, Mapping
from inspect import cleandoc
from typing import Any, Final

from web.csv import MEDIA_TYPE
from web.endpoint import VERSION, Endpoint
from web.openapi import headers
from web.openapi.examples import EXAMPLES
from web.openapi.refusals import refusals_of
from web.openapi.requests import headers_of, query_of
from web.openapi.schemas import Schema, reference, schema_of
from web.ranges import RANGE_DESCRIPTION, RANGE_SCHEMA

SECURITY: Final = "apiKey"

_TABLE: Final = (
    "The same rows, of an object its `rows` (or itself as the only one), under a header line; what lies "
    "within a row has dotted names. `meta` is in headers."
)

_FORM_ID: Final = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "The form's id.",
    "schema": {"type": "string", "format": "uuid"},
}
_RANGE: Final = {
    "name": "range",
    "in": "query",
    "description": RANGE_DESCRIPTION,
    "schema": RANGE_SCHEMA,
}


def operation(endpoint: Endpoint, tag: str) -> Schema:
    """The operation of an endpoint; its summary and description are the docstring of the function that
    answers."""
    summary, _, more = cleandoc(endpoint.answer.__doc__ or "").partition("\n\n")
    name = operation_id(endpoint.answer)
    examples = EXAMPLES[name]
    needs = f"the scope `{endpoint.scope}`" if endpoint.scope else "any valid key"
    found: Schema = {
        "operationId": name,
        "tags": [tag],
        "summary": " ".join(summary.split()).rstrip("."),
        "description": f"{more}\n\nNeeds {needs}.".strip(),
        "security": [{SECURITY: [endpoint.scope] if endpoint.scope else []}],
        "parameters": list(_parameters(endpoint)),
        "responses": {
            str(endpoint.status): _success(endpoint, examples["answers"]),
            **_not_modified(endpoint),
            **refusals_of(endpoint, examples["refusals"]),
        },
    }
    if endpoint.body:
        content: Schema = {"schema": reference(endpoint.body)}
        content["example"] = examples["request"]
        found["requestBody"] = {"required": True, "content": {"application/json": content}}
    return found


def operation_id(answer: Callable[..., Any]) -> str:
    """The name of a function, in camel case."""
    first, *others = answer.__name__.split("_")
    return first + "".join(map(str.capitalize, others))


def path(endpoint: Endpoint) -> str:
    return VERSION + endpoint.path


def _parameters(endpoint: Endpoint) -> Iterator[Schema]:
    if "{id}" in endpoint.path:
        yield _FORM_ID
    for parameter in query_of(endpoint):
        found = {
            "name": parameter.name,
            "in": "query",
            "required": parameter.required,
            "description": parameter.description,
            "schema": parameter.schema,
        }
        if parameter.schema["type"] == "array":
            found |= {"style": "form", "explode": False}
        yield found
    if endpoint.ranged:
        yield _RANGE
    for header in headers_of(endpoint):
        yield {
            "name": header.name,
            "in": "header",
            "description": header.description,
            "schema": header.schema,
        }


def _not_modified(endpoint: Endpoint) -> Schema:
    if endpoint.method != "GET":
        return {}
    return {
        "304": {"description": "The answer that the client has.", "headers": headers.of_unchanged()}
    }


def _success(endpoint: Endpoint, answers: Mapping[str, Any]) -> Schema:
    envelope = {
        "type": "object",
        "required": ["data", "meta"],
        "properties": {"data": schema_of(endpoint.payload), "meta": reference(endpoint.meta)},
    }
    content: Schema = {
        "application/json": {
            "schema": envelope,
            "examples": {name: {"value": value} for name, value in answers.items()},
        }
    }
    if endpoint.method == "GET":
        content[MEDIA_TYPE] = {"schema": {"type": "string", "description": _TABLE}}
    return {
        "description": "Created." if endpoint.status == 201 else "The answer.",
        "headers": headers.of_answer(endpoint),
        "content": content,
    }
