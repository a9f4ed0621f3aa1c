"""How often the API may be asked: by key where the setting RATE_LIMIT says so, and always how often an
address may fail to authenticate.

Only failures count against an address, and only failures are refused for it: people behind one address
share it, and a valid key always passes. They are counted in a file that the processes of one server
share (so each host counts for itself), never in the warehouse, where a write would wait behind a long
import. What cannot be counted, is let through.

The fields `RateLimit` and `RateLimit-Policy` are those of draft-ietf-httpapi-ratelimit-headers.
"""

import sqlite3
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final, NamedTuple

from flask import Flask, Response, current_app, g, request

from warehouse.days import MICROS_PER_SECOND
from warehouse.settings import RATE_LIMIT
from web.allowances import Allowance, Taken, network, take
from web.callers import Caller
from web.errors import CODES, Refusal
from web.logs import log_failure
from web.request_id import request_id

# 300 at once, so that a program which goes through every endpoint with a wrong key is told so, and 60 a
# minute.
FAILURES: Final = Allowance(300, 300 * MICROS_PER_SECOND)

_PATIENCE_SECONDS: Final = 1
_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS allowance (
        subject TEXT PRIMARY KEY, whole_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS by_whole_at ON allowance (whole_at);
"""


class Counts:
    """What is counted, in an SQLite file; without one, in the memory of this process."""

    def __init__(self, file: str | None) -> None:
        self._file = file or ":memory:"
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None

    def take(self, subject: str, allowance: Allowance, now: int) -> Taken:
        """Raises sqlite3.Error where it cannot be counted."""
        with self._lock:
            connection = self._connection = self._connection or self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                taken = take(self._execute, subject, allowance, now)
                connection.execute("DELETE FROM allowance WHERE whole_at <= ?", (now,))
            finally:
                connection.execute("COMMIT")
            return taken

    def prepare(self) -> None:
        """Make the file, before several processes want to at once."""
        self._open().close()

    def close(self) -> None:
        with self._lock:
            if self._connection:
                self._connection.close()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._file, _PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
        )
        # Nothing here is worth a write to the disk.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(_TABLE)
        return connection

    def _execute(self, statement: str, values: Mapping[str, Any]) -> Any:
        assert self._connection
        rows = self._connection.execute(statement, values).fetchall()
        return rows[0][0] if rows else None


class Spent(NamedTuple):
    """An allowance of a key, of which a request was taken, or refused."""

    allowance: Allowance
    taken: Taken

    @property
    def headers(self) -> dict[str, str]:
        """What tells the client of it."""
        allowance, taken = self
        seconds = allowance.window // MICROS_PER_SECOND
        return {
            "RateLimit-Policy": f'"default";q={allowance.times};w={seconds}',
            "RateLimit": f'"default";r={taken.left};t={taken.wait or taken.whole_in}',
        }


def register(app: Flask, file: str | None) -> None:
    """Count in this file (see `Counts`)."""
    app.extensions["counts"] = Counts(file)
    app.extensions["rate_limit"] = RATE_LIMIT.get() and _allowance(*RATE_LIMIT.get())
    app.after_request(_tell)


def spend(extensions: Mapping[str, Any], caller: Caller, now: int, request_id: str) -> Spent | None:
    """Count a request of the caller's key; None where keys are not limited, or it cannot be
    counted."""
    allowance: Allowance | None = extensions["rate_limit"]
    if allowance is None:
        return None
    taken = _taken(extensions, caller.credential_id, allowance, now, request_id)
    return Spent(allowance, taken) if taken else None


def count_request(caller: Caller, now: int) -> None:
    """Count the request at hand. Raises the 429."""
    spent = spend(current_app.extensions, caller, now, request_id())
    if spent:
        g.spent = spent
        if spent.taken.wait:
            raise _limited("The key has been used too often.", spent.taken)


def count_failure(now: int) -> None:
    """Count a request without a valid key, by its address. Raises the 429."""
    address = f"address {network(request.remote_addr or '')}"
    taken = _taken(current_app.extensions, address, FAILURES, now, request_id())
    if taken is not None and taken.wait:
        raise _limited("Too many requests without a valid API key came from this address.", taken)


def _taken(
    extensions: Mapping[str, Any], subject: str, allowance: Allowance, now: int, request_id: str
) -> Taken | None:
    counts: Counts = extensions["counts"]
    try:
        return counts.take(subject, allowance, now)
    except sqlite3.Error as error:
        log_failure(request_id, error)
        return None


def _limited(message: str, taken: Taken) -> Refusal:
    again = f"{message} Try again in {taken.wait} s."
    return Refusal(429, CODES[429], again, {"Retry-After": str(taken.wait)})


def _tell(response: Response) -> Response:
    """Tell a client with a key what it may still do; of a refusal, when to come back."""
    if "spent" in g:
        response.headers.update(g.spent.headers)
    return response


def _allowance(times: int, seconds: int) -> Allowance:
    return Allowance(times, seconds * MICROS_PER_SECOND)
