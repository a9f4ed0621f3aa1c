"""`/customers`: the lifetime value of customers, by the answer and by the form that won them.

Figures are on the acquisition clock: customers won in these days, with their orders to date. A horizon
counts the customers who are old enough for it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

import numpy as np

from warehouse.domain.figures import MONEY
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import day_date
from warehouse.domain.vocabulary import LTV_HORIZONS
from web.api.row_limit import OTHER
from web.dashboard import formatting
from web.dashboard.charts.bars import curve
from web.dashboard.compare import ComparedRow, Value, later
from web.dashboard.labels import Labels, labels_of_forms
from web.dashboard.page import Page, View
from web.dashboard.selection import address, has_chosen_days
from web.dashboard.statistics import FEW
from web.dashboard.table import Column, Table, columns_of
from web.reports.customers import FORM, SEGMENT, lifetime_value

# Rows of a table; the CSV has all. At a glance: the best and the worst.
_SHOWN: Final = 50
_ENDS: Final = 5
# The days of customers that are shown where nobody chose days, and proposed where those that somebody chose
# are too recent for any horizon.
_OLDER_DAYS: Final = 90
_column = columns_of(SEGMENT)
# The keys of a row, by dimension.
_KEYS: Final = {"segment": ("fieldId", "value"), "form": ("formId",)}
_SUMMARIES: Final = {
    "segment": ("ltv_segment", ("field", "value")),
    "form": ("ltv_form", ("form",)),
}


def old_enough(today: int) -> str:
    """The newest customers who are old enough for the shortest horizon, as a range of the address."""
    last = day_date(today) - timedelta(LTV_HORIZONS[0])
    return f"{last - timedelta(_OLDER_DAYS - 1)}..{last}"


def customers(view: View) -> Page:
    # Where the data begin after the days that nobody chose: the day from which the first customers can be
    # judged, and the address of those whom there are.
    begins, today = view.comparable.begins(), view.answers.today
    starts_late = not has_chosen_days() and view.selection.window.last < begins < today
    first = day_date(begins)
    return view.page(
        "customers.html",
        answers=_dimension(view, "segment", "Nobody was won by an answer in these days."),
        forms=_dimension(view, "form", "No form won a customer in these days."),
        few=FEW,
        horizons=LTV_HORIZONS,
        opens={days: _opens(view, days) for days in LTV_HORIZONS},
        older=address(**{"range": old_enough(view.answers.today), "from": "", "to": ""}),
        older_days=_OLDER_DAYS,
        is_default=not has_chosen_days(),
        judged_from=later(first, LTV_HORIZONS[0]) if starts_late else None,
        so_far=address(range=f"{first}..{day_date(today - 1)}"),
    )


def _dimension(view: View, dimension: str, empty: str) -> dict[str, Any]:
    """All segments of a dimension as a table, and the curves of all, the best and the worst of them (none
    where no horizon counts a customer). `best` is the segment with most value of those with customers
    enough."""
    # Those of the forms that won customers in these days.
    forms = view.data(lifetime_value, dimension="form")["rows"]
    labels = labels_of_forms(view, [form["formId"] for form in forms])
    texts, keys = _texts(dimension, labels), _KEYS[dimension]
    summary_name, by = _SUMMARIES[dimension]
    segments = view.compared(
        lifetime_value,
        *keys,
        lines=lambda data: [_segment(row, keys[0]) for row in data["rows"]],
        ages={"first": LTV_HORIZONS[0]},
        dimension=dimension,
    ).rows()
    # By value, those with few customers last: one buyer can lift them above all others.
    segments.sort(key=lambda each: (not each["is_ranked"], -each["ltvCents"]))
    ranked = [each for each in segments if each["is_ranked"]]
    ends = [ranked[0], ranked[-1]] if len(ranked) > 1 else ranked or segments[:1]
    growth = _growth(view, summary_name, by, dimension)
    return {
        "texts": texts,
        "table": Table(
            view,
            dimension,
            [*texts, *_columns(view)],
            segments,
            "-ltv",
            marks={"form": "formId"}
            if dimension == "form"
            else {"field": "fieldId", "row": "value"},
            most=_SHOWN,
            ends=_ENDS,
            empty=empty,
            is_exact=False,
        ),
        "curves": _curves(
            [
                ("all together", growth(None)),
                *((texts[0].text_of(each), growth([each[key] for key in keys])) for each in ends),
            ]
        ),
        "has_few": len(ranked) < len(segments),
    }


def _growth(
    view: View, name: str, by: Sequence[str], dimension: str
) -> Callable[[Sequence[str] | None], list[tuple[int, float | None]]]:
    """The growth of the value of a customer: for a segment by its keys, or for all (None), the customers who
    are old enough for each horizon, and the value then, in minor units. From one horizon to the next it grows
    by what those brought who are old enough for the next one, so it does not fall where others follow."""
    report = view.answers.query(
        lifetime_value, view.selection.window, parameters={"dimension": dimension}
    )
    sums = report.sums(name, by=("day", *by))

    def growth(keys: Sequence[str] | None) -> list[tuple[int, float | None]]:
        is_of = np.ones(len(sums), dtype=bool)
        for column, key in zip(by, keys or (), strict=False):
            is_of &= sums[column] == text_id(key)
        rows, value, former = sums.at(is_of), 0.0, None
        grown: list[tuple[int, float | None]] = []
        for horizon in LTV_HORIZONS:
            is_old = rows["day"] + horizon <= view.answers.today
            customers = int(rows["customers"][is_old].sum())
            net = rows[f"net_{horizon}"] - (rows[former] if former else 0)
            value += float(net[is_old].sum()) / customers if customers else 0.0
            grown.append((customers, value if customers else None))
            former = f"net_{horizon}"
        return grown

    return growth


def _texts(dimension: str, labels: Labels) -> tuple[Column, ...]:
    """The columns that say what a row is about."""
    if dimension == "form":
        return (columns_of(FORM)("formName", "Form"),)

    def answer(row: ComparedRow) -> str:
        return labels.answer(row["fieldId"], row["value"])

    return (
        _column("value", text=answer),
        _column("fieldId", text=lambda row: labels.question(row["fieldId"])),
    )


def _segment(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A form or an answer with its customers. `first` is the value of a customer in the shortest horizon,
    None where that counts nobody. It is ranked by value if it has customers enough and is not the sum of
    others."""
    first = row["horizons"][0]
    return {
        **row,
        "formName": row.get("formName") or row.get("formId"),
        "first": first["ltvCents"] if first["customers"] else None,
        "is_first_few": 0 < first["customers"] < FEW,
        "is_ranked": row["customers"] >= FEW and row[key] != OTHER,
    }


def _columns(view: View) -> list[Column]:
    """A value of few customers has no place in an order by value, and no bar."""

    def ranked(name: str) -> Callable[[ComparedRow], Any]:
        return lambda row: row[name] if row["is_ranked"] else None

    return [
        _column(
            "customers", compared=True, mark=("few", "few", lambda row: row["customers"] < FEW)
        ),
        _column("purchasers", sort="bought", deep=True),
        _column(
            "ordersPerCustomer",
            "Orders each",
            sort="orders",
            key=ranked("ordersPerCustomer"),
            deep=True,
        ),
        _column("ltvCents", "Value to date", bar=0, sort="ltv", key=ranked("ltvCents"), main=True),
        _horizon(
            view,
            0,
            name="first",
            figure=lambda row: row.amount("first"),
            compared=True,
            mark=("few", "few", lambda row: row["is_first_few"]),
            key=lambda row: None if row["is_first_few"] else row["first"],
        ),
        *(_horizon(view, place, deep=True) for place in range(1, len(LTV_HORIZONS))),
        _column(
            "repeatRate",
            "Buy again",
            # Buyers with a second order, of all. The API's rate has two decimals, which are whole buyers
            # up to ten thousand of them; beyond, the interval does not feel the difference.
            figure=lambda row: Value(
                (round(row["repeatRate"] * row["purchasers"] / 100), row["purchasers"])
            ),
            sort="again",
            key=lambda row: row["repeatRate"] if row["purchasers"] >= FEW else None,
        ),
    ]


def _horizon(view: View, place: int, **more: Any) -> Column:
    """The value in so many days, of those who are old enough."""
    days = LTV_HORIZONS[place]
    opens, day = _opens(view, days)

    def value(row: ComparedRow) -> Value:
        horizon = row["horizons"][place]
        return Value(horizon["ltvCents"] if horizon["customers"] else None)

    said: dict[str, Any] = {"name": f"in{days}", "figure": value} | more
    return Column(
        label=f"In {days} days",
        unit=MONEY,
        api=f"horizons.{days}.ltvCents",
        without=f"counts {opens} {formatting.day(day)}",
        **said,
    )


def _curves(
    grown: list[tuple[str | None, list[tuple[int, float | None]]]],
) -> list[tuple[str | None, list[tuple[int, int | None]], Any]]:
    """The value of a customer over the horizons, on one scale for all: (name, the customers and the value of
    each horizon, the points)."""
    rounded = [
        (name, [(count, None if value is None else round(value)) for count, value in line])
        for name, line in grown
    ]
    known = [value for _, line in rounded for _, value in line if value is not None]
    if not known:
        return []
    return [(name, line, curve([value for _, value in line], max(known))) for name, line in rounded]


def _opens(view: View, days: int) -> tuple[str, date]:
    """The day on which a horizon without customers counts its first: from the earliest day of these, or,
    where the customers were won later than that, at the latest by the last one."""
    due = later(view.selection.first, days)
    if due > day_date(view.answers.today):
        return "from", due
    return "by", later(view.selection.last, days)
