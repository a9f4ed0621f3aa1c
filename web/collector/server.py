"""The collector's processes: granian, as `web/server/wsgi_server.py` serves the API.

They start without the warehouse, and end by giving their files in the landing folder their own names. The
process that replaces a killed one takes up what that left there.
"""

import atexit
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.domain.time import now_micros
from warehouse.settings import IMPORT_DIR, WAREHOUSE_URL
from web.collector.app import Collector, HandledPost, create_collector
from web.collector.known_keys import KnownKeys
from web.collector.landing_writer import LandingWriter
from web.collector.limits import SendLimits
from web.collector.warehouse_writer import WarehouseWriter
from web.db.database import Database
from web.server.wsgi_server import begin_worker, run_processes, watched

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


def run(host: str, port: int, workers: int) -> None:
    """Collect; see `run_processes`. Addresses are counted under a secret of these processes."""
    load = partial(_load_collector, secrets.token_bytes(32))
    run_processes(load, host, port, workers, _serve_metrics, after=1)


def _load_collector(secret: bytes, rate_buckets: str, is_measured: bool) -> Any:
    """The application of one process."""
    begin_worker()
    database = Database(WAREHOUSE_URL.get())
    shared = Collector(
        keys=KnownKeys(database),
        writer=LandingWriter(IMPORT_DIR.get()),
        limits=SendLimits(rate_buckets, secret),
        warehouse_writer=WarehouseWriter(database, now_micros),
        clock=now_micros,
        observe=counting() if is_measured else lambda _post: None,
    )
    atexit.register(shared.close)
    shared.keys.await_first()
    return watched(create_collector(shared))


def counting(registry: "CollectorRegistry | None" = None) -> Callable[[HandledPost], None]:
    """Add the collector's metrics to a registry (by default the process's); returns what counts a request.
    Only a worker that is measured calls this, as `web/metrics/__init__.py` says."""
    from prometheus_client import REGISTRY, Counter, Histogram

    registry = registry or REGISTRY
    requests = Counter(
        "formrevenue_collector_requests_total",
        "Requests that the collector answered.",
        ("path", "status"),
        registry=registry,
    )
    seconds = Histogram(
        "formrevenue_collector_request_duration_seconds",
        "From the request's head to its answer, without sending it.",
        buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        registry=registry,
    )
    events = Counter(
        "formrevenue_collector_events_total",
        "Calls that were answered 200 or refused: taken, of a crawler, without the id of a visitor or a "
        "session, other than about forms, refused.",
        ("outcome",),
        registry=registry,
    )
    added = Counter(
        "formrevenue_collector_bytes_total",
        "Bytes that were added to the landing folder.",
        registry=registry,
    )

    def observe(handled: HandledPost) -> None:
        requests.labels(handled.path, handled.status).inc()
        seconds.observe(handled.seconds)
        for outcome, number in handled.outcomes.items():
            events.labels(outcome).inc(number)
        added.inc(handled.bytes)

    return observe


def _serve_metrics(host: str, port: int, folder: Path) -> None:
    from web.metrics.endpoint import serve_metrics

    serve_metrics(host, port, folder)
