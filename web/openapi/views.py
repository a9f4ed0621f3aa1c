"""`/v1/openapi.json`, which takes no key: it describes the interface, and has no shop's data in it."""

from typing import Final

import orjson
from flask import Blueprint, Response, current_app, request

from web.endpoint import VERSION
from web.openapi.document import document

PATH: Final = f"{VERSION}/openapi.json"

blueprint: Final = Blueprint("openapi", __name__)


@blueprint.get(PATH, provide_automatic_options=False)
def openapi() -> Response:
    """The document; it stays what it is as long as the process lives."""
    kept = current_app.extensions
    if "openapi" not in kept:
        kept["openapi"] = orjson.dumps(document(current_app))
    answer = Response(kept["openapi"], mimetype="application/json")
    answer.headers["Cache-Control"] = "no-cache"
    answer.add_etag()
    return answer.make_conditional(request)
