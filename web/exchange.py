"""Exchange rates of days: the last on or before the day; direct, else inverse, else crossed."""

from bisect import bisect_right
from decimal import Context, Decimal, localcontext
from functools import cache
from operator import mul
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, func, select

from warehouse.schema import exchange_rate

# Digits that are worked with, and those that are kept: what a division leaves behind beyond them is
# noise, which must not decide how a tie is rounded.
WORKING: Final = Context(prec=60)
_KEPT: Final = Context(prec=40)


class Rates:
    """The rates of days, found as they are asked for and then kept: of one data version, they stay."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[int, Decimal | None]] = {}

    def convert(
        self, connection: Connection, amounts: dict[int, int], source: str, target: str
    ) -> Decimal | None:
        """Amounts by day in one currency, as their sum in another; None where the day of one of
        them has no rate."""
        if source == target:
            return Decimal(sum(amounts.values()))
        found = self._found.setdefault((source, target), {})
        missing = amounts.keys() - found.keys()
        if missing:
            stored = _Stored(connection, min(missing), max(missing))
            found.update((day, stored.rate(day, source, target)) for day in missing)
        rates = [rate for day in amounts if (rate := found[day]) is not None]
        if len(rates) < len(amounts):
            return None
        with localcontext(WORKING):
            total = sum(map(mul, rates, amounts.values()), Decimal(0))
        return _KEPT.plus(total)


class _Stored:
    """What is stored of a range of days, read pair by pair as it is asked for."""

    def __init__(self, connection: Connection, first: int, last: int) -> None:
        self._connection = connection
        self._range = {"first": first, "last": last}
        self._pairs: dict[tuple[str, str], tuple[list[int], list[Decimal]]] = {}
        self._common: list[str] | None = None

    def rate(self, day: int, source: str, target: str) -> Decimal | None:
        """How much of `target` one unit of `source`, another currency, is on a day of the range."""
        direct = self._last(day, source, target)
        if direct is not None:
            return direct
        inverse = self._last(day, target, source)
        if inverse is not None:
            return WORKING.divide(Decimal(1), inverse)
        for base in self._bases():
            of_source, of_target = self._last(day, base, source), self._last(day, base, target)
            if of_source is not None and of_target is not None:
                return WORKING.divide(of_target, of_source)
        return None

    def _last(self, day: int, base: str, quote: str) -> Decimal | None:
        if (base, quote) not in self._pairs:
            rows = self._connection.execute(
                _rates(), {"base": base, "quote": quote, **self._range}
            ).all()
            self._pairs[base, quote] = (
                [row.day for row in rows],
                [Decimal(row.rate) for row in rows],
            )
        days, rates = self._pairs[base, quote]
        place = bisect_right(days, day)
        return rates[place - 1] if place else None

    def _bases(self) -> list[str]:
        if self._common is None:
            self._common = sorted(filter(None, self._connection.execute(_every_base()).scalars()))
        return self._common


@cache
def _rates() -> Select[Any]:
    """A pair's rates in the range, and the last one before it."""
    table = exchange_rate.c
    of_pair = (table.base == bindparam("base"), table.quote == bindparam("quote"))
    before = (
        select(func.max(table.day)).where(*of_pair, table.day <= bindparam("first"))
    ).scalar_subquery()
    return (
        select(table.day, table.rate)
        .where(
            *of_pair,
            table.day <= bindparam("last"),
            table.day >= func.coalesce(before, bindparam("first")),
        )
        .order_by(table.day)
    )


@cache
def _every_base() -> Select[Any]:
    """The distinct bases, one index look-up each: decades of daily rates have a handful of them."""
    base = exchange_rate.c.base
    known = select(func.min(base).label("base")).cte("known", recursive=True)
    following = select(func.min(base)).where(base > known.c.base).scalar_subquery()
    return select(known.union_all(select(following).where(known.c.base.is_not(None))).c.base)
