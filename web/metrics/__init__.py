"""Metrics for Prometheus, on a port of their own (METRICS_PORT), which the same workers serve.

`requests.py`: what the API does, counted by each worker and added up over all of them, those that are
no more too. `facts.py`: what the warehouse knows of imports and rollups, read when it is asked for, so
that it is right whichever process, on whichever machine, did the work.

Imported by a worker alone: the library looks at the environment at once, and would count for this
process only if PROMETHEUS_MULTIPROC_DIR were not set by then (see `server.py`).
"""

from collections.abc import Callable
from typing import Any

from flask import Flask
from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.multiprocess import MultiProcessCollector

from web.handled import listen
from web.metrics.facts import Facts
from web.metrics.requests import IN_PROGRESS, observe


def register(app: Flask, port: int) -> None:
    """Measure the application, and answer on this port, whatever the path, with the metrics."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    registry.register(Facts(app.extensions["database"], app.extensions["clock"]))
    listen(app, observe)
    app.wsgi_app = _ByPort(app.wsgi_app, make_wsgi_app(registry), port)  # type: ignore[method-assign]


class _ByPort:
    """WSGI: the metrics on their port, which the server itself tells, and the API on all others."""

    def __init__(self, api: Callable[..., Any], metrics: Callable[..., Any], port: int) -> None:
        self._api = api
        self._metrics = metrics
        self._port = str(port)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        if environ["SERVER_PORT"] == self._port:
            return self._metrics(environ, start_response)
        with IN_PROGRESS.track_inprogress():
            return self._api(environ, start_response)
