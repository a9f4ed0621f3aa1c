"""The collector's processes: granian, as `web/server/wsgi_server.py` serves the API.

They start without the warehouse, and end by giving their files in the landing folder their own names. The
process that replaces a killed one takes up what that left there.
"""

import atexit
import secrets
from functools import partial
from pathlib import Path
from typing import Any

from warehouse.settings import IMPORT_DIR, WAREHOUSE_URL
from web.clock import wall_clock
from web.collector.app import Collector, create_collector
from web.collector.known_keys import KnownKeys
from web.collector.landing_writer import LandingWriter
from web.collector.limits import SendLimits
from web.collector.warehouse_writer import WarehouseWriter
from web.db.database import Database
from web.http.request_log import log_trouble
from web.server.wsgi_server import begin_worker, run_processes, watched


def run(host: str, port: int, workers: int) -> None:
    """Collect; see `run_processes`. Addresses are counted under a secret of these processes."""
    load = partial(_load_collector, secrets.token_bytes(32))
    run_processes(load, host, port, workers, _serve_metrics, after=1)


def _load_collector(secret: bytes, rate_buckets: str, is_measured: bool) -> Any:
    """The application of one process."""
    begin_worker()
    metrics: Any = None
    if is_measured:
        from web.collector import metrics
    database = Database(WAREHOUSE_URL.get())
    shared = Collector(
        keys=KnownKeys(database, log_trouble),
        writer=LandingWriter(IMPORT_DIR.get(), on_trouble=log_trouble),
        limits=SendLimits(rate_buckets, secret),
        warehouse_writer=WarehouseWriter(database, wall_clock, log_trouble),
        clock=wall_clock,
        observe=metrics.observe if metrics else lambda _post: None,
    )
    atexit.register(shared.close)
    shared.keys.await_first()
    return watched(create_collector(shared))


def _serve_metrics(host: str, port: int, folder: Path) -> None:
    from web.metrics.endpoint import serve_metrics

    serve_metrics(host, port, folder)
