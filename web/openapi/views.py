"""`/v1/openapi.json`, and `/docs`, which shows it. Neither takes a key: they describe the interface,
and have no shop's data in them."""

from pathlib import Path
from typing import Final

import flask_swagger_ui
import orjson
from flask import Blueprint, Response, current_app, render_template, request, send_from_directory

from web.endpoint import VERSION
from web.openapi.document import document

PATH: Final = f"{VERSION}/openapi.json"
DOCS: Final = "/docs"

_VIEWER: Final = Path(flask_swagger_ui.__file__).with_name("dist")
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
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


@blueprint.get(PATH, provide_automatic_options=False)
def openapi() -> Response:
    """The document; it stays what it is as long as the process lives."""
    kept = current_app.extensions
    if "openapi" not in kept:
        kept["openapi"] = orjson.dumps(document(current_app))
    answer = Response(kept["openapi"], mimetype="application/json")
    answer.headers["Cache-Control"] = "no-cache"
    answer.add_etag()
    answer.make_conditional(request)
    return answer


@blueprint.get(DOCS)
def docs() -> Response:
    """The page that people read; keys typed into it stay in the page."""
    page = render_template("openapi/docs.html", viewer=f"{DOCS}/viewer", document=PATH)
    return Response(page, headers=_HEADERS)


@blueprint.get(f"{DOCS}/viewer/<name>")
def viewer(name: str) -> Response:
    """A file of Swagger UI."""
    return send_from_directory(_VIEWER, name)
