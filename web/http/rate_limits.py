"""How often the API may be called: by all keys of a shop together (the setting RATE_LIMIT), and how often
an address may fail to authenticate.

Only failures count against an address, and only failures are refused for it: people behind one address
share it, and a valid key always passes. The counts are in a file that the processes of one server share
(so each host counts for itself), never in the warehouse, where a write would wait behind a long import.
Where the file cannot be used, each process counts for itself, in memory.

The fields `RateLimit` and `RateLimit-Policy` are those of draft-ietf-httpapi-ratelimit-headers.
"""

import sqlite3
from collections.abc import Mapping
from functools import partial
from threading import Lock
from typing import Any, Final

from flask import request

from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.setting_values import Setting
from warehouse.settings import RATE_LIMIT
from web.auth.gcra import RateLimit, RateLimitState, client_network, consume
from web.http.errors import CODES, Refusal
from web.http.request_log import log_trouble

# 300 at once, so that a program which goes through every endpoint with a wrong key is told so, and 60 a
# minute.
FAILURES: Final = RateLimit(300, 300 * MICROS_PER_SECOND)

_LOCK_SECONDS: Final = 1
_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS rate_bucket (
        subject TEXT PRIMARY KEY, full_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS by_full_at ON rate_bucket (full_at);
"""


class RateBuckets:
    """The counts, in an SQLite file; without one, and where it fails, in the memory of this process."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        # Opened now: when files run out, no limit must be open.
        self._memory = _open(":memory:")
        self._has_failed = False

    def take(
        self,
        subject: str,
        allowance: RateLimit,
        now: int,
        uses: int = 1,
        *,
        may_owe: bool = False,
    ) -> RateLimitState:
        """See `consume`."""
        consume = partial(
            _take, subject=subject, allowance=allowance, now=now, uses=uses, may_owe=may_owe
        )
        with self._lock:
            if self._file:
                try:
                    self._connection = self._connection or _open(self._file)
                    taken = consume(self._connection)
                    self._has_failed = False
                    return taken
                except sqlite3.Error as error:
                    self._give_up(error)
            return consume(self._memory)

    def create(self) -> None:
        """Make the file, before several processes want to at once."""
        if self._file:
            _open(self._file).close()

    def close(self) -> None:
        with self._lock:
            self._memory.close()
            if self._connection:
                self._connection.close()

    def _give_up(self, error: sqlite3.Error) -> None:
        """Until the next request, which tries the file again."""
        if self._connection:
            self._connection.close()
            self._connection = None
        if not self._has_failed:
            self._has_failed = True
            log_trouble(f"Requests are counted by each process for itself: {error}.")


def _open(file: str) -> sqlite3.Connection:
    connection = sqlite3.connect(file, _LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    # Nothing here is worth a write to the disk.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(_TABLE)
    return connection


def _take(
    connection: sqlite3.Connection,
    subject: str,
    allowance: RateLimit,
    now: int,
    uses: int,
    *,
    may_owe: bool,
) -> RateLimitState:
    def execute(statement: str, values: Mapping[str, Any]) -> Any:
        rows = connection.execute(statement, values).fetchall()
        return rows[0][0] if rows else None

    taken = consume(execute, subject, allowance, now, uses, may_owe=may_owe)
    # Rows come with buckets that were full: then those go that are full again.
    if taken.remaining == allowance.times - uses:
        connection.execute("DELETE FROM rate_bucket WHERE full_at <= ?", (now,))
    return taken


def limit_of(setting: Setting) -> RateLimit | None:
    """The limit that a setting gives; None where it is off."""
    times, seconds = setting.get() or (0, 0)
    return RateLimit(times, seconds * MICROS_PER_SECOND) if times else None


class RateLimits:
    """One per process; `file` is that of RateBuckets."""

    def __init__(self, file: str | None) -> None:
        self._buckets = RateBuckets(file)
        self._of_shops = limit_of(RATE_LIMIT)

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
