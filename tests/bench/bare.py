"""The floor of all answers: a bare Flask route on the product's server, which gives so many bytes.

python -m tests.bench.bare PORT
"""

import sys
from functools import cache

from flask import Flask, Response

from web.server.wsgi_server import serve


def load() -> Flask:
    app = Flask(__name__, static_folder=None)
    app.add_url_rule("/healthz", view_func=lambda: _answer(2))
    app.add_url_rule("/<int:size>", view_func=_answer)
    return app


def _answer(size: int) -> Response:
    return Response(_content(size), mimetype="application/json")


@cache
def _content(size: int) -> bytes:
    return b" " * size


if __name__ == "__main__":
    serve(load, "127.0.0.1", int(sys.argv[1]), 1)
