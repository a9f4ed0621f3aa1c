"""Allowances: how often something may be done, by one subject, counted by one statement.

Every subject has one row: the instant at which its whole allowance is there again (the generic cell
rate algorithm, a sliding window without a row for each time). Each time moves it by one cost; where it
would lie further ahead than the window, that time is refused and moves nothing. One statement counts
and decides, so that no two at once, in any process, pass together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from warehouse.days import MICROS_PER_SECOND

# The first value of what a statement with `:names` gives, or None.
Execute = Callable[[str, Mapping[str, Any]], Any]

_TAKE: Final = """
    INSERT INTO allowance (subject, whole_at)
    VALUES (:subject, CAST(:now AS BIGINT) + CAST(:cost AS BIGINT))
    ON CONFLICT (subject) DO UPDATE SET whole_at = CAST(:cost AS BIGINT) +
        CASE WHEN allowance.whole_at > :now THEN allowance.whole_at ELSE :now END
    WHERE allowance.whole_at + CAST(:cost AS BIGINT) <= CAST(:now AS BIGINT) + :window
    RETURNING whole_at
"""
_WHOLE_AT: Final = "SELECT whole_at FROM allowance WHERE subject = :subject"


@dataclass(frozen=True, slots=True)
class Allowance:
    """So many times at once; they come back evenly over the window (in microseconds)."""

    times: int
    window: int

    @property
    def cost(self) -> int:
        return self.window // self.times


@dataclass(frozen=True, slots=True)
class Taken:
    """`wait`: 0 where it was taken, else the seconds after which one may be. `left`: how many more at
    once. `whole_in`: the seconds after which all are there again. Seconds are whole, rounded up."""

    wait: int
    left: int
    whole_in: int


def take(execute: Execute, subject: str, allowance: Allowance, now: int) -> Taken:
    """Use the subject's allowance once, where there is any left."""
    cost, window = allowance.cost, allowance.window
    values = {"subject": subject, "now": now, "cost": cost, "window": window}
    whole_at = execute(_TAKE, values)
    if whole_at is None:
        whole_at = execute(_WHOLE_AT, {"subject": subject})
        return Taken(_seconds(whole_at + cost - window - now), 0, _seconds(whole_at - now))
    return Taken(0, (window - (whole_at - now)) // cost, _seconds(whole_at - now))


def network(address: str) -> str:
    """An address as a subject: of IPv6 the /64, since one customer has as many addresses as they
    like."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
    return str(parsed)


def _seconds(micros: int) -> int:
    return -(-micros // MICROS_PER_SECOND)
