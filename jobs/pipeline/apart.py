"""A process of its own for batches that may end the process that applies them.

A `Child` applies them under its owner's lease, which the owner renews. They talk in lines of JSON over
the child's standard input and output; the child ends with its owner, after the group at hand.
"""

import json
import signal
import sys
from contextlib import suppress
from dataclasses import asdict
from subprocess import PIPE, Popen
from typing import Any, Final

import adbc_driver_manager
import pyarrow as pa
from sqlalchemy import URL

from jobs.pipeline import apply_batch
from jobs.run.errors import CommandFailed, Told, blamed
from warehouse.connections.arrow import ArrowConnection, connect_arrow
from warehouse.connections.errors import Unavailable
from warehouse.editions.editions import Edition
from warehouse.editions.leases import Claim, LeaseLost
from warehouse.editions.pending_batches import Batch

Message = dict[str, Any]

_OWN_ERRORS: Final = {error.__name__: error for error in (LeaseLost, Unavailable)}


class ApartFailed(Told):
    """A child could not apply its batches: with which error, or how it ended."""


class Child:
    """The process. It is started when it is first needed, and again after it has died.

    `deaths`: how often it has died.
    """

    def __init__(self, url: URL) -> None:
        self._url = url.render_as_string(hide_password=False)
        self._process: Popen[str] | None = None
        self.deaths = 0

    def start(self) -> None:
        """Start the process, unless it runs. Raises what its connection raised, and CommandFailed."""
        if self._process is None:
            # A group of its own: Ctrl-C is for its owner.
            self._process = Popen(
                [sys.executable, "-m", __name__],
                stdin=PIPE,
                stdout=PIPE,
                text=True,
                process_group=0,
            )
            try:
                self._ask({"url": self._url})
            except ApartFailed as error:
                self.close()
                raise CommandFailed(f"a process for batches did not start: {error}") from None

    def apply(self, held: Claim, batches: list[Batch]) -> None:
        """Read and apply batches of editions that are claimed.

        Raises LeaseLost and the database's errors, as `apply_batch.apply` does, else ApartFailed.
        """
        numbers = {batch["edition"] for batch in batches}
        involved = [asdict(edition) for edition in held.editions if edition.edition in numbers]
        self._ask({"owner": held.owner, "editions": involved, "batches": batches})

    def close(self) -> None:
        """End the process. It has nothing to do."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _ask(self, request: Message) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        answer = ""
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        if not answer:
            self.close()
            self.deaths += 1
            raise ApartFailed(f"its process died ({how_it_ended(process.wait())})")
        _raise(json.loads(answer))


def how_it_ended(status: int) -> str:
    """How a process ended that returned this status."""
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"


def _answer(error: Exception | None) -> Message:
    if error is None:
        return {}
    text = " ".join(str(error).split())
    name, sqlstate = type(error).__name__, getattr(error, "sqlstate", None)
    is_database = isinstance(error, adbc_driver_manager.Error)
    return {
        "error": name,
        "text": text,
        "told": blamed(error),
        "is_database": is_database,
        "sqlstate": str(sqlstate) if sqlstate else None,
    }


def _raise(answer: Message) -> None:
    """Raise the error that a child's answer tells of, if it does."""
    if not answer:
        return
    name, text = answer["error"], answer["text"]
    if answer["is_database"]:
        raise getattr(adbc_driver_manager, name)(
            text,
            status_code=adbc_driver_manager.AdbcStatusCode.UNKNOWN,
            sqlstate=answer["sqlstate"],
        )
    raise _OWN_ERRORS[name](text) if name in _OWN_ERRORS else ApartFailed(answer["told"])


def _serve() -> None:
    """The child: answer the requests of its owner, until there are none."""
    # A service that is stopped signals all of its processes: the owner decides what becomes of this one.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # As in `Drain.drain`.
    pa.set_memory_pool(pa.system_memory_pool())
    url, connection = "", None
    for line in sys.stdin:
        request = json.loads(line)
        url = request.get("url", url)
        problem: Exception | None = None
        try:
            connection = connection or _connected(url)
            if "batches" in request:
                _apply(connection, request)
        except Exception as error:
            problem = error
            if connection is not None and not connection.answers():
                connection.close()
                connection = None
        with suppress(BrokenPipeError):
            sys.stdout.write(json.dumps(_answer(problem)) + "\n")
            sys.stdout.flush()


def _connected(url: str) -> ArrowConnection:
    connection = connect_arrow(url)
    connection.prefer_index_lookups()
    return connection


def _apply(connection: ArrowConnection, request: Message) -> None:
    editions = tuple(Edition(**edition) for edition in request["editions"])
    apply_batch.apply(connection, Claim(request["owner"], editions), request["batches"])


if __name__ == "__main__":
    _serve()
