"""The floor of all answers: a bare Flask route, which gives so many bytes, on the product's server with the
guard of connections and the turns of threads that the service has there.

python -m tests.bench.bare PORT
"""

import sys
from functools import cache

from flask import Flask, Response

from web.limits.connections import WholeAnswers
from web.server.wsgi_server import begin_worker, serve, watched


def load() -> WholeAnswers:
    begin_worker()
    app = Flask(__name__, static_folder=None)
    app.add_url_rule("/healthz", view_func=lambda: _answer(2))
    app.add_url_rule("/<int:size>", view_func=_answer)
    return watched(app)


def _answer(size: int) -> Response:
    return Response(_content(size), mimetype="application/json")


@cache
def _content(size: int) -> bytes:
    return b" " * size


if __name__ == "__main__":
    serve(load, "127.0.0.1", int(sys.argv[1]), 1)
