"""The production server: granian, several processes, each with threads of which few work at once.

granian holds connections outside of Python: a client that is silent, sends half of its headers or does
not read its answer takes no thread (tests/web/server/test_slow_clients.py). A request takes one
(`web/limits/slots.py`). `web/limits/connections.py` bounds what granian does not.
"""

import atexit
import gc
import multiprocessing
import os
import resource
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Final

import click
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from warehouse.domain.time import now_micros
from warehouse.environment import hide_memory
from warehouse.setting_values import SettingError
from warehouse.settings import METRICS_HOST, METRICS_PORT, TRUSTED_PROXIES, WAREHOUSE_URL
from web.app import close_app, create_app
from web.db.database import Database
from web.http.rate_limits import RateBuckets
from web.http.services import services_of
from web.limits.connections import Connections, WholeAnswers
from web.limits.slots import LOOK_UPS, THREADS, UPLOAD_THREADS
from web.server.shared_folder import shared_folder

GRACE_SECONDS: Final = 25
"""The longest that requests in flight may take after SIGTERM."""

# The longest that the headers of a request may take; it also ends idle connections.
_HEADERS_SECONDS: Final = 15
# Request line and headers.
_MAX_HEAD_BYTES: Final = 64 * 1024
# How long Python runs a thread while others wait: a short request would wait for so long several times.
# This is a fiftieth of Python's interval.
_SWITCH_SECONDS: Final = 0.0001
# New objects after which Python looks through them for garbage. It looks through all objects by the clock,
# since this stops every request.
_YOUNG_OBJECTS: Final = 2_000
_NEVER: Final = 1_000_000_000
_COLLECT_SECONDS: Final = 60
# Connections that one process holds, whatever they do. Each may keep an answer in memory that nobody reads:
# without a key up to 0.5 MB.
_MAX_CONNECTIONS: Final = 1024
# Files that a process has beside them: the warehouse, rate limits, and of the collector one for each shop.
_OTHER_FILES: Final = 512
# At least so many connections, however few files a process may have.
_MIN_CONNECTIONS: Final = 64


def run(host: str, port: int, workers: int) -> None:
    """Serve the API; see `run_processes`."""

    def serve_metrics(metrics_host: str, metrics_port: int, folder: Path) -> None:
        from web.metrics import endpoint

        gauges = endpoint.WarehouseGauges(Database(WAREHOUSE_URL.get()), now_micros)
        endpoint.serve_metrics(metrics_host, metrics_port, folder, gauges)

    run_processes(_load_app, host, port, workers, serve_metrics)


def run_processes(
    load: Callable[[str, bool], Any],
    host: str,
    port: int,
    workers: int,
    serve_metrics: Callable[[str, int, Path], None],
    after: int = 0,
) -> None:
    """Serve an application until SIGTERM or SIGINT, then answer the requests in flight.

    `load` gives it in each process, from the file of the rate limits that all share, and whether its
    requests are counted. `serve_metrics` gets the address of the metrics, and the folder of the counts; their
    port comes so many `after` METRICS_PORT. Raises SettingError or OSError before any process is started: for
    a port that metrics share with the server, and for an address that cannot be listened on.
    """
    first = METRICS_PORT.get()
    metrics_port = None if first is None else first + after
    if metrics_port == port:
        raise SettingError(
            f"METRICS_PORT={first}: metrics would be on port {port}, which the server itself has; give them "
            "another"
        )
    require_free(host, port)
    # The processes share this folder for as long as the server runs.
    with shared_folder() as folder:
        rate_buckets = str(folder / "rate_buckets.db")
        RateBuckets(rate_buckets).create()
        if metrics_port is not None:
            # Read by the library when a worker imports it.
            counts = folder / "metrics"
            counts.mkdir()
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(counts)
            serve_metrics(METRICS_HOST.get(), metrics_port, counts)
        serve(partial(load, rate_buckets, metrics_port is not None), host, port, workers)


def serve(load: Callable[[], Any], host: str, port: int, workers: int) -> None:
    """Serve the WSGI application that `load()` gives in each process."""
    # Processes start empty: a fork would copy the locks of this one's threads.
    multiprocessing.set_start_method("spawn", force=True)
    server = Granian(
        "web.app",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(
            header_read_timeout=_HEADERS_SECONDS * 1000, max_buffer_size=_MAX_HEAD_BYTES
        ),
        websockets=False,
        workers=workers,
        blocking_threads=THREADS + UPLOAD_THREADS + LOOK_UPS,
        backlog=1024,
        backpressure=_room_for_connections(),
        respawn_failed_workers=True,
        workers_kill_timeout=GRACE_SECONDS,
        log_level=LogLevels.error,
    )
    server.on_startup(lambda: click.echo(f"Serving on http://{_address(host, port)}", err=True))
    server.serve(target_loader=load, wrap_loader=False)


def _room_for_connections() -> int:
    """Connections that leave each process enough files. Each may open as many files as the system allows
    this one to allow itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_CONNECTIONS + _OTHER_FILES
    files = wanted if resource.RLIM_INFINITY in (soft, hard) else min(max(wanted, soft), hard)
    if soft not in (resource.RLIM_INFINITY, files):
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(min(_MAX_CONNECTIONS, files - _OTHER_FILES), _MIN_CONNECTIONS)


def require_free(host: str, port: int) -> None:
    """Raise OSError where the address cannot be listened on. (The processes share the port, so that a
    second server would start beside the first.)"""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise OSError(f"cannot listen on {_address(host, port)}: {error.strerror}") from None


def _load_app(rate_buckets: str, is_measured: bool) -> Any:
    """The application of one process."""
    begin_worker()
    if is_measured:
        from web.metrics.requests import in_progress, observe

        app = create_app(rate_buckets=rate_buckets, observe=observe)
        app.wsgi_app = in_progress(app.wsgi_app)  # type: ignore[method-assign]
    else:
        app = create_app(rate_buckets=rate_buckets)
    services_of(app).health.look()
    atexit.register(close_app, app)
    return watched(app)


def watched(app: Callable[..., Any]) -> WholeAnswers:
    """Wrap the application of this process, and look after its connections from now on."""
    connections = Connections(TRUSTED_PROXIES.get())
    connections.watch()
    # All that is loaded by now stays until the process ends. To look through it for garbage stopped every
    # request of the process now and then, for as long as forty of them take.
    gc.collect()
    gc.freeze()
    # An answer of ten thousand rows had Python look through all objects four times, 30 ms each.
    gc.set_threshold(_YOUNG_OBJECTS, 10, _NEVER)

    def collect_garbage() -> None:
        while True:
            time.sleep(_COLLECT_SECONDS)
            gc.collect()

    Thread(target=collect_garbage, daemon=True).start()
    return WholeAnswers(app, connections)


def begin_worker() -> None:
    """Prepare this process, which granian has started, for requests."""
    hide_memory()
    parent = multiprocessing.parent_process()

    def end_with_parent() -> None:
        # It would hold the port, so that no other server could start, and nobody would replace it.
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()
    sys.setswitchinterval(_SWITCH_SECONDS)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
