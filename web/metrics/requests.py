"""Metrics of requests: their number by endpoint and status, and their durations."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from prometheus_client import Counter, Gauge, Histogram

from web.http.request_log import HandledRequest

REQUESTS: Final = Counter(
    "formrevenue_http_requests_total",
    "Requests that were answered.",
    ("method", "path", "status"),
)
SECONDS: Final = Histogram(
    "formrevenue_http_request_duration_seconds",
    "From the request's head to its answer, without sending it.",
    ("method", "path"),
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
IN_PROGRESS: Final = Gauge(
    "formrevenue_http_requests_in_progress",
    "Requests that are being answered.",
    multiprocess_mode="livesum",
)


def in_progress(app: Callable[..., Any]) -> Callable[..., Any]:
    """WSGI middleware that counts the requests that an application is answering."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        with IN_PROGRESS.track_inprogress():
            return app(environ, start_response)

    return answer


def observe(handled: HandledRequest) -> None:
    """Count a request: by its path's template, since a client can put anything into an unknown path
    (which counts as one, without a name)."""
    requests, seconds = _of(handled.method, handled.path or "", handled.status)
    requests.inc()
    seconds.observe(handled.seconds)


# The library looks for a counter in a dictionary under a lock, with its labels as new texts.
@lru_cache(maxsize=1024)
def _of(method: str, path: str, status: int) -> tuple[Counter, Histogram]:
    return REQUESTS.labels(method, path, status), SECONDS.labels(method, path)
