"""`/customers`: the lifetime value of customers, by the answer and by the form that won them.

Figures are on the acquisition clock: customers won in these days, with their orders to date. A horizon
counts the customers who are old enough for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from warehouse.domain.time import day_date
from warehouse.domain.vocabulary import LTV_HORIZONS
from web.api.row_limit import OTHER
from web.dashboard.address import address
from web.dashboard.charts.curves import Curve, curve
from web.dashboard.comparison import Amount, Rate
from web.dashboard.page import View
from web.dashboard.sorting import SortedTable, sorted_table
from web.dashboard.statistics import FEW

Row = dict[str, Any]
Rows = list[Row]

_PATH: Final = "/customers/ltv"
# Rows of a table and curves of a chart; the CSV has all.
_SHOWN: Final = 50
_DRAWN: Final = 6
# The days of customers who are proposed where those that are asked for are too recent for any horizon.
_OLDER_DAYS: Final = 90


@dataclass(frozen=True, slots=True)
class Acquired:
    """A form or an answer with its customers. `names` are the texts of its columns; `first` is the value of
    a customer in the shortest horizon, None where that counts nobody."""

    names: tuple[str, ...]
    row: Row
    customers: Amount
    first: Amount | None

    @property
    def is_few(self) -> bool:
        return bool(self.row["customers"] < FEW)

    @property
    def is_first_few(self) -> bool:
        return bool(self.row["horizons"][0]["customers"] < FEW)

    @property
    def is_ranked(self) -> bool:
        """Whether it is compared by value: it has customers enough, and is not the sum of others."""
        return not self.is_few and self.names[0] != OTHER

    @property
    def again(self) -> Rate:
        """Buyers with a second order, of all buyers. The API's rate has two decimals, which are whole
        buyers up to ten thousand of them; beyond, the interval does not feel the difference."""
        purchasers = self.row["purchasers"]
        return Rate(round(self.row["repeatRate"] * purchasers / 100), purchasers)


@dataclass(frozen=True, slots=True)
class Dimension:
    """All segments of a dimension: as a table, and the curves of the first of them (none where no horizon
    counts a customer). `greatest` is the scale of the bars of the table, `best` the segment with most value:
    both look at those with customers enough."""

    table: SortedTable
    greatest: int
    curves: list[tuple[Acquired, Curve]]
    best: Acquired | None
    has_few: bool


def customers(view: View) -> str:
    today = day_date(view.answers.today)
    older = today - timedelta(LTV_HORIZONS[0])
    return view.render(
        "customers.html",
        answers=_dimension(view, "segment", ("fieldId", "value")),
        forms=_dimension(view, "form", ("formName",)),
        shown=_SHOWN,
        few=FEW,
        horizons=LTV_HORIZONS,
        opens={days: _opens(view, days, today) for days in LTV_HORIZONS},
        older=address(
            **{"range": f"{older - timedelta(_OLDER_DAYS - 1)}..{older}", "from": "", "to": ""}
        ),
    )


def _dimension(view: View, dimension: str, names: tuple[str, ...]) -> Dimension:
    rows = view.data(_PATH, dimension=dimension)["rows"]
    before = view.before(_PATH, dimension=dimension)
    segments = _segments(rows, before and before["rows"], names)
    # By value, those with few customers last: one buyer can lift them above all others.
    segments.sort(key=lambda each: (not each.is_ranked, -each.row["ltvCents"]))
    ranked = [each for each in segments if each.is_ranked]
    return Dimension(
        table=sorted_table(dimension, segments, _columns(names), "-ltv"),
        greatest=max((each.row["ltvCents"] for each in ranked), default=0),
        curves=_curves((ranked or segments)[:_DRAWN]),
        best=ranked[0] if ranked and ranked[0].row["ltvCents"] else None,
        has_few=len(ranked) < len(segments),
    )


def _segments(rows: Rows, before: Rows | None, names: tuple[str, ...]) -> list[Acquired]:
    def texts(row: Row) -> tuple[str, ...]:
        return tuple(row[name] or row["formId"] for name in names)

    def key(row: Row) -> tuple[str, ...]:
        return (row["formId"],) if "formId" in row else texts(row)

    former = {key(row): row for row in before or []}
    # A segment that is not among the former rows can be in their sum of others.
    missing = None if before is None or any(OTHER in each for each in former) else 0
    segments = []
    for row in rows:
        known = former.get(key(row))
        first, first_before = row["horizons"][0], known and known["horizons"][0]
        value_before = (
            first_before["ltvCents"] if first_before and first_before["customers"] else None
        )
        segments.append(
            Acquired(
                names=texts(row),
                row=row,
                customers=Amount(row["customers"], known["customers"] if known else missing),
                first=Amount(first["ltvCents"], value_before) if first["customers"] else None,
            )
        )
    return segments


def _columns(names: tuple[str, ...]) -> dict[str, Callable[[Acquired], Any]]:
    """The columns by which a table can be sorted. A value of few has no place in an order by value."""
    return {
        **{name: _name(place) for place, name in enumerate(names)},
        "customers": lambda each: each.row["customers"],
        "bought": lambda each: each.row["purchasers"],
        "orders": lambda each: each.row["ordersPerCustomer"] if each.is_ranked else None,
        "ltv": lambda each: each.row["ltvCents"] if each.is_ranked else None,
        "first": lambda each: each.first and (None if each.is_first_few else each.first.now),
        "again": lambda each: None if each.again.is_few else each.row["repeatRate"],
    }


def _name(place: int) -> Callable[[Acquired], str]:
    return lambda each: each.names[place]


def _curves(segments: list[Acquired]) -> list[tuple[Acquired, Curve]]:
    """The value of a customer over the horizons, on one scale for all segments."""
    values = [
        [each["ltvCents"] if each["customers"] else None for each in segment.row["horizons"]]
        for segment in segments
    ]
    known = [value for line in values for value in line if value is not None]
    if not known:
        return []
    return [
        (segment, curve(line, max(known))) for segment, line in zip(segments, values, strict=True)
    ]


def _opens(view: View, days: int, today: date) -> tuple[str, date]:
    """The day on which a horizon without customers counts its first: from the earliest day of these, or,
    where the customers were won later than that, at the latest by the last one."""
    due = view.selection.first + timedelta(days)
    return ("from", due) if due > today else ("by", view.selection.last + timedelta(days))
