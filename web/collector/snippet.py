"""The browser snippet: what the collector answers at `/formrevenue.js`.

Its source is `static/formrevenue.js`, which needs no build: it is served without its comments, each of
which has a line of its own, and without most blanks, line ends, and commas and semicolons before a bracket.
"""

import gzip
import re
from pathlib import Path
from typing import Final

from flask import Response, request

PATH: Final = "/formrevenue.js"

_SOURCE: Final = Path(__file__).parent / "static" / "formrevenue.js"
# No text of the source has a blank beside such a sign. A line end after a closing bracket may end a
# statement.
_IDLE: Final = re.compile(r"[,;]?\s*(?=[)}\]])|\s*([=?:,<>|&+({\[;])\s*|\s+(?=\.)")
_CACHED_FOR: Final = 3_600  # seconds until a browser asks whether there is a newer one


def snippet_text() -> bytes:
    """The snippet as browsers get it."""
    lines = (line.strip() for line in _SOURCE.read_text().splitlines())
    code = "\n".join(line for line in lines if not line.startswith("//"))
    return _IDLE.sub(r"\1", code).encode()


_PLAIN: Final = snippet_text()
COMPRESSED: Final = gzip.compress(_PLAIN, 9, mtime=0)


def answer_snippet() -> Response:
    """The snippet, compressed for those that take it; 304 for those that have it."""
    takes_gzip = request.accept_encodings["gzip"] > 0
    answer = Response(COMPRESSED if takes_gzip else _PLAIN, mimetype="text/javascript")
    if takes_gzip:
        answer.content_encoding = "gzip"
    answer.vary.add("Accept-Encoding")
    answer.cache_control.public = True
    answer.cache_control.max_age = _CACHED_FOR
    # Pages of any shop load it, also those that only take what says so.
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    answer.add_etag()
    answer.make_conditional(request)
    return answer
