"""A Dask cluster as an engine: `dask scheduler` and `dask worker` run elsewhere."""

import logging
from concurrent.futures import Future
from typing import Final

from distributed import Client, KilledWorker, Security

from jobs.executors.dask_setup import READY, on_worker
from jobs.executors.engine import Engine, EngineUnavailable
from jobs.executors.worker import work
from warehouse.connections.errors import in_one_line

_CONNECT_SECONDS: Final = 10
_CLOSE_SECONDS: Final = 2


class DaskCluster(Engine):
    """The workers of a scheduler at `tls://HOST:PORT`; certificates are in Dask's own configuration."""

    deaths = (KilledWorker,)

    def __init__(self, address: str) -> None:
        # The driver says what happens in one line. Dask would print tracebacks.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self._address = address
        arguments = Security().get_connection_args("client")
        if address.startswith("tls:") and not arguments.get("ssl_context"):
            raise EngineUnavailable(
                f"the Dask scheduler at {address} needs certificates: set "
                "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..._CLIENT__CERT and ..._CLIENT__KEY"
            )
        try:
            self._client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # of the network, of certificates, of Dask's own configuration
            raise EngineUnavailable(
                f"the Dask scheduler at {address} cannot be used: {in_one_line(error)}"
            ) from error
        if not self._client.get_metadata(READY, False):
            self.close()
            raise EngineUnavailable(
                f"the Dask scheduler at {address} was started without "
                "--preload jobs.executors.dask_setup"
            )

    def workers(self) -> set[str]:
        try:
            # Dask would try for long to find it again, and has given up all tasks.
            scheduler = self._client.scheduler
            if self._client.status != "running" or scheduler is None:
                raise ConnectionError
            # Not its `scheduler_info`: what a look of its own found, without any worker, may stand there.
            told = self._client.sync(scheduler.identity, n_workers=-1)
            return set(told["workers"])
        except Exception as error:
            raise self._gone() from error

    def start(self, worker: str, request: str) -> Future[str]:
        try:
            # Dask would answer a pure function's second call with the first one's result.
            executor = self._client.get_executor(pure=False, workers=[worker])
            answer: Future[str] = executor.submit(on_worker, work, request)
        except Exception as error:
            raise self._gone() from error
        return answer

    def close(self) -> None:
        self._client.close(timeout=_CLOSE_SECONDS)

    def _gone(self) -> EngineUnavailable:
        return EngineUnavailable(f"the Dask scheduler at {self._address} is gone")
