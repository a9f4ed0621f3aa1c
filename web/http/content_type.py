"""The format of an answer: JSON, or CSV where a request prefers it.

A table has no place for `meta`; it stands in headers: `X-Request-Id` (as on every answer), `X-Shop-Id`
(percent-encoded, should it not be ASCII), `X-Credential-Id`, `X-Range-From`, `X-Range-To`,
`X-Currency`, `X-Timezone`, `X-Data-Through` and `X-Mature-Through` (left out where they are null),
`X-Other-Rows` (left out where no rows are summed) and `X-Filter` (left out where nothing is filtered). The
next page is in `Link`, as on the list in JSON.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from flask import Response, request
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from web.http.errors import malformed
from web.http.parameters import Parameter, one_text

JSON: Final = "json"
CSV: Final = "csv"
SPREADSHEET: Final = "spreadsheet"
"""CSV for a person, which pages link: `web/api/csv_table.py`. No request asks for it."""
_JSON: Final = "application/json"
CSV_TYPE: Final = "text/csv"
# A client may name the charset; what it names with a parameter matches nothing without.
_OFFERED: Final = (_JSON, CSV_TYPE, f"{CSV_TYPE};charset=utf-8")

# The members of `meta` that not every answer has, or that may be null.
_OF_SOME: Final = {
    "X-Data-Through": "dataThrough",
    "X-Recomputing-Since": "recomputingSince",
    "X-Mature-Through": "matureThrough",
}


def _format(texts: list[str]) -> str | None:
    text = one_text(texts, "format", "invalid_format")
    if text not in (None, JSON, CSV):
        raise malformed("invalid_format", "`format` is json or csv.")
    return text


FORMAT: Final = Parameter(
    "format",
    "format",
    _format,
    "The format of the answer; it overrides `Accept`. The chapter on formats describes `csv`. Errors are "
    "always JSON.",
    {"type": "string", "enum": [JSON, CSV]},
    "invalid_format",
)


def requested_format() -> str:
    """The format that the request at hand asks for: by `format`, else by what it prefers in `Accept`.

    Where it prefers neither, or admits none of them, it gets JSON. Raises the 400 `invalid_format`.
    """
    named: str | None = FORMAT.parse(request.args.getlist(FORMAT.name))
    if named:
        return named
    accepted = parse_accept_header(request.headers.get("Accept", ""), MIMEAccept)
    return JSON if accepted.best_match(_OFFERED, _JSON) == _JSON else CSV


def csv_response(
    table: bytes, headers: Mapping[str, str], meta: Mapping[str, Any], filename: str
) -> Response:
    """An answer as CSV, to be saved under a name (of ASCII letters and digits, `-_.`)."""
    headers = {
        **headers,
        "Content-Disposition": f'attachment; filename="{filename}.csv"',
        "X-Shop-Id": quote(meta["shopId"]),
        "X-Credential-Id": meta["credentialId"],
        "X-Range-From": meta["range"]["from"],
        "X-Range-To": meta["range"]["to"],
        "X-Currency": meta["currency"],
        "X-Timezone": meta["timezone"],
    }
    for name, member in _OF_SOME.items():
        if meta.get(member):
            headers[name] = meta[member]
    if "filter" in meta:
        headers["X-Filter"] = urlencode(meta["filter"])
    if "otherRows" in meta:
        headers["X-Other-Rows"] = str(meta["otherRows"])
    return Response(table, 200, headers, content_type=f"{CSV_TYPE}; charset=utf-8; header=present")
