"""In which format an answer is given: JSON (`envelope.py`), or CSV where a request prefers it.

A table has no place for `meta`; it stands in headers: `X-Request-Id` (as on every answer), `X-Shop-Id`
(percent-encoded, should it not be ASCII), `X-Credential-Id`, `X-Range-From` and `X-Range-To`. The next
page is in `Link`, as on the list in JSON.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote

from flask import Response, request
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from web import csv
from web.asking import CSV, JSON, Asked
from web.errors import malformed
from web.parameters import Parameter, one_text

_JSON: Final = "application/json"
# A client may name the charset; what it names with a parameter matches nothing without.
_OFFERED: Final = (_JSON, csv.MEDIA_TYPE, f"{csv.MEDIA_TYPE};charset=utf-8")


def _format(texts: list[str]) -> str | None:
    text = one_text(texts, "format", "invalid_format")
    if text not in (None, JSON, CSV):
        raise malformed("invalid_format", "`format` is json or csv.")
    return text


FORMAT: Final = Parameter(
    "format",
    "format",
    _format,
    "The format of the answer: goes before `Accept`. Errors are always JSON.",
    {"type": "string", "enum": [JSON, CSV]},
    "invalid_format",
)


def asked_format() -> str:
    """The format that the request at hand asks for: by `format`, else by what it prefers in `Accept`.

    Where it prefers neither, or admits none of them, it gets JSON. Raises the 400 `invalid_format`.
    """
    named: str | None = FORMAT.parse(request.args.getlist(FORMAT.name))
    return named or _preferred(request.headers.get("Accept", ""))


# Browsers send a long one, and the same every time.
@lru_cache(maxsize=256)
def _preferred(accept: str) -> str:
    best = parse_accept_header(accept, MIMEAccept).best_match(_OFFERED, _JSON)
    return JSON if best == _JSON else CSV


def table(
    asked: Asked, columns: Sequence[str], data: Any, headers: Mapping[str, str], filename: str
) -> Response:
    """An answer's `data` as CSV, to be saved under a name (of ASCII letters and digits, `-_.`)."""
    said = {
        **headers,
        "Content-Disposition": f'attachment; filename="{filename}.csv"',
        "X-Shop-Id": quote(asked.caller.shop.shop_id),
        "X-Credential-Id": asked.caller.credential_id,
        "X-Range-From": asked.window.start_text,
        "X-Range-To": asked.window.end_text,
    }
    body = csv.write_table(columns, csv.rows_of(data))
    return Response(body, 200, said, content_type=csv.CONTENT_TYPE)
