"""Rate limits, counted by one statement (the generic cell rate algorithm).

Each subject has one row in `rate_bucket`: the instant `full_at` at which its bucket is full again. A use
moves that instant forward by the limit's interval. A use that would move it further ahead than the
window is refused and moves nothing. This is a sliding window without a row for each use, and one
statement counts and decides, so two uses at once cannot pass together in any process.

An instant further ahead than a window can reach was written by a clock that was ahead. Such a bucket counts
as full: nobody is locked out for as long as a clock was wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Any, Final, NamedTuple

from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_SECOND

# Runs a statement with `:names`, and returns the first value of its first row, None without rows.
Execute = Callable[[str, Mapping[str, Any]], Any]

_CONSUME: Final = """
    INSERT INTO rate_bucket (subject, full_at)
    VALUES (:subject, CAST(:now AS BIGINT) + CAST(:cost AS BIGINT))
    ON CONFLICT (subject) DO UPDATE SET full_at = CAST(:cost AS BIGINT) +
        CASE WHEN rate_bucket.full_at BETWEEN :now AND :reach THEN rate_bucket.full_at ELSE :now END
    WHERE rate_bucket.full_at + CAST(:cost AS BIGINT) <= CAST(:now AS BIGINT) + :most
    OR rate_bucket.full_at > :reach
    RETURNING full_at
"""
_FULL_AT: Final = "SELECT full_at FROM rate_bucket WHERE subject = :subject"


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `times` uses at once; they come back evenly over `window` (microseconds). `debt`: uses beyond
    those that a caller may allow to be owed."""

    times: int
    window: int
    debt: int = 0

    @property
    def interval(self) -> int:
        """Microseconds until one use comes back."""
        return self.window // self.times


class RateLimitState(NamedTuple):
    """A subject after a use. `retry_after` is 0 where the use was allowed, else the seconds until one
    is. `remaining` is the number of uses left now, `reset_after` the seconds until all are back.
    Seconds are rounded up."""

    retry_after: int
    remaining: int
    reset_after: int


def consume(
    execute: Execute,
    subject: str,
    limit: RateLimit,
    now: int,
    uses: int = 1,
    *,
    may_owe: bool = False,
) -> RateLimitState:
    """Count uses of a subject, if its limit allows all of them now. More than `times` count as so many."""
    interval, window = limit.interval, limit.window
    owed = limit.debt * interval
    cost, most = min(uses, limit.times) * interval, window + owed * may_owe
    values = {
        "subject": subject,
        "now": now,
        "cost": cost,
        "most": most,
        "reach": now + window + owed + CLOCK_SKEW,
    }
    full_at = execute(_CONSUME, values)
    if full_at is None:
        # Another process may have moved it since, or found it full and taken it away.
        full_at = execute(_FULL_AT, {"subject": subject}) or now
        wait = max(_seconds(full_at + cost - most - now), 1)
        return RateLimitState(wait, 0, max(_seconds(full_at - now), 0))
    remaining = max(window - (full_at - now), 0) // interval
    return RateLimitState(0, remaining, _seconds(full_at - now))


# Asked with each request.
@lru_cache(maxsize=1024)
def plain_address(text: str) -> str:
    """An address in its one spelling: without the brackets, the port and the zone that proxies add, and IPv4
    within IPv6, as a listener on `::` has it, as IPv4. Another text stays as it is."""
    bare = text.strip().removeprefix("[").partition("]")[0].partition("%")[0]
    if bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        parsed = ip_address(bare)
    except ValueError:
        return text
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)


def client_network(address: str) -> str:
    """The part of a client's address that is counted: the /64 of IPv6, since one customer can use all
    addresses in it; the whole address of IPv4."""
    address = plain_address(address)
    try:
        return f"{IPv6Address(int(IPv6Address(address)) >> 64 << 64)}/64"
    except ValueError:
        return address


def _seconds(micros: int) -> int:
    return -(-micros // MICROS_PER_SECOND)
