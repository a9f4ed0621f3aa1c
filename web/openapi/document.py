"""The OpenAPI document of the endpoints of an application."""

from typing import Any, Final

from flask import Flask

from web.endpoint import Endpoint, Resource
from web.openapi.headers import HEADERS
from web.openapi.operations import SECURITY, operation, path
from web.openapi.refusals import responses
from web.openapi.schemas import Schema, components
from web.shapes.envelope import ErrorDetail

# What each resource is about, by its blueprint's name.
_TAGS: Final = {
    "forms": "Forms of the shop: list, create, get, replace the draft; and the funnel of all.",
    "form_analytics": "What happens on one form, and what follows from it.",
    "attribution": "The shop's revenue, by how it is credited to forms.",
    "discounts": "Discounts: issued, redeemed, and what they brought.",
    "revenue": "The shop's revenue by UTM values.",
    "ads": "Ad spend, and the return on it.",
    "customers": "Customers, and what they are worth.",
}

_DESCRIPTION: Final = """\
Analytics that follow a shop's forms to the revenue they bring.

**Days** are those of the shop's calendar (its own timezone); `meta.range` states the window in UTC.
**Money** is in integer minor units of the shop's currency (JPY has none, KWD has three digits) unless a
field says otherwise. **Rates** are numerator / denominator x 100 over the whole window, rounded half-up
to 2 decimals, and 0 where the denominator is 0. Text is ordered by code point. Rows of which every
figure would be 0 are left out, unless said otherwise.

**Clocks.** On the *submission clock* figures are dated by the submission, with all that followed from it
to date; on the *order clock* by the order. A refund changes the day of its order.

**Errors** have one shape. What is checked first: the key (401), its scope (403), the form (404), then the
request. Beside what each endpoint says, an unknown path is a 404 `not_found`, and a method that an address
does not take a 405 `method_not_allowed` with `Allow`. `HEAD` goes wherever `GET` does. Fields may be added
to answers; unknown query parameters are not looked at.

**Formats.** Every `GET` answers in JSON or, with `format=csv` or `Accept: text/csv`, with the same rows as
a table. **Caching.** Every `GET` has an `ETag`; with it in `If-None-Match` an answer that is still the same
is a 304. **Retries.** A `POST` with an `Idempotency-Key` can be sent again; a `PUT` with `If-Match`
overwrites nothing that has not been seen."""


def document(app: Flask) -> Schema:
    """The description of every endpoint of the application."""
    resources = [one for one in app.blueprints.values() if isinstance(one, Resource)]
    endpoints = [endpoint for resource in resources for endpoint in resource.endpoints]
    paths: dict[str, Schema] = {}
    for resource in resources:
        for endpoint in resource.endpoints:
            described = operation(endpoint, _title(resource.name))
            paths.setdefault(path(endpoint), {})[endpoint.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "formrevenue",
            "version": "1",
            "summary": "Forms and revenue analytics of a shop.",
            "description": _DESCRIPTION,
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "This service."}],
        "tags": [
            {"name": _title(resource.name), "description": _TAGS[resource.name]}
            for resource in resources
        ],
        "paths": paths,
        "components": {
            "schemas": components(_shapes(endpoints)),
            "responses": responses(),
            "headers": HEADERS,
            "securitySchemes": {SECURITY: _SECURITY},
        },
    }


_SECURITY: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key of a shop, minted by a member in Settings → Connections or at the "
    "command line. It carries scopes: `analytics:read` (aggregates), `customers:read` (lifetime value), "
    "`forms:write` (create forms, replace drafts), `discounts:read` (discounts, with live codes).",
}


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _shapes(endpoints: list[Endpoint]) -> list[Any]:
    bodies = [endpoint.body for endpoint in endpoints if endpoint.body]
    metas = [endpoint.meta for endpoint in endpoints]
    return [*(endpoint.payload for endpoint in endpoints), *bodies, *metas, ErrorDetail]
