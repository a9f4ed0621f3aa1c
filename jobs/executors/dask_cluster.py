"""A Dask cluster as an engine: `dask scheduler` and `dask worker` run elsewhere."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

from distributed import KilledWorker, Security

from jobs.executors.dask_setup import READY, on_worker
from jobs.executors.engines import Engine
from jobs.executors.errors import EngineUnavailable
from jobs.executors.plain_results import PlainClient, outcome
from warehouse.connections.errors import without_password

_CONNECT_SECONDS: Final = 10
_CLOSE_SECONDS: Final = 2


class DaskCluster(Engine):
    """The workers of a scheduler at `tls://HOST:PORT`; certificates are in Dask's own configuration."""

    deaths = (KilledWorker,)

    def __init__(self, address: str) -> None:
        arguments = Security().get_connection_args("client")
        if address.startswith("tls:") and not arguments.get("ssl_context"):
            raise EngineUnavailable(
                f"the Dask scheduler at {address} needs certificates: set "
                "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..._CLIENT__CERT and ..._CLIENT__KEY"
            )
        try:
            self._client = PlainClient(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # of the network, of certificates, of Dask's own configuration
            text = " ".join(str(error).split()) or type(error).__name__
            raise EngineUnavailable(
                f"the Dask scheduler at {address} cannot be used: {without_password(text)}"
            ) from error
        self._avoided: set[str] = set()
        if not self._client.get_metadata(READY, False):
            self._client.close(timeout=_CLOSE_SECONDS)
            raise EngineUnavailable(
                f"the Dask scheduler at {address} was started without "
                "--preload jobs.executors.dask_setup"
            )

    def workers(self) -> int:
        try:
            return len(self._usable())
        except Exception:  # the scheduler is gone
            return 0

    def avoid(self, worker: str) -> None:
        self._avoided.add(worker)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        # Dask would answer a pure function's second call with the first one's result.
        options: dict[str, Any] = {"pure": False}
        try:
            if self._avoided:
                # Others may do it if none of these is left: they refuse again, and nothing hangs.
                options |= {"workers": self._usable(), "allow_other_workers": True}
            executor = self._client.get_executor(**options)
            answer: Future[object] = executor.submit(on_worker, fn, *args, **kwargs)
        except Exception as error:
            raise EngineUnavailable(f"the Dask scheduler is gone: {error}") from error
        done: Future[Any] = Future()
        answer.add_done_callback(partial(_hand_on, done))
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._client.close(timeout=_CLOSE_SECONDS)

    def _usable(self) -> list[str]:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return [address for address in workers if address not in self._avoided]


def _hand_on(done: Future[Any], answer: Future[object]) -> None:
    """Give a worker's answer on as the outcome of its task, or as the error that it tells of."""
    try:
        done.set_result(outcome(answer.result()))
    except BaseException as error:  # of the task, of Dask, of the answer; or it was cancelled
        done.set_exception(error)
