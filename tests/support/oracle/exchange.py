"""The exchange rate of a day: contract section 4 (18)."""

from collections.abc import Iterable
from datetime import date
from fractions import Fraction

from tests.support.oracle.records import Row


def rate_on(day: date, base: str, quote: str, rates: Iterable[Row]) -> Fraction | None:
    """How much of `quote` one `base` is on that day.

    "the last on or before that day: direct, else inverse, else crossed through the first common
    base by code"; None where there is none.
    """
    if base == quote:
        return Fraction(1)
    known = last_rates(day, rates)
    if (base, quote) in known:
        return known[base, quote]
    if (quote, base) in known:
        return 1 / known[quote, base]
    for common in sorted({pair[0] for pair in known}):
        if (common, base) in known and (common, quote) in known:
            return known[common, quote] / known[common, base]
    return None


def last_rates(day: date, rates: Iterable[Row]) -> dict[tuple[str, str], Fraction]:
    """Base and quote -> the last rate on or before the day."""
    known: dict[tuple[str, str], Fraction] = {}
    for row in sorted(rates, key=lambda row: row["date"]):
        if date.fromisoformat(row["date"]) <= day:
            known[row["base"], row["quote"]] = Fraction(str(row["rate"]))
    return known
