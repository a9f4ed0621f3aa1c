"""The failures of engines and workers. A Dask scheduler loads this, too: it imports nothing."""


class EngineUnavailable(Exception):
    """The engine cannot be used now. The message says why."""


class WorkerFailed(Exception):
    """A worker cannot do its tasks, through no fault of a batch. `worker` is its name for its engine."""

    def __init__(self, worker: str, reason: str) -> None:
        super().__init__(worker, reason)
        self.worker, self.reason = worker, reason


class VersionSkew(WorkerFailed):
    """A worker has another program or other settings than the driver."""
