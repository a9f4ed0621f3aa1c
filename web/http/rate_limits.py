"""Limits on how often the API may be called by all keys of a shop together (the setting RATE_LIMIT), and on
how often an address may fail to authenticate.

Only failures count against an address, and only failures are refused for it: people behind one address
share it, and a valid key always passes. The counts are in a file that the processes of one server share
(so each host counts for itself), never in the warehouse, where a write would wait behind a long import.
Where the file cannot be used, each process counts for itself, in memory.

The fields `RateLimit` and `RateLimit-Policy` are those of draft-ietf-httpapi-ratelimit-headers.
"""

import sqlite3
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final

from flask import request

from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.settings import RATE_LIMIT
from web.http.errors import CODES, Refusal
from web.http.request_log import Trouble
from web.limits.gcra import RateLimit, RateLimitState, client_network, consume

# 300 at once, so that a program which goes through every endpoint with a wrong key is told so, and 60 a
# minute.
FAILURES: Final = RateLimit(300, 300 * MICROS_PER_SECOND)

_LOCK_SECONDS: Final = 1
_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS rate_bucket (
        subject TEXT PRIMARY KEY, full_at INTEGER NOT NULL
    ) WITHOUT ROWID
"""
# Rows of buckets that are full again go after so many uses of a connection.
_USES_TO_SWEEP: Final = 10_000


class RateBuckets:
    """The counts, in an SQLite file; without one, and where it fails, in the memory of this process."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        # Opened now: when files run out, no limit must be open.
        self._memory = _open(":memory:")
        self._trouble = Trouble()

    def take(
        self,
        subject: str,
        allowance: RateLimit,
        now: int,
        uses: int = 1,
        *,
        may_owe: bool = False,
    ) -> RateLimitState:
        """Take a use of a limit; see `consume`."""

        def take_from(connection: sqlite3.Connection) -> RateLimitState:
            def execute(statement: str, values: Mapping[str, Any]) -> Any:
                rows = connection.execute(statement, values).fetchall()
                return rows[0][0] if rows else None

            taken = consume(execute, subject, allowance, now, uses, may_owe=may_owe)
            if not (taken.retry_after or connection.total_changes % _USES_TO_SWEEP):
                connection.execute("DELETE FROM rate_bucket WHERE full_at <= ?", (now,))
            return taken

        with self._lock:
            if self._file:
                try:
                    self._connection = self._connection or _open(self._file)
                    taken = take_from(self._connection)
                    self._trouble.ends()
                    return taken
                except sqlite3.Error as error:
                    # The next request tries the file again.
                    if self._connection:
                        self._connection.close()
                        self._connection = None
                    self._trouble.begins(
                        f"Requests are counted by each process for itself: {error}."
                    )
            return take_from(self._memory)

    def create(self) -> None:
        """Make the file, before several processes want to at once."""
        if self._file:
            _open(self._file).close()

    def close(self) -> None:
        with self._lock:
            self._memory.close()
            if self._connection:
                self._connection.close()


def _open(file: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        file, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False
    )
    # Nothing here is worth a write to the disk.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(_TABLE)
    return connection


class RateLimits:
    """Limits on the requests of a shop. A process has one object; `file` is that of RateBuckets."""

    def __init__(self, file: str | None) -> None:
        self._buckets = RateBuckets(file)
        times, seconds = RATE_LIMIT.get() or (0, 0)
        self._of_shops = RateLimit(times, seconds * MICROS_PER_SECOND) if times else None

    def count_request(self, shop_key: int, now: int, headers: dict[str, str]) -> None:
        """Count a request of a shop. The headers get those of its answer. Raises the 429."""
        if limit := self._of_shops:
            used = self._buckets.take(f"shop {shop_key}", limit, now)
            seconds = limit.window // MICROS_PER_SECOND
            again_in = used.retry_after or used.reset_after
            headers["RateLimit-Policy"] = f'"default";q={limit.times};w={seconds}'
            headers["RateLimit"] = f'"default";r={used.remaining};t={again_in}'
            _check(used, "The keys of this shop have been used too often.")

    def count_page(self, shop_key: int, now: int) -> None:
        """Count a page of a shop's members, apart from the requests with its keys. Raises the 429."""
        if self._of_shops:
            used = self._buckets.take(f"pages {shop_key}", self._of_shops, now)
            _check(used, "Members of this shop have asked for too many pages.")

    def count_failure(self, now: int) -> None:
        """Count a request without a valid key or sign-in by its address. Raises the 429."""
        address = client_network(request.remote_addr or "")
        used = self._buckets.take(f"address {address}", FAILURES, now)
        _check(
            used,
            "Too many requests without a valid API key or sign-in came from this address.",
        )

    def close(self) -> None:
        self._buckets.close()


def _check(used: RateLimitState, message: str) -> None:
    if seconds := used.retry_after:
        raise Refusal(
            429, CODES[429], f"{message} Try again in {seconds} s.", {"Retry-After": str(seconds)}
        )
