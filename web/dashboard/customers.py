"""`/customers`: the lifetime value of customers, by the answer and by the form that won them.

Figures are on the acquisition clock: customers won in these days, with their orders to date. A horizon
counts the customers who are old enough for it.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import Any, Final

from warehouse.domain.time import day_date
from warehouse.domain.vocabulary import LTV_HORIZONS
from web.api.row_limit import OTHER
from web.dashboard import formatting
from web.dashboard.charts.histogram import curve
from web.dashboard.comparable import later
from web.dashboard.compare import ComparedRow, Rate
from web.dashboard.labels import Labels, labels_of_forms
from web.dashboard.page import Page, View
from web.dashboard.selection import address, has_chosen_days
from web.dashboard.statistics import FEW
from web.dashboard.table import Column, columns_of, table
from web.reports.customers import FORM, SEGMENT, lifetime_value

# Rows of a table and curves of a chart; the CSV has all.
_SHOWN: Final = 50
_DRAWN: Final = 6
# The days of customers that are shown where nobody chose days, and proposed where those that somebody chose
# are too recent for any horizon.
_OLDER_DAYS: Final = 90
_column = columns_of(SEGMENT)
# The keys of a row, by dimension.
_KEYS: Final = {"segment": ("fieldId", "value"), "form": ("formId",)}


def old_enough(today: int) -> str:
    """The newest customers who are old enough for the shortest horizon, as a range of the address."""
    last = day_date(today) - timedelta(LTV_HORIZONS[0])
    return f"{last - timedelta(_OLDER_DAYS - 1)}..{last}"


def customers(view: View) -> Page:
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
    )


def _dimension(view: View, dimension: str, empty: str) -> dict[str, Any]:
    """All segments of a dimension as a table, and the curves of the first of them (none where no horizon
    counts a customer). `best` is the segment with most value of those with customers enough, and `bought`
    says how many of these did."""
    texts, keys = _texts(dimension, _labels(view)), _KEYS[dimension]
    segments = view.compared(
        lifetime_value,
        *keys,
        lines=partial(_segments, keys[0]),
        ages={"first": LTV_HORIZONS[0]},
        dimension=dimension,
    ).rows()
    # By value, those with few customers last: one buyer can lift them above all others.
    segments.sort(key=lambda each: (not each["is_ranked"], -each["ltvCents"]))
    ranked = [each for each in segments if each["is_ranked"]]
    greatest = max((each["ltvCents"] for each in ranked), default=0)
    columns = [*texts, *_columns(view, greatest)]
    return {
        "texts": texts,
        "table": table(
            view,
            dimension,
            columns,
            segments,
            "-ltv",
            marks={"form": "formId"}
            if dimension == "form"
            else {"field": "fieldId", "row": "value"},
            most=_SHOWN,
            empty=empty,
        ),
        "curves": _curves((ranked or segments)[:_DRAWN]),
        "best": ranked[0] if greatest else None,
        "bought": Rate(ranked[0]["purchasers"], ranked[0]["customers"]) if greatest else None,
        "has_few": len(ranked) < len(segments),
    }


def _labels(view: View) -> Labels:
    """Those of the forms that won customers in these days."""
    forms = view.data(lifetime_value, dimension="form")["rows"]
    return labels_of_forms(view, [form["formId"] for form in forms])


def _texts(dimension: str, labels: Labels) -> tuple[Column, ...]:
    """The columns that say what a row is about."""
    if dimension == "form":
        return (columns_of(FORM)("formName", "Form"),)

    def answer(row: ComparedRow) -> str:
        return labels.answer(row["fieldId"], row["value"])

    return (
        _column("fieldId", text=lambda row: labels.question(row["fieldId"])),
        _column("value", text=answer),
    )


def _segments(key: str, data: Any) -> list[dict[str, Any]]:
    return [_segment(row, key) for row in data["rows"]]


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


def _columns(view: View, greatest: int) -> list[Column]:
    """Bars are on the scale of the greatest value. A value of few customers has no place in an order by
    value."""

    def ranked(name: str) -> Callable[[ComparedRow], Any]:
        return lambda row: row[name] if row["is_ranked"] else None

    def share(row: ComparedRow) -> float | None:
        return row["ltvCents"] / greatest if greatest and row["is_ranked"] else None

    opens, day = _opens(view, LTV_HORIZONS[0])
    return [
        _column("customers", compared=True, mark=_few(lambda row: row["customers"] < FEW)),
        _column("purchasers", sort="bought"),
        _column("ordersPerCustomer", "Orders each", sort="orders", key=ranked("ordersPerCustomer")),
        _column("ltvCents", "Value to date", bar=share, sort="ltv", key=ranked("ltvCents")),
        Column(
            "first",
            f"In {LTV_HORIZONS[0]} days",
            "money",
            figure=lambda row: row.amount("first"),
            api=f"horizons.{LTV_HORIZONS[0]}.ltvCents",
            without=f"counts {opens} {formatting.day(day)}",
            compared=True,
            mark=_few(lambda row: row["is_first_few"]),
            key=lambda row: None if row["is_first_few"] else row["first"],
        ),
        _column(
            "repeatRate",
            "Buy again",
            figure=_again,
            sort="again",
            key=lambda row: row["repeatRate"] if row["purchasers"] >= FEW else None,
        ),
    ]


def _few(
    condition: Callable[[ComparedRow], bool],
) -> tuple[str, str, Callable[[ComparedRow], bool]]:
    return "few", "few", condition


def _again(row: ComparedRow) -> Rate:
    """Buyers with a second order, of all buyers. The API's rate has two decimals, which are whole buyers up
    to ten thousand of them; beyond, the interval does not feel the difference."""
    purchasers = row["purchasers"]
    return Rate(round(row["repeatRate"] * purchasers / 100), purchasers)


def _curves(segments: list[ComparedRow]) -> list[tuple[ComparedRow, Any]]:
    """The value of a customer over the horizons, on one scale for all segments."""
    values = [
        [each["ltvCents"] if each["customers"] else None for each in segment["horizons"]]
        for segment in segments
    ]
    known = [value for line in values for value in line if value is not None]
    if not known:
        return []
    return [
        (segment, curve(line, max(known))) for segment, line in zip(segments, values, strict=True)
    ]


def _opens(view: View, days: int) -> tuple[str, date]:
    """The day on which a horizon without customers counts its first: from the earliest day of these, or,
    where the customers were won later than that, at the latest by the last one."""
    due = later(view.selection.first, days)
    if due > day_date(view.answers.today):
        return "from", due
    return "by", later(view.selection.last, days)
