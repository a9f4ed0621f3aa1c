"""What the API does: requests by endpoint and status, and how long they take."""

from time import perf_counter
from typing import Final

from flask import Response, g, request
from prometheus_client import Counter, Gauge, Histogram

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

_METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


def observe(response: Response) -> Response:
    """Count the request at hand: by its path's template, since a client can put anything into an
    unknown path (which counts as one, without a name), or into the method."""
    method = request.method if request.method in _METHODS else "other"
    path = g.get("template") or (request.url_rule.rule if request.url_rule else "")
    REQUESTS.labels(method, path, response.status_code).inc()
    SECONDS.labels(method, path).observe(perf_counter() - g.started)
    return response
