"""Writing beside working out: what is final goes to the database while the rest is still derived."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, Self

_P = ParamSpec("_P")


class Writing:
    """Writes of one transaction, each done in its turn by one thread. After one that failed nothing
    more is written; who leaves the block early waits for the one in hand."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._told: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def then(self, write: Callable[_P, None], *args: _P.args, **kwargs: _P.kwargs) -> None:
        """Write this after all that was told before."""
        before = self._told[-1] if self._told else None

        def in_turn() -> None:
            # Raises what an earlier one has raised.
            if before:
                before.result()
            write(*args, **kwargs)

        self._told.append(self._pool.submit(in_turn))

    def finish(self) -> None:
        """Wait until everything is written. Raises what writing raised."""
        if self._told:
            self._told[-1].result()
