"""Engines run tasks. The setting EXECUTOR chooses one: processes of this machine, or a Dask cluster."""

import multiprocessing
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

from jobs.run.signals import stop_in_time
from warehouse.environment import hide_memory

_EXIT_STATUS: Final = 128 + signal.SIGTERM


class Engine(Executor, ABC):
    """An executor whose workers are processes, each with one task at a time."""

    # The errors of a task whose worker has died.
    deaths: tuple[type[Exception], ...]

    @abstractmethod
    def workers(self) -> int:
        """How many workers there are now."""

    @abstractmethod
    def avoid(self, worker: str) -> None:
        """Give a worker that has failed no more tasks, where others may do better."""


class Processes(Engine):
    """Processes of this machine. Each is a pool of one, so that a death is that of its own task."""

    deaths = (BrokenProcessPool,)

    def __init__(self, count: int) -> None:
        self._count = count
        # A forked process would share the connections and the locks of this one's threads.
        self._context = multiprocessing.get_context("spawn")
        self._stop = self._context.Event()
        self._pools: set[ProcessPoolExecutor] = set()
        self._idle: SimpleQueue[ProcessPoolExecutor | None] = SimpleQueue()
        for _ in range(count):
            self._idle.put(None)

    def workers(self) -> int:
        return self._count

    def avoid(self, worker: str) -> None:
        pass  # All of them are alike: the driver's own program and settings.

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task; waits until a worker is idle."""
        pool = self._idle.get() or self._new_pool()
        try:
            future = pool.submit(fn, *args, **kwargs)
        except BrokenProcessPool:  # it died while it was idle
            self._drop(pool)
            pool = self._new_pool()
            future = pool.submit(fn, *args, **kwargs)
        future.add_done_callback(lambda done: self._put_back(pool, done))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if cancel_futures and self._idle.qsize() < self._count:
            self._stop.set()
        for pool in self._pools.copy():
            pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _new_pool(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(1, self._context, _begin_worker, (self._stop,))
        self._pools.add(pool)
        return pool

    def _put_back(self, pool: ProcessPoolExecutor, done: Future[Any]) -> None:
        if not done.cancelled() and isinstance(done.exception(), BrokenProcessPool):
            self._drop(pool)
            self._idle.put(None)
        else:
            self._idle.put(pool)

    def _drop(self, pool: ProcessPoolExecutor) -> None:
        self._pools.discard(pool)
        pool.shutdown(wait=False)


def _begin_worker(stop: Event) -> None:
    """The first thing that a worker's process does."""
    hide_memory()
    # Ctrl-C reaches all processes of a terminal: the driver decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: _end_after(lambda: None))
    driver = multiprocessing.parent_process()
    assert driver is not None
    _end_after(stop.wait)
    _end_after(driver.join)


def _end_after(wait: Callable[[], object]) -> None:
    """End the process, after its batch, once a wait is over; returns at once."""

    def end() -> None:
        wait()
        stop_in_time()
        os._exit(_EXIT_STATUS)

    Thread(target=end, daemon=True).start()
