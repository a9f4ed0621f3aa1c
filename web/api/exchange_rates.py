"""Exchange rates: the last rate on or before a day; direct, else inverse, else crossed."""

from bisect import bisect_right
from decimal import Context, Decimal, localcontext
from operator import mul
from typing import Final

from sqlalchemy import Connection, bindparam, func, select

from warehouse.tables import exchange_rate

# Digits of the calculation, and digits of its result. The digits that a division adds beyond the result are
# noise, which must not decide how a tie is rounded.
WORKING: Final = Context(prec=60)
_KEPT: Final = Context(prec=40)

_rate = exchange_rate.c
_PAIR: Final = (_rate.base == bindparam("base"), _rate.quote == bindparam("quote"))
_BEFORE: Final = select(func.max(_rate.day)).where(*_PAIR, _rate.day <= bindparam("first"))
# A pair's rates in the range, and the last one before it.
_PAIR_RATES: Final = (
    select(_rate.day, _rate.rate)
    .where(
        *_PAIR,
        _rate.day <= bindparam("last"),
        _rate.day >= func.coalesce(_BEFORE.scalar_subquery(), bindparam("first")),
    )
    .order_by(_rate.day)
)
# The distinct bases. Each takes one index look-up: decades of daily rates have a handful of bases.
_FIRST_BASE: Final = select(func.min(_rate.base).label("base")).cte("bases", recursive=True)
_NEXT_BASE: Final = (
    select(func.min(_rate.base)).where(_rate.base > _FIRST_BASE.c.base).scalar_subquery()
)
_EVERY_BASE: Final = select(
    _FIRST_BASE.union_all(select(_NEXT_BASE).where(_FIRST_BASE.c.base.is_not(None))).c.base
)


class Rates:
    """Rates by day, read on demand and then kept. One object serves one data version."""

    def __init__(self) -> None:
        self._rates: dict[tuple[str, str], dict[int, Decimal | None]] = {}

    def convert(
        self, connection: Connection, amounts: dict[int, int], source: str, target: str
    ) -> Decimal | None:
        """The sum in `target` of amounts by day in `source`; None if one of the days has no rate."""
        if source == target:
            return Decimal(sum(amounts.values()))
        by_day = self._rates.setdefault((source, target), {})
        missing = amounts.keys() - by_day.keys()
        if missing:
            stored = _StoredRates(connection, min(missing), max(missing))
            by_day.update((day, stored.rate(day, source, target)) for day in missing)
        rates = [rate for day in amounts if (rate := by_day[day]) is not None]
        if len(rates) < len(amounts):
            return None
        with localcontext(WORKING):
            total = sum(map(mul, rates, amounts.values()), Decimal(0))
        return _KEPT.plus(total)


class _StoredRates:
    """The stored rates of a range of days, read on demand for each pair of currencies."""

    def __init__(self, connection: Connection, first: int, last: int) -> None:
        self._connection = connection
        self._range = {"first": first, "last": last}
        self._pairs: dict[tuple[str, str], tuple[list[int], list[Decimal]]] = {}
        self._base_currencies: list[str] | None = None

    def rate(self, day: int, source: str, target: str) -> Decimal | None:
        """The price of one unit of `source` in `target`, another currency, on a day of the range."""
        direct = self._last(day, source, target)
        if direct is not None:
            return direct
        inverse = self._last(day, target, source)
        if inverse is not None:
            return WORKING.divide(Decimal(1), inverse)
        if self._base_currencies is None:
            self._base_currencies = sorted(
                filter(None, self._connection.execute(_EVERY_BASE).scalars())
            )
        for base in self._base_currencies:
            source_rate, target_rate = self._last(day, base, source), self._last(day, base, target)
            if source_rate is not None and target_rate is not None:
                return WORKING.divide(target_rate, source_rate)
        return None

    def _last(self, day: int, base: str, quote: str) -> Decimal | None:
        if (base, quote) not in self._pairs:
            rows = self._connection.execute(
                _PAIR_RATES, {"base": base, "quote": quote, **self._range}
            ).all()
            self._pairs[base, quote] = (
                [row.day for row in rows],
                [Decimal(row.rate) for row in rows],
            )
        days, rates = self._pairs[base, quote]
        index = bisect_right(days, day)
        return rates[index - 1] if index else None
