"""START HERE: the OpenAPI document. The chapters at its beginning are in `description.md`."""

from pathlib import Path
from typing import Final

from warehouse import VERSION
from web.api.meta import ERROR
from web.api.rows import Schema
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
_HEADERS_CHAPTER: Final = ("## Headers", "", "| header | answers | meaning |", "|---|---|---|")
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
    headers = [
        f"| `{header.name}` | {_ANSWERS[header.group]} | {header.sentence} |"
        for header in RESPONSE_HEADERS.values()
    ]
    # All of them in one table, for readers; each response names its own.
    chapters = [_CHAPTERS, "", *_HEADERS_CHAPTER, *headers]
    rows = [ERROR]
    for endpoint in ENDPOINTS:
        rows += [*endpoint.rows, endpoint.meta, *([endpoint.body] if endpoint.body else [])]
    schemas = {inner.name: inner.schema for row in rows for inner in row.inner_rows}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "formrevenue",
            "version": VERSION,
            "summary": "Forms and revenue analytics of a shop.",
            "description": "\n".join(chapters),
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "This service."}],
        "tags": [
            {"name": chapter.title, "description": chapter.description} for chapter in CHAPTERS
        ],
        "paths": paths,
        "components": {
            "schemas": {
                **dict(sorted(schemas.items())),
                **dict(map(envelope, ENDPOINTS)),
                "Format": FORMAT_SCHEMA,
            },
            "parameters": PARAMETERS,
            "responses": error_responses(ENDPOINTS),
            "headers": HEADERS,
            "securitySchemes": {SECURITY: _SECURITY},
        },
    }
