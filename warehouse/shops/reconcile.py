"""A month of the shop's own report beside the figures here: where each difference comes from.

Reports differ in how they read the same orders: in the zone of their days, in test, cancelled and edited
orders, in the day of a refund. Each such reading is computed from the rows here. The fewest of them that give
the report to the cent are its causes, one after the other, so that their amounts add up to the difference.
A difference that no reading gives is unexplained, unless the report has more orders: then orders are not
here at all.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from itertools import product
from typing import Any, Final

import numpy as np
import orjson

from warehouse import command
from warehouse.domain.time import MICROS_PER_DAY, ZONES, day_number, day_start, to_micros
from warehouse.domain.vocabulary import IS_KEPT, minor_units

Query = Callable[[str], Iterable[Mapping[str, Any]]]
"""Runs a SELECT."""

ZONE: Final = "time_zone"
TESTS: Final = "test_orders"
CANCELLED: Final = "cancelled_orders"
REFUND_DAYS: Final = "refund_days"
EDITED: Final = "edited_orders"
CURRENCY: Final = "other_currency"
REJECTED: Final = "rejected_orders"
NOT_HERE: Final = "not_here"

# How a report can read cancelled orders.
_AS_PAID: Final = "as paid"
_LEFT_OUT: Final = "left out"
_SENTENCES: Final = {
    ZONE: "Your report has the days of {option}, and this service those of {zone}: orders at the edges of "
    "the month are in another one.",
    TESTS: "Your report counts test orders. Here they are in no figure.",
    (
        CANCELLED,
        _AS_PAID,
    ): "Your report counts cancelled orders with the money that was given back. Here a "
    "cancelled order counts as refunded in whole.",
    (
        CANCELLED,
        _LEFT_OUT,
    ): "Your report leaves cancelled orders out. Here they count as orders that are "
    "refunded in whole.",
    REFUND_DAYS: "Your report counts a refund on its own day. Here it counts on the day of its order.",
    EDITED: "Your report has edited orders as they were placed. Here they count as they are now.",
    CURRENCY: "Your report has orders in another currency than the shop's. Here they were rejected.",
    REJECTED: f"Your report has orders that were rejected here. `{command('jobs rejects')}` and the Data "
    "page list them, with the reasons.",
    NOT_HERE: "Your report has orders that are not here at all, neither taken nor rejected. This follows "
    "from their number, not from rows. Import the orders of this month again.",
}
# The longest offset of a zone, and a day for what a clock was off.
_EDGE: Final = 2 * MICROS_PER_DAY
_MOST_REJECTS: Final = 10_000
# No order costs as much; sums of those below fit into 64 bits.
_BEYOND: Final = 1 << 53
_MONTH: Final = re.compile(r"(20\d\d|2100)-(0[1-9]|1[0-2])", re.ASCII)
_AMOUNT: Final = re.compile(
    r"-?\d{1,3}(?:([,.' \u00a0\u202f’])\d{3})*(?:[,.]\d+)?|-?\d+(?:[,.]\d+)?"
)
_GROUPS: Final = re.compile(r"-?[1-9]\d{0,2}([,.' \u00a0\u202f’]\d{3})*")
# The places of the id, the time and the total in a rejected order of another system, by its names.
_FOREIGN: Final = (
    ("id", ("processed_at", "created_at"), ("total_price_set.shop_money.amount", "total_price")),
    ("id", ("processedAt", "createdAt"), ("totalPriceSet.shopMoney.amount",)),
    ("Id", ("Created at",), ("Total",)),
)


@dataclass(frozen=True)
class OrderSums:
    """Orders, and their money in minor units."""

    orders: int = 0
    gross: int = 0
    refunded: int = 0

    @property
    def net(self) -> int:
        return self.gross - self.refunded

    def __add__(self, other: "OrderSums") -> "OrderSums":
        return OrderSums(
            self.orders + other.orders, self.gross + other.gross, self.refunded + other.refunded
        )

    def __sub__(self, other: "OrderSums") -> "OrderSums":
        return self + OrderSums(-other.orders, -other.gross, -other.refunded)

    @property
    def unequal(self) -> int:
        """The number of the three sums that are not 0."""
        return sum(bool(number) for number in (self.orders, self.gross, self.refunded))


@dataclass(frozen=True)
class Cause:
    """A part of the difference. `name` is one of the words above; `sentence` is for the owner."""

    name: str
    sums: OrderSums
    sentence: str


@dataclass(frozen=True)
class Reconciled:
    """A report beside the figures here. `causes` and `unexplained` add up to `report` - `here`."""

    shop_id: str
    month: str
    currency: str
    timezone: str
    report: OrderSums
    here: OrderSums
    causes: list[Cause] = field(default_factory=list)
    unexplained: OrderSums = OrderSums()
    # The changes that other readings of the rows would make, each by itself.
    known: list[Cause] = field(default_factory=list)
    # Other sets of as many causes that give the report, too.
    alternatives: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class _Reading:
    """A way in which a report reads the orders: the value of each cause, None where it reads as this service
    does."""

    time_zone: str | None = None
    test_orders: bool | None = None
    cancelled_orders: str | None = None
    refund_days: bool | None = None
    edited_orders: bool | None = None
    other_currency: bool | None = None
    rejected_orders: bool | None = None

    def causes(self) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in self.__dict__.items() if value is not None]


def month_of(text: str) -> tuple[date, date]:
    """The first day of a month (`2026-10`), and that of the next one. Raises ValueError."""
    match = _MONTH.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a month; write it as 2026-10")
    year, month = int(match[1]), int(match[2])
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def amount_of(text: str, currency: str) -> int:
    """An amount in major units as a report writes it (`1,234.50`, `1.234,50`) in minor units. A mark before
    exactly as many digits as the currency has decimals is the decimal mark. Raises ValueError."""
    plain = text.strip().replace("\u2212", "-")
    units = minor_units(currency)
    places = len(str(units)) - 1
    if not _AMOUNT.fullmatch(plain):
        raise ValueError(f"{text!r} is not an amount of money; write it as 1234.50")
    mark = next((char for char in reversed(plain) if char in ",."), "")
    head, _, tail = plain.rpartition(mark) if mark else (plain, "", "")
    if mark and len(tail) > places:
        groups = _GROUPS.fullmatch(head)
        if len(tail) != 3 or groups is None or groups[1] not in (None, mark):
            raise ValueError(f"{text!r} has more decimals than {currency} has")
        head, tail = head + tail, ""
    whole = re.sub(r"[^\d]", "", head)
    amount = int(whole + tail.ljust(places, "0"))
    return -amount if plain.startswith("-") else amount


def reconcile(
    query: Query, shop_id: str, month: str, orders: int, gross: str, refunded: str
) -> Reconciled:
    """Compare a month of a shop's report. The amounts are texts in major units of the shop's currency; the
    sign of `refunded` does not matter. Raises LookupError if there is no such shop, and ValueError."""
    shops = [
        s
        for s in query("SELECT shop_key, shop_id, currency, timezone FROM shop")
        if s["shop_id"] == shop_id
    ]
    if not shops:
        raise LookupError(f"there is no shop {shop_id!r}")
    (shop,) = shops
    first, next_first = month_of(month)
    report = OrderSums(
        orders, amount_of(gross, shop["currency"]), abs(amount_of(refunded, shop["currency"]))
    )
    rows = _Rows(query, shop, day_number(first), day_number(next_first))
    return rows.explain(
        Reconciled(
            shop_id, month, shop["currency"], shop["timezone"], report, rows.sums(_Reading())
        )
    )


class _Rows:
    """The orders that are in the month in any zone, or have a refund there."""

    def __init__(self, query: Query, shop: Mapping[str, Any], first: int, end: int) -> None:
        self._days, self._own_zone = (first, end), shop["timezone"]
        self._windows: dict[str, tuple[int, int]] = {}
        low, high = self._window("UTC")
        self._bounds = low - _EDGE, high + _EDGE
        found = [*self._stored(query, shop["shop_key"])]
        known = {order["order_id"] for order in found}
        found += [one for one in self._rejected(query, shop) if one["order_id"] not in known]
        numbers = {
            name: np.array([int(order[name]) for order in found], np.int64)
            for name in ("created_at", "gross", "refunded", "placed", "test", "cancelled", "kind")
        }
        self._n = numbers
        refunds = [
            (n, at, amount) for n, order in enumerate(found) for at, amount in order["refunds"]
        ]
        columns = zip(*refunds, strict=True) if refunds else ((), (), ())
        self._of, self._at, self._amount = (np.array([*column], np.int64) for column in columns)
        self._listed = np.zeros(len(found), np.int64)
        np.add.at(self._listed, self._of, self._amount)

    def _window(self, zone: str) -> tuple[int, int]:
        if zone not in self._windows:
            self._windows[zone] = (day_start(self._days[0], zone), day_start(self._days[1], zone))
        return self._windows[zone]

    def _stored(self, query: Query, shop_key: int) -> Iterator[dict[str, Any]]:
        """Each order as it stands, with the total of its first version."""
        low, high = self._bounds
        versions: dict[str, list[Mapping[str, Any]]] = {}
        for row in query(
            "SELECT order_id, updated_at, precedence, content, created_at, gross, refunded, refunds, test, "
            f"cancelled FROM raw_order WHERE shop_key = {shop_key} AND order_id IN (SELECT order_id FROM "
            f"raw_order WHERE shop_key = {shop_key} AND (created_at >= {low} AND created_at < {high} "
            f"OR created_at < {high} AND refunds <> '[]'))"
        ):
            versions.setdefault(row["order_id"], []).append(row)
        for of_order in versions.values():
            of_order.sort(key=lambda one: (one["updated_at"], one["precedence"], one["content"]))
            refunds = [(at, amount) for _, at, amount in orjson.loads(of_order[-1]["refunds"])]
            yield {**of_order[-1], "placed": of_order[0]["gross"], "refunds": refunds, "kind": 0}

    def _rejected(self, query: Query, shop: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The rejected orders whose texts tell when they were placed, and their totals."""
        rows = query(
            f"SELECT field, text FROM reject WHERE shop_key = {shop['shop_key']} AND kind = 'orders' "
            f"AND NOT {IS_KEPT} ORDER BY reject_id DESC LIMIT {_MOST_REJECTS}"
        )
        seen = set()
        for row in rows:
            order = _rejected_order(row["text"], shop["currency"])
            if order is None or order["order_id"] in seen:
                continue
            seen.add(order["order_id"])
            kind = CURRENCY if row["field"] == "currency" else REJECTED
            blank = {"refunded": 0, "test": 0, "cancelled": 0, "refunds": []}
            yield (
                blank
                | order
                | {"placed": order["gross"], "kind": (CURRENCY, REJECTED).index(kind) + 1}
            )

    def sums(self, reading: _Reading) -> OrderSums:
        """The figures of a report that reads the orders so."""
        n, (start, end) = self._n, self._window(reading.time_zone or self._own_zone)
        is_cancelled = n["cancelled"] > 0
        counts = (n["test"] == 0) | bool(reading.test_orders)
        counts &= (n["kind"] != 1) | bool(reading.other_currency)
        counts &= (n["kind"] != 2) | bool(reading.rejected_orders)
        if reading.cancelled_orders == _LEFT_OUT:
            counts &= ~is_cancelled
        inside = counts & (n["created_at"] >= start) & (n["created_at"] < end)
        gross = n["placed"] if reading.edited_orders else n["gross"]
        listed = np.minimum(self._listed, gross)
        refunded = listed if reading.edited_orders else n["refunded"]
        refunded = np.where(is_cancelled, listed if reading.cancelled_orders else gross, refunded)
        if reading.refund_days:
            days = counts[self._of] & (self._at >= start) & (self._at < end)
            # Money that counts as refunded without a refund has the day of its order.
            total = self._amount[days].sum() + (refunded - listed)[inside].sum()
        else:
            total = refunded[inside].sum()
        return OrderSums(int(inside.sum()), int(gross[inside].sum()), int(total))

    def _readings(self, zones: list[str]) -> list[_Reading]:
        """All readings of these zones, those with the fewest causes first."""
        # By cause, whether the rows can show it, and its values.
        n, is_kind = self._n, self._n["kind"]
        shown: dict[str, tuple[bool, list[Any]]] = {
            ZONE: (True, zones),
            TESTS: (bool(n["test"].any()), [True]),
            CANCELLED: (bool(n["cancelled"].any()), [_AS_PAID, _LEFT_OUT]),
            REFUND_DAYS: (len(self._at) > 0, [True]),
            EDITED: (
                bool((n["placed"] != n["gross"]).any() or (self._listed < n["refunded"]).any()),
                [True],
            ),
            CURRENCY: (bool((is_kind == 1).any()), [True]),
            REJECTED: (bool((is_kind == 2).any()), [True]),
        }
        options = ([None, *values] if is_there else [None] for is_there, values in shown.values())
        found = [_Reading(**dict(zip(shown, each, strict=True))) for each in product(*options)]
        return sorted(found, key=lambda reading: len(reading.causes()))

    def explain(self, reconciled: Reconciled) -> Reconciled:
        report = reconciled.report
        utc = ["UTC"] if self._window("UTC") != self._window(self._own_zone) else []
        near = [(reading, report - self.sums(reading)) for reading in self._readings(utc)]
        known = [(reading, left) for reading, left in near if len(reading.causes()) == 1]
        exact = [reading for reading, left in near if not left.unequal]
        if not exact:
            # Zones in which the month is another one than the shop's, one of each kind.
            zones = sorted(ZONES, key=lambda zone: ("/" not in zone, "Etc" in zone, zone))
            of_window = {self._window(zone): zone for zone in reversed(zones)}
            own = self._window(self._own_zone)
            others = [zone for window, zone in of_window.items() if window != own]
            far = (reading for reading in self._readings(others) if reading.time_zone)
            exact = [reading for reading in far if not (report - self.sums(reading)).unequal]
        if exact:
            fewest = len(exact[0].causes())
            best, *alternatives = [one for one in exact if len(one.causes()) == fewest]
            left = OrderSums()
        else:
            best, left = min(near, key=_rank)
            alternatives = []
        causes = list(self._in_turn(best, reconciled.timezone))
        if _is_of_orders(left):
            causes.append(Cause(NOT_HERE, left, _SENTENCES[NOT_HERE]))
            left = OrderSums()
        used = {name for name, _ in best.causes()}
        return replace(
            reconciled,
            causes=[cause for cause in causes if cause.sums != OrderSums()],
            unexplained=left,
            known=[
                cause
                for reading, _ in known
                for cause in self._in_turn(reading, reconciled.timezone)
                if cause.name not in used and cause.sums != OrderSums()
            ],
            alternatives=[[name for name, _ in one.causes()] for one in alternatives[:3]],
        )

    def _in_turn(self, reading: _Reading, own_zone: str) -> Iterator[Cause]:
        """The causes of a reading, each with what it changes after those before it."""
        so_far = _Reading()
        for name, option in reading.causes():
            before, so_far = self.sums(so_far), replace(so_far, **{name: option})
            words = _SENTENCES.get(name) or _SENTENCES[name, option]
            sentence = words.format(option=option, zone=own_zone) if name == ZONE else words
            yield Cause(name, self.sums(so_far) - before, sentence)


def _rank(pair: tuple[_Reading, OrderSums]) -> tuple[bool, int, int, int]:
    """A measure of how well a reading that leaves something explains a report; the least is the best."""
    reading, left = pair
    if _is_of_orders(left):
        return False, left.orders, int(left.refunded != 0), len(reading.causes())
    return True, left.unequal, len(reading.causes()), 0


def _is_of_orders(left: OrderSums) -> bool:
    """Whether orders that are not here can be all that is left."""
    return left.orders > 0 and 0 <= left.refunded <= left.gross


def _rejected_order(text: str, currency: str) -> dict[str, Any] | None:
    """The id, the time and the total of an order by the kept text of its reject; None where that does not
    tell them."""
    try:
        row = orjson.loads(text)
        if not isinstance(row, dict):
            return None
        if "total_cents" in row:
            order_id, at, gross = row.get("order_id"), row["created_at"], int(row["total_cents"])
        else:
            places = next(
                places for places in _FOREIGN if places[0] in row and _at(row, *places[1])
            )
            order_id, at = str(row[places[0]]).rpartition("/")[2], _at(row, *places[1])
            gross = amount_of(str(_at(row, *places[2])), currency)
        moment = datetime.fromisoformat(str(at))
    except (ValueError, TypeError, KeyError, StopIteration, OverflowError):
        return None
    if not 0 <= gross < _BEYOND:
        return None
    created = to_micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    return {"order_id": str(order_id), "created_at": created, "gross": gross}


def _at(row: Mapping[str, Any], *places: str) -> Any:
    """The first value at some places; None if there is none."""
    for place in places:
        value: Any = row
        for name in place.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value not in (None, ""):
            return value
    return None
