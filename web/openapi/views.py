"""`/v1/openapi.json`, `/docs` and `/llms.txt`. None needs a key: they describe the API, and contain nothing
of a shop but the id of a form, for a member of the shop who is signed in."""

import gzip
import mimetypes
from functools import cache
from pathlib import Path
from typing import Final

import flask_swagger_ui
import orjson
from flask import Blueprint, Response, current_app, render_template, session

from web.api.endpoint import VERSION
from web.api.forms_table import list_forms
from web.http.errors import not_found
from web.http.etags import NotModified, client_has
from web.openapi.document import document
from web.pages.page_request import TOKEN, open_connection, signed_in
from web.pages.session_cookie import DOCS

PATH: Final = f"{VERSION}/openapi.json"

_VIEWER: Final = Path(flask_swagger_ui.__file__).with_name("dist")
# The files that the page loads.
_VIEWER_FILES: Final = ("swagger-ui-bundle.js", "swagger-ui.css")
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-cache",
}

blueprint: Final = Blueprint(
    "openapi",
    __name__,
    static_folder="static",
    static_url_path=f"{DOCS}/static",
    template_folder="templates",
)


# People look for it there.
@blueprint.get("/openapi.json")
@blueprint.get(PATH)
def openapi() -> Response:
    """The OpenAPI document, which is built once per process."""
    kept = current_app.extensions
    if "openapi" not in kept:
        kept["openapi"] = orjson.dumps(document())
    return _revalidated(Response(kept["openapi"], mimetype="application/json"))


@blueprint.get("/llms.txt")
def llms() -> Response:
    """The way in for language models: what the API is, how to authenticate, and a line for each endpoint."""
    return _revalidated(Response(_for_models(), mimetype="text/plain"))


@cache
def _for_models() -> str:
    text = Path(__file__).with_name("llms.txt").read_text("utf-8")
    lines = [
        f"- {method.upper()} {path}: {operation['summary']}\n"
        for path, operations in document()["paths"].items()
        for method, operation in operations.items()
    ]
    return text + "".join(lines)


@blueprint.get(DOCS)
def docs() -> Response:
    """The page for people. A key that is typed into it does not leave the page. A member who is
    signed in tries the operations out with a form of their own shop."""
    form_id = ""
    if TOKEN in session:
        connection = open_connection(write=False)
        member = signed_in(connection)
        # The newest form of their shop.
        for form in list_forms(connection, member.shop_key, 1, None) if member else []:
            form_id = form.form_id
    page = render_template(
        "openapi/docs.html", viewer=f"{DOCS}/viewer", document=PATH, form_id=form_id
    )
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
