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
    operation: Schema = {
        "operationId": endpoint.operation,
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
        content = {"schema": endpoint.body.reference}
        if example := EXAMPLES["requests"].get(endpoint.operation):
            content["example"] = example
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def envelope(endpoint: Endpoint) -> tuple[str, Schema]:
    """The name and the schema of an endpoint's answer: `{data, meta}`."""
    name = _envelope_name(endpoint)
    return name, {
        "title": name,
        "description": f"The answer of `{endpoint.method} {endpoint.address}`.",
        "type": "object",
        "required": ["data", "meta"],
        "properties": {"data": _data(endpoint), "meta": endpoint.meta.reference},
    }


def _envelope_name(endpoint: Endpoint) -> str:
    return f"{endpoint.operation[0].upper()}{endpoint.operation[1:]}Response"


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


def _answer(endpoint: Endpoint) -> Schema:
    content: Schema = {"schema": {"$ref": f"#/components/schemas/{_envelope_name(endpoint)}"}}
    if examples := EXAMPLES["answers"].get(endpoint.operation):
        content["examples"] = {name: {"value": value} for name, value in examples.items()}
    return {
        "description": "It was created." if endpoint.status == 201 else "The answer.",
        "headers": answer_headers(endpoint),
        "content": {"application/json": content},
    }


def _parameters(endpoint: Endpoint) -> Iterator[Schema]:
    if "{id}" in endpoint.path:
        yield _shared("FormId")
    if "{orderId}" in endpoint.path:
        yield _shared("OrderId")
    if "{noteId}" in endpoint.path:
        yield _shared("NoteId")
    for parameter in endpoint.parameters:
        is_shared = parameter in FILTERS
        yield _shared(_component_of(parameter)) if is_shared else _in_query(parameter)
    if endpoint.ranged:
        yield _shared("Range")
    yield from map(_in_header, endpoint.request_headers)
    if endpoint.method == "GET":
        yield from (_shared("Format"), _shared("IfNoneMatch"))


def _shared(name: str) -> Schema:
    return {"$ref": f"#/components/parameters/{name}"}


def _component_of(filter: Parameter) -> str:
    """The name of a filter that most reports have: it is described once."""
    return "".join(map(str.capitalize, filter.name.split("_"))) + "Filter"


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
    **{_component_of(parameter): _in_query(parameter) for parameter in FILTERS},
}
"""Parameters of many operations, by the name under which the document has them."""

FORMAT_SCHEMA: Final[Schema] = {"title": "Format", "description": "JSON or CSV.", **FORMAT.schema}
"""A schema of its own, so that generated clients have one type for all operations."""
