"""One endpoint as an operation of the document: its parameters, its body, its answer."""

from collections.abc import Callable, Iterator
from inspect import cleandoc
from typing import Any, Final

from web.api.endpoint import VERSION, Endpoint
from web.api.rows import Row, Schema
from web.http.content_type import FORMAT
from web.http.date_range import RANGE_DESCRIPTION, RANGE_SCHEMA
from web.http.etags import IF_NONE_MATCH
from web.http.parameters import Parameter, RequestHeader
from web.openapi.responses import EXAMPLES, answer_headers, errors_of, not_modified

SECURITY: Final = "apiKey"


def operation(endpoint: Endpoint, tag: str) -> Schema:
    """The operation of an endpoint. The docstring of its answering function gives the summary and the
    description."""
    summary, description = _docstring(endpoint)
    name = operation_id(endpoint.function)
    needs = f"the scope `{endpoint.scope}`" if endpoint.scope else "any valid key"
    operation: Schema = {
        "operationId": name,
        "tags": [tag],
        "summary": summary,
        "description": f"{description}\n\nNeeds {needs}.".strip(),
        "security": [{SECURITY: [endpoint.scope] if endpoint.scope else []}],
        "parameters": list(_parameters(endpoint)),
        "responses": {
            str(endpoint.status): _answer(endpoint),
            **({"304": not_modified()} if endpoint.method == "GET" else {}),
            **errors_of(endpoint),
        },
    }
    if endpoint.body:
        content = {"schema": endpoint.body.reference, "example": EXAMPLES["requests"][name]}
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def operation_id(function: Callable[..., Any]) -> str:
    """The name of a function, in camel case."""
    first, *others = function.__name__.split("_")
    return first + "".join(map(str.capitalize, others))


def path(endpoint: Endpoint) -> str:
    return VERSION + endpoint.path


def envelope(endpoint: Endpoint) -> tuple[str, Schema]:
    """The name and the schema of an endpoint's answer: `{data, meta}`."""
    name = _envelope_name(endpoint)
    return name, {
        "title": name,
        "description": f"The answer of `{endpoint.method} {path(endpoint)}`.",
        "type": "object",
        "required": ["data", "meta"],
        "properties": {"data": _data(endpoint), "meta": endpoint.meta.reference},
    }


def _data(endpoint: Endpoint) -> Schema:
    """The schema of `data`: a row, a list of rows, or one of several objects by their `dimension`."""
    data = endpoint.data
    if isinstance(data, Row):
        return data.reference if endpoint.single else {"type": "array", "items": data.reference}
    mapping = {dimension: row.reference["$ref"] for dimension, row in data.items()}
    return {
        "oneOf": [row.reference for row in data.values()],
        "discriminator": {"propertyName": "dimension", "mapping": mapping},
    }


def _envelope_name(endpoint: Endpoint) -> str:
    name = operation_id(endpoint.function)
    return f"{name[0].upper()}{name[1:]}Response"


def _docstring(endpoint: Endpoint) -> tuple[str, str]:
    summary, _, description = cleandoc(endpoint.function.__doc__ or "").partition("\n\n")
    return " ".join(summary.split()).rstrip("."), description


def _answer(endpoint: Endpoint) -> Schema:
    examples = EXAMPLES["answers"][operation_id(endpoint.function)]
    return {
        "description": "The form was created." if endpoint.status == 201 else "The answer.",
        "headers": answer_headers(endpoint),
        "content": {
            "application/json": {
                "schema": {"$ref": f"#/components/schemas/{_envelope_name(endpoint)}"},
                "examples": {name: {"value": value} for name, value in examples.items()},
            }
        },
    }


def _parameters(endpoint: Endpoint) -> Iterator[Schema]:
    if "{id}" in endpoint.path:
        yield _shared("FormId")
    yield from map(_in_query, endpoint.parameters)
    if endpoint.ranged:
        yield _shared("Range")
    yield from map(_in_header, endpoint.request_headers)
    if endpoint.method == "GET":
        yield from (_shared("Format"), _shared("IfNoneMatch"))


def _shared(name: str) -> Schema:
    return {"$ref": f"#/components/parameters/{name}"}


def _in_query(parameter: Parameter) -> Schema:
    described = {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.description,
        "schema": parameter.schema,
    }
    if parameter.schema["type"] == "array":
        described |= {"style": "form", "explode": False}
    return described


def _in_header(header: RequestHeader) -> Schema:
    return {
        "name": header.name,
        "in": "header",
        "description": header.description,
        "schema": header.schema,
    }


PARAMETERS: Final[dict[str, Schema]] = {
    "FormId": {
        "name": "id",
        "in": "path",
        "required": True,
        "description": "The form's id.",
        "schema": {"type": "string", "format": "uuid"},
    },
    "Range": {
        "name": "range",
        "in": "query",
        "description": RANGE_DESCRIPTION,
        "schema": RANGE_SCHEMA,
    },
    "Format": {**_in_query(FORMAT), "schema": {"$ref": "#/components/schemas/Format"}},
    "IfNoneMatch": _in_header(IF_NONE_MATCH),
}
"""Parameters of many operations, by the name under which the document has them."""

FORMAT_SCHEMA: Final[Schema] = {"title": "Format", "description": "JSON or CSV.", **FORMAT.schema}
"""A schema of its own, so that generated clients have one type for all operations."""
