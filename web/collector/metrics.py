"""Metrics of the collector, on the port after METRICS_PORT.

Only a worker that is measured imports this, as `web/metrics/__init__.py` says.
"""

from typing import Final

from prometheus_client import Counter, Histogram

from web.collector.app import HandledPost

REQUESTS: Final = Counter(
    "formrevenue_collector_requests_total",
    "Requests that the collector answered.",
    ("path", "status"),
)
SECONDS: Final = Histogram(
    "formrevenue_collector_request_duration_seconds",
    "From the request's head to its answer, without sending it.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
EVENTS: Final = Counter(
    "formrevenue_collector_events_total",
    "Calls that were answered 200 or refused: taken, of a crawler, without the id of a visitor or a session, "
    "other than about forms, refused.",
    ("outcome",),
)
BYTES: Final = Counter(
    "formrevenue_collector_bytes_total", "Bytes that were added to the landing folder."
)


def observe(handled: HandledPost) -> None:
    """Count a request."""
    REQUESTS.labels(handled.path, handled.status).inc()
    SECONDS.observe(handled.seconds)
    for outcome, number in handled.outcomes.items():
        EVENTS.labels(outcome).inc(number)
    BYTES.inc(handled.bytes)
