"""START HERE: the OpenAPI document of an application, and the chapters at its beginning."""

from collections.abc import Iterator
from typing import Final

from web.api.endpoint import Endpoint
from web.api.meta import ERROR
from web.api.rows import Row, Schema
from web.openapi.operations import FORMAT_SCHEMA, PARAMETERS, SECURITY, envelope, operation, path
from web.openapi.responses import HEADERS, error_responses
from web.reports import CHAPTERS, ENDPOINTS

_DESCRIPTION: Final = """\
This API reports how the forms of a shop perform and how much revenue follows from them.

## Words

- A **form session** is one showing of one form to one visitor. Its milestones are the first `view`,
  `start`, `subscribe` and `complete`. Each milestone counts once, on the day on which it first happened.
- A **submission** is a form session that subscribed or completed. Its time is the earlier of the two.
- A **converted submission** has at least one order credited to it.
- An **order** is dated by its creation. Test orders are left out. A refund changes the day of its order,
  not the day of the refund. A cancelled order is refunded in full.

## Days, money and rates

Days are days of the shop's calendar, in its own timezone. `meta.range` states the window in UTC. Money is
in integer minor units of the shop's currency (JPY has none, KWD has three digits), unless a field says
otherwise. A rate is numerator / denominator x 100 over the whole window, rounded half-up to 2 decimals; it
is 0 if the denominator is 0. Text is sorted by code point. Rows in which every figure would be 0 are left
out, unless an endpoint says otherwise.

`meta.dataThrough` says how complete the figures are: they include every import that finished before this
instant.

## Two clocks

Figures on the **submission clock** are dated by the submission, and include everything that followed from
it until today. Figures on the **order clock** are dated by the order. The same order can therefore fall on
different days in two reports.

## How an order is credited

Each order is credited to at most one submission. The submission must belong to the same shop, and it must
be at most 30 days (30 x 24 hours) older than the order; the operator of the service can set another
number of days. The following links are tried in this order, and the first one that finds a submission
decides the `attributionType`:

1. `discount_code`: the order used a discount code that was issued to the submission. Upper and lower case
   make no difference.
2. `customer`: the order and the submission have the same customer. A customer is known by the customer id,
   or by the e-mail address if there is no id.
3. `visitor`: the order and the submission have the same visitor id.

If a link finds several submissions, the latest one gets the order. A discount code that many people share
is handled with care: submissions of the buyer come first, then submissions with the buyer's visitor id,
then all others. An order without any such submission is `unattributed`.

The reports on all revenue (`/v1/attribution`, `/v1/attribution/daily`, `/v1/ads/spend`, and
`/v1/revenue/by-utm` with `attribution` or `hierarchy`) include the unattributed orders, so their rows add
up to the shop's total. A cancelled order can be credited like any other, and its net revenue is 0. Credits
are worked out again when late events or orders arrive.

The **UTM values of an order** are those of its submission. If the order has no submission, or the
submission has no UTM values, they are the order's own. An **ad campaign** is found by these values:
`utm_source` names the provider (for example `facebook` for `meta`), and then `utm_id` or `utm_campaign`
must be the campaign's id, or `utm_campaign` one of the names that the campaign has had.

## Formats

Every `GET` answers in JSON. With `format=csv` in the address, or `Accept: text/csv`, it answers with the
same rows as a CSV table (`text/csv`, UTF-8, with a header line). The table has the rows of `data`; if
`data` is a single object, it has one row. Values inside a row get dotted column names, such as
`stages.view.count`. The contents of `meta` are in the headers `X-...`. Text that a spreadsheet would take
for a formula has an apostrophe in front. Errors are always JSON. The responses below describe JSON only,
so that generated clients have one type for each answer.

## Long answers

Visitors choose answers, UTM values and codes, so a shop can have any number of them. Five answers have at
most 10,000 rows: response revenue, discounts, revenue by UTM, ad spend and lifetime value. The rows that
come after them are summed in one more row. Its texts are `(other)`, and its rates and averages are those of
the sums. `meta.otherRows` is the number of rows that are summed; it is absent if there are none.

## Errors

All errors have the same shape. Checks run in this order: the key (401), its scope (403), the form (404),
the request itself. An unknown path is a 404 `not_found`. A method that a path does not support is a 405
`method_not_allowed`, with the supported methods in `Allow`. `HEAD` is supported wherever `GET` is. New
fields may be added to answers. Unknown query parameters and unknown body fields are ignored.

## Caching and retries

Every answer to a `GET` has an `ETag`. A request that sends it in `If-None-Match` gets a 304 without a body
while the answer is still the same. A `POST` with an `Idempotency-Key` can be sent again without creating a
second form. A `PUT` with `If-Match` replaces only the version that the client has seen."""

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
