"""The headers of answers, each once: its name, what it says, and its value where every answer has it.

`add` sets those of every answer, the API's document describes all of them (`web/openapi/responses.py`), and
scripts of other origins may read those that are `exposed` (`cors.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flask import Response

from warehouse.settings import is_public_https
from web.http.current_request import current_request

# A year, as browsers ask for it. The domains below this one are not ours to speak for.
_HTTPS_ALONE: Final = "max-age=31536000"

# Which answers have a header: all; all of a service that people reach by HTTPS; a GET that is answered; all
# of a service that limits requests; those in CSV; those of some endpoints or errors.
ALL: Final = "all"
HTTPS: Final = "https"
GET: Final = "get"
LIMITED: Final = "limited"
TABLE: Final = "table"
SOME: Final = "some"


@dataclass(frozen=True)
class ResponseHeader:
    """A header of answers. `schema` are further keywords of the JSON Schema of its text. Some headers
    browsers show to every script, and others are for browsers alone: those need not be exposed."""

    name: str
    group: str
    sentence: str
    value: Callable[[], str] | None = None
    schema: Mapping[str, Any] = field(default_factory=dict)
    exposed: bool = True


# fmt: off
RESPONSE_HEADERS: Final = {header.name: header for header in (
    ResponseHeader("X-Request-Id", ALL,
        "The id of the request. It is also in `meta`, in errors and in the service's log.",
        lambda: current_request().request_id, {"pattern": "^req_[0-9a-f-]{36}$"}),
    ResponseHeader("X-Content-Type-Options", ALL,
        "Always `nosniff`: the content is of the type that `Content-Type` names.",
        lambda: "nosniff", {"const": "nosniff"}, exposed=False),
    ResponseHeader("Vary", ALL, "The request headers on which the answer depends.", exposed=False),
    ResponseHeader("Strict-Transport-Security", HTTPS,
        "If the service is reached over HTTPS: browsers use nothing else.",
        lambda: _HTTPS_ALONE if is_public_https() else "", exposed=False),
    ResponseHeader("ETag", GET,
        "The version of the answer, for `If-None-Match`. The one of a form also works in `If-Match`.",
        schema={"pattern": '^W/"[^"]+"$'}),
    ResponseHeader("Last-Modified", GET, "When the data last changed.", exposed=False),
    ResponseHeader("Cache-Control", GET,
        "Only the client may keep the answer, and it must ask before every use whether the answer is "
        "still the same.", exposed=False),
    ResponseHeader("RateLimit-Policy", LIMITED,
        "If the service limits requests: the keys of the shop together may send `q` requests in `w` "
        "seconds."),
    ResponseHeader("RateLimit", LIMITED,
        "If the service limits requests: `r` requests are left, and in `t` seconds there are more."),
    ResponseHeader("Content-Disposition", TABLE, "CSV only: the name of the file."),
    ResponseHeader("X-Shop-Id", TABLE, "CSV only: `meta.shopId`, percent-encoded."),
    ResponseHeader("X-Credential-Id", TABLE, "CSV only: `meta.credentialId`."),
    ResponseHeader("X-Range-From", TABLE, "CSV only: `meta.range.from`."),
    ResponseHeader("X-Range-To", TABLE, "CSV only: `meta.range.to`."),
    ResponseHeader("X-Currency", TABLE, "CSV only: `meta.currency`."),
    ResponseHeader("X-Timezone", TABLE, "CSV only: `meta.timezone`."),
    ResponseHeader("X-Data-Through", TABLE, "CSV only: `meta.dataThrough`. Absent if that is null."),
    ResponseHeader("X-Recomputing-Since", TABLE, "CSV only: `meta.recomputingSince`. Absent without it."),
    ResponseHeader("X-Other-Rows", TABLE,
        "CSV only: `meta.otherRows`. Absent if the table has all rows."),
    ResponseHeader("X-Filter", TABLE,
        "CSV only: `meta.filter`, as the query of an address. Absent without filters."),
    ResponseHeader("X-Mature-Through", TABLE,
        "CSV only: `meta.matureThrough`. Absent without `within`, and if it is null."),
    ResponseHeader("Link", SOME,
        'The address of the next page, with `rel="next"`. The last page has none.'),
    ResponseHeader("Location", SOME, "The address of the new form."),
    ResponseHeader("Retry-After", SOME, "Wait this many seconds before the next request.",
        schema={"type": "integer", "minimum": 1}),
    ResponseHeader("WWW-Authenticate", SOME, "How to send a key.", schema={"const": "Bearer"}, exposed=False),
)}
# fmt: on
EXPOSED: Final = tuple(name for name, header in RESPONSE_HEADERS.items() if header.exposed)
_SET: Final = [
    (name, header.value) for name, header in RESPONSE_HEADERS.items() if header.value is not None
]


def add(response: Response) -> Response:
    """Add the headers of every answer, and the rate limit of the request where it has one."""
    for name, value_of in _SET:
        if value := value_of():
            response.headers[name] = value
    if limits := current_request().rate_limit_headers:
        response.headers.update(limits)
    return response
