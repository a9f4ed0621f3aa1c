"""START HERE: the OpenAPI document. The chapters at its beginning are in `description.md`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from warehouse import VERSION
from web.api.endpoint import Endpoint
from web.api.meta import ERROR
from web.api.rows import Row, Schema
from web.http.response_headers import ALL, GET, HTTPS, LIMITED, RESPONSE_HEADERS, SOME, TABLE
from web.openapi.operations import FORMAT_SCHEMA, PARAMETERS, SECURITY, envelope, operation
from web.openapi.responses import HEADERS, error_responses
from web.reports import CHAPTERS, ENDPOINTS

_CHAPTERS: Final = Path(__file__).with_name("description.md").read_text(encoding="utf-8").rstrip()
# Which answers have the headers of a group.
_ANSWERS: Final = {
    ALL: "all",
    HTTPS: "all, over HTTPS",
    GET: "`GET`",
    LIMITED: "all, where requests are limited",
    TABLE: "CSV",
    SOME: "those that name it",
}
_SECURITY: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key of the shop. A member mints it in Settings → Connections, or an operator at "
    "the command line. A key has scopes: `analytics:read` (aggregate reports), `customers:read` (customer "
    "lifetime value), `forms:write` (create forms and replace drafts), `discounts:read` (discount "
    "performance, which shows live codes).",
}


def document() -> Schema:
    """The description of every endpoint."""
    paths: dict[str, Schema] = {}
    for chapter in CHAPTERS:
        for endpoint in chapter.endpoints:
            described = operation(endpoint, chapter.title)
            paths.setdefault(endpoint.address, {})[endpoint.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "formrevenue",
            "version": VERSION,
            "summary": "Forms and revenue analytics of a shop.",
            "description": f"{_CHAPTERS}\n\n{_headers_chapter()}",
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "This service."}],
        "tags": [
            {"name": chapter.title, "description": chapter.description} for chapter in CHAPTERS
        ],
        "paths": paths,
        "components": {
            "schemas": {
                **_schemas(),
                **dict(map(envelope, ENDPOINTS)),
                "Format": FORMAT_SCHEMA,
            },
            "parameters": PARAMETERS,
            "responses": error_responses(ENDPOINTS),
            "headers": HEADERS,
            "securitySchemes": {SECURITY: _SECURITY},
        },
    }


def _headers_chapter() -> str:
    """All headers of answers in one table, for readers; each response names its own."""
    rows = [
        f"| `{header.name}` | {_ANSWERS[header.group]} | {header.sentence} |"
        for header in RESPONSE_HEADERS.values()
    ]
    return "\n".join(["## Headers", "", "| header | answers | meaning |", "|---|---|---|", *rows])


def _schemas() -> dict[str, Schema]:
    """The schemas of all rows, those inside others too, by name."""
    schemas = {
        inner.name: inner.schema
        for row in [ERROR, *(row for endpoint in ENDPOINTS for row in _rows(endpoint))]
        for inner in row.inner_rows
    }
    return dict(sorted(schemas.items()))


def _rows(endpoint: Endpoint) -> Iterator[Row]:
    yield from [endpoint.data] if isinstance(endpoint.data, Row) else endpoint.data.values()
    yield endpoint.meta
    if endpoint.body:
        yield endpoint.body
