"""An engine runs workers: processes of this machine, or those of a Dask cluster."""

from abc import ABC, abstractmethod
from concurrent.futures import Future
from typing import ClassVar

from jobs.run.errors import Told


class EngineUnavailable(Told):
    """The engine cannot be used now, and why."""


class Engine(ABC):
    """`deaths`: the errors of a worker that has died."""

    deaths: ClassVar[tuple[type[Exception], ...]]

    @abstractmethod
    def workers(self) -> set[str]:
        """The names of the workers that there are now. Raises EngineUnavailable."""

    @abstractmethod
    def start(self, worker: str, request: str) -> Future[str]:
        """Have a worker do what `worker.work` does, to be called once for each. Raises EngineUnavailable."""

    @abstractmethod
    def close(self) -> None:
        """End what can be ended: processes of this machine, after the group of batches at hand."""
