"""The production server: gunicorn, several processes, a few threads each.

On two cores, 16 connections, a funnel of 90 days: gunicorn's threads 1,256 requests/s, granian 960,
gunicorn's sync worker (no keep-alive) 696. Of an answer that is given again, one process with one, two
and four threads: 1,260, 2,330 and 2,470. Each process opens its own connections.
"""

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import click
from gunicorn.app.base import BaseApplication

from warehouse.settings import METRICS_HOST, METRICS_PORT, SettingError
from web.app import close_app, create_app
from web.logs import configure
from web.rate_limits import Counts

THREADS: Final = 4
GRACE_SECONDS: Final = 30


class Server(BaseApplication):
    """gunicorn, told everything here and nothing by its own files and variables."""

    def __init__(self, host: str, port: int, workers: int) -> None:
        self._metrics_port = METRICS_PORT.get()
        if self._metrics_port == port:
            raise SettingError(f"METRICS_PORT={port}: this is the port of the API")
        # For what the processes have in common while they live.
        self._folder = Path(mkdtemp(prefix="formrevenue-"))
        self._counts = str(self._folder / "counts.db")
        Counts(self._counts).prepare()
        address = _address(host, port)
        bind = [address]
        if self._metrics_port is not None:
            measured = self._folder / "metrics"
            measured.mkdir()
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(measured)
            bind.append(_address(METRICS_HOST.get(), self._metrics_port))
        self._options = {
            "bind": bind,
            "workers": workers,
            "threads": THREADS,
            "worker_class": "web.worker.Worker",
            "keepalive": 30,
            "graceful_timeout": GRACE_SECONDS,
            "limit_request_line": 8190,
            # Whom to believe is decided in web/proxies.py.
            "forwarded_allow_ips": "",
            "secure_scheme_headers": {},
            "loglevel": "warning",
            "control_socket_disable": True,
            "worker_exit": _close,
            "child_exit": self._forget,
            "when_ready": lambda _: click.echo(f"Serving on http://{address}", err=True),
        }
        super().__init__()

    def run(self) -> None:
        master = os.getpid()
        try:
            super().run()
        finally:
            # Workers come by here when they end, too.
            if os.getpid() == master:
                shutil.rmtree(self._folder, ignore_errors=True)

    def load_config(self) -> None:
        for name, value in self._options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """The application of one process."""
        configure()
        app = create_app(counts=self._counts)
        if self._metrics_port is not None:
            from web import metrics

            metrics.register(app, self._metrics_port)
        return app

    def _forget(self, _server: Any, worker: Any) -> None:
        """What a worker that is no more was just doing is not being done; what it has done, was."""
        if self._metrics_port is not None:
            from prometheus_client.multiprocess import mark_process_dead

            mark_process_dead(worker.pid)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _close(_server: Any, worker: Any) -> None:
    if worker.wsgi is not None:
        close_app(worker.wsgi)


def run(host: str, port: int, workers: int) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in flight (for at most 30 s)."""
    Server(host, port, workers).run()
