"""The floor of all answers: a bare Flask route on the product's server, which gives so many bytes.

python -m tests.bench.bare PORT
"""

import sys
from functools import cache
from typing import Any

from flask import Flask, Response

from web.server import Server


class Bare(Server):
    """The same server with another application, which has nothing to close."""

    def load_config(self) -> None:
        self._options["worker_exit"] = lambda _server, _worker: None
        super().load_config()

    def load(self) -> Any:
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
    Bare("127.0.0.1", int(sys.argv[1]), 1).run()
