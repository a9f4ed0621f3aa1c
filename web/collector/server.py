"""The collector's processes: granian, as `web/server/wsgi_server.py` serves the API.

They start without the warehouse, and end by giving their files in the landing folder their own names. What
a killed process leaves there is taken up by the one that replaces it.
"""

import atexit
import os
import secrets
from functools import partial
from pathlib import Path
from typing import Any

from warehouse.settings import (
    COLLECT_METRICS_PORT,
    IMPORT_DIR,
    METRICS_HOST,
    WAREHOUSE_URL,
    SettingError,
    check_all,
)
from web.app import wall_clock
from web.collector.app import Collector, create_collector
from web.collector.known_keys import KnownKeys
from web.collector.landing_writer import LandingWriter
from web.collector.limits import SendLimits
from web.db.database import Database
from web.http.rate_limits import RateBuckets
from web.http.request_log import log_trouble
from web.server.shared_folder import shared_folder
from web.server.unread_answers import WholeAnswers
from web.server.wsgi_server import begin_worker, require_free, serve


def run(host: str, port: int, workers: int) -> None:
    """Collect until SIGTERM or SIGINT, then answer the requests in flight.

    Raises SettingError or OSError before any process is started.
    """
    check_all()
    metrics_port = COLLECT_METRICS_PORT.get()
    if metrics_port == port:
        raise SettingError(f"COLLECT_METRICS_PORT={port}: this is the port of the collector")
    require_free(host, port)
    with shared_folder() as folder:
        rate_buckets = str(folder / "rate_buckets.db")
        RateBuckets(rate_buckets).create()
        if metrics_port is not None:
            # Read by the library when a worker imports it.
            counts = folder / "metrics"
            counts.mkdir()
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(counts)
            _serve_metrics(METRICS_HOST.get(), metrics_port, counts)
        secret = secrets.token_bytes(32)
        load = partial(_load_collector, rate_buckets, secret, metrics_port is not None)
        serve(load, host, port, workers)


def _load_collector(rate_buckets: str, secret: bytes, is_measured: bool) -> Any:
    """The application of one process."""
    begin_worker()
    metrics: Any = None
    if is_measured:
        from web.collector import metrics
    shared = Collector(
        keys=KnownKeys(Database(WAREHOUSE_URL.get()), log_trouble),
        writer=LandingWriter(
            IMPORT_DIR.get(),
            on_open_files=metrics.OPEN_FILES.set if metrics else lambda _number: None,
            on_trouble=log_trouble,
        ),
        limits=SendLimits(rate_buckets, secret),
        clock=wall_clock,
        listeners=[metrics.observe] if metrics else [],
    )
    atexit.register(shared.close)
    return WholeAnswers(create_collector(shared))


def _serve_metrics(host: str, port: int, folder: Path) -> None:
    from web.metrics.endpoint import serve_metrics

    serve_metrics(host, port, folder)
