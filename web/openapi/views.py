"""`/v1/openapi.json` and `/docs`. Neither needs a key: they describe the API and contain no shop's data."""

import gzip
import mimetypes
from functools import cache
from pathlib import Path
from typing import Final

import flask_swagger_ui
import orjson
from flask import Blueprint, Response, current_app, render_template

from web.api.endpoint import VERSION
from web.http.errors import not_found
from web.http.etags import NotModified, client_has
from web.openapi.document import document

PATH: Final = f"{VERSION}/openapi.json"
DOCS: Final = "/docs"

_VIEWER: Final = Path(flask_swagger_ui.__file__).with_name("dist")
# Those that the page loads.
_VIEWER_FILES: Final = ("swagger-ui-bundle.js", "swagger-ui.css")
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}

blueprint: Final = Blueprint(
    "openapi",
    __name__,
    static_folder="static",
    static_url_path=f"{DOCS}/static",
    template_folder="templates",
)


@blueprint.get(PATH)
def openapi() -> Response:
    """The document. It is built once per process."""
    kept = current_app.extensions
    if "openapi" not in kept:
        kept["openapi"] = orjson.dumps(document())
    return _revalidated(Response(kept["openapi"], mimetype="application/json"))


@blueprint.get(DOCS)
def docs() -> Response:
    """The page for people. A key that is typed into it does not leave the page."""
    page = render_template("openapi/docs.html", viewer=f"{DOCS}/viewer", document=PATH)
    return Response(page, headers=_HEADERS)


@blueprint.get(f"{DOCS}/viewer/<name>")
def viewer(name: str) -> Response:
    """A file of Swagger UI: always compressed, which every browser takes, so that nobody can make the
    service compress 1.7 MB again and again."""
    if name not in _VIEWER_FILES:
        raise not_found()
    answer = Response(_compressed(name), mimetype=mimetypes.guess_type(name)[0])
    answer.headers["Content-Encoding"] = "gzip"
    return _revalidated(answer)


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress((_VIEWER / name).read_bytes(), mtime=0)


def _revalidated(answer: Response) -> Response:
    """The answer as one that browsers may keep and must ask for before each use."""
    answer.add_etag(weak=True)
    answer.headers["Cache-Control"] = "no-cache"
    if client_has(answer.headers["ETag"]):
        kept = {name: answer.headers[name] for name in ("ETag", "Cache-Control")}
        return NotModified(headers=kept)
    return answer
