"""One endpoint as an operation of the document: its parameters, its body, its answer."""

from collections.abc import Iterator
from typing import Any, Final

from web.api.endpoint import Endpoint
from web.api.filters import FILTERS
from web.api.rows import Row, Schema
from web.http.content_type import FORMAT
from web.http.date_range import RANGE_DESCRIPTION, RANGE_SCHEMA
from web.http.etags import IF_NONE_MATCH
from web.http.parameters import Parameter, RequestHeader
from web.openapi.responses import EXAMPLES, answer_headers, errors_of, not_modified

SECURITY: Final = "apiKey"


def operation(endpoint: Endpoint, tag: str) -> Schema:
    """The operation of an endpoint. An example that is not recorded yet is left out; a test asks for it."""
    summary, description = endpoint.described
    needs = f"the scope `{endpoint.scope}`" if endpoint.scope else "any valid key"
    answered: Schema = {"schema": {"$ref": f"#/components/schemas/{_envelope_name(endpoint)}"}}
    if examples := EXAMPLES["answers"].get(endpoint.operation):
        answered["examples"] = {name: {"value": value} for name, value in examples.items()}
    operation: Schema = {
        "operationId": endpoint.operation,
        "tags": [tag],
        "summary": summary,
        "description": f"{description}\n\nNeeds {needs}.".strip(),
        "security": [{SECURITY: [endpoint.scope] if endpoint.scope else []}],
        # One that many operations have is a reference.
        "parameters": [
            next(
                (
                    {"$ref": f"#/components/parameters/{name}"}
                    for name, own in PARAMETERS.items()
                    if own == each
                ),
                each,
            )
            for each in parameters(endpoint)
        ],
        "responses": {
            str(endpoint.status): {
                "description": "It was created." if endpoint.status == 201 else "The answer.",
                "headers": answer_headers(endpoint),
                "content": {"application/json": answered},
            },
            **({"304": not_modified()} if endpoint.method == "GET" else {}),
            **errors_of(endpoint),
        },
    }
    if endpoint.body:
        content = {"schema": endpoint.body.reference}
        if example := EXAMPLES["requests"].get(endpoint.operation):
            content["example"] = example
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def envelope(endpoint: Endpoint) -> tuple[str, Schema]:
    """The name and the schema of an endpoint's answer: `{data, meta}`."""
    name, row = _envelope_name(endpoint), endpoint.data
    # A row, a list of rows, or one of several objects by their `dimension`.
    if not isinstance(row, Row):
        mapping = {dimension: each.reference["$ref"] for dimension, each in row.items()}
        data: Schema = {
            "oneOf": [each.reference for each in row.values()],
            "discriminator": {"propertyName": "dimension", "mapping": mapping},
        }
    elif endpoint.single:
        data = row.reference
    else:
        data = {"type": "array", "items": row.reference}
    return name, {
        "title": name,
        "description": f"The answer of `{endpoint.method} {endpoint.address}`.",
        "type": "object",
        "required": ["data", "meta"],
        "properties": {"data": data, "meta": endpoint.meta.reference},
    }


def _envelope_name(endpoint: Endpoint) -> str:
    return f"{endpoint.operation[0].upper()}{endpoint.operation[1:]}Response"


def parameters(endpoint: Endpoint) -> Iterator[Schema]:
    """All that a request to an endpoint may say in its address and its headers."""
    for place, name in (("{id}", "FormId"), ("{orderId}", "OrderId"), ("{noteId}", "NoteId")):
        if place in endpoint.path:
            yield PARAMETERS[name]
    yield from map(_in_query, endpoint.parameters)
    if endpoint.ranged:
        yield PARAMETERS["Range"]
    yield from map(_in_header, endpoint.request_headers)
    if endpoint.method == "GET":
        yield from (PARAMETERS["Format"], PARAMETERS["IfNoneMatch"])


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
    described = {"description": header.description, "schema": header.schema}
    return {"name": header.name, "in": "header", **described}


PARAMETERS: Final[dict[str, Any]] = {
    "OrderId": {
        "name": "orderId",
        "in": "path",
        "required": True,
        "description": "The order's id, percent-encoded: it may contain `/`, `?` and `#`.",
        "schema": {"type": "string", "minLength": 1},
    },
    "NoteId": {
        "name": "noteId",
        "in": "path",
        "required": True,
        "description": "The note's id.",
        "schema": {"type": "string", "format": "uuid"},
    },
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
    # Most reports have them.
    **{
        "".join(map(str.capitalize, each.name.split("_"))) + "Filter": _in_query(each)
        for each in FILTERS
    },
}
"""Parameters of many operations, by the name under which the document has them."""

FORMAT_SCHEMA: Final[Schema] = {"title": "Format", "description": "JSON or CSV.", **FORMAT.schema}
"""A schema of its own, so that generated clients have one type for all operations."""
