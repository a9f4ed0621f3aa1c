"""The browser snippet: what the collector answers at `/formrevenue.js`, at `/sending.js` the part that it
loads where a page has a form, and at `/tools/NAME.js` the script for a pop-up tool that it loads where the
tool is on the page.

`make line` makes the sources in `static/` small, in `built/`; `built/SOURCES` has the hash of each.
"""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from flask import Response, request

_BUILT: Final = Path(__file__).parent / "built"
_CACHED_FOR: Final = 3_600  # seconds until a browser asks whether there is a newer one


class Script(NamedTuple):
    """A script as browsers get it, plain and compressed."""

    plain: bytes
    compressed: bytes


SCRIPTS: Final = {
    f"/{source.relative_to(_BUILT).as_posix()}": Script(plain, gzip.compress(plain, 9, mtime=0))
    for source in sorted(_BUILT.rglob("*.js"))
    for plain in [source.read_bytes()]
}
"""Each script by its path."""


def answer_of(script: Script) -> Callable[[], Response]:
    """A view that answers a script, compressed for those that take it; 304 for those that have it."""

    def answer_script() -> Response:
        takes_gzip = request.accept_encodings["gzip"] > 0
        answer = Response(
            script.compressed if takes_gzip else script.plain, mimetype="text/javascript"
        )
        if takes_gzip:
            answer.content_encoding = "gzip"
        answer.vary.add("Accept-Encoding")
        answer.cache_control.public = True
        answer.cache_control.max_age = _CACHED_FOR
        # Pages of any shop load it, also those that only take what says so, and as a module.
        answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        answer.headers["Access-Control-Allow-Origin"] = "*"
        answer.add_etag()
        answer.make_conditional(request)
        return answer

    return answer_script
