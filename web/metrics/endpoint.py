"""A metrics port: all workers' counts added up, and gauges such as those of the warehouse."""

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector


def serve_metrics(host: str, port: int, folder: Path, *gauges: Collector) -> None:
    """Answer with the metrics on this port, whatever the path, from a thread of this process.
    `folder` is where the workers count. Raises OSError where the address cannot be listened on."""
    registry = CollectorRegistry()
    registry.register(_Workers(folder))
    for gauge in gauges:
        registry.register(gauge)
    start_http_server(port, host, registry)


class _Workers(Collector):
    """The counts of all workers. The counts of a dead one stay; its requests in progress do not."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counts = MultiProcessCollector(None, str(folder))

    def collect(self) -> Iterator[Metric]:
        alive = {process.pid for process in multiprocessing.active_children()}
        for file in self._folder.glob("gauge_live*_*.db"):
            pid = int(file.stem.rpartition("_")[2])
            if pid not in alive:
                mark_process_dead(pid, str(self._folder))
        yield from self._counts.collect()
