"""`/customers`: the lifetime value of customers, by the answer and by the form that won them.

Figures are on the acquisition clock: customers won in these days, with their orders to date. A horizon
counts the customers who are old enough for it.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any, Final

from warehouse.domain.time import day_date
from warehouse.domain.vocabulary import LTV_HORIZONS
from web.api.row_limit import OTHER
from web.dashboard import formatting
from web.dashboard.charts.histogram import curve
from web.dashboard.compare import Amount, ComparedRow, Rate, beside
from web.dashboard.labels import Labels, labels_of_forms
from web.dashboard.page import View
from web.dashboard.selection import address
from web.dashboard.statistics import FEW
from web.dashboard.table import Column, columns_of, table
from web.reports.customers import FORM, SEGMENT, lifetime_value

# Rows of a table and curves of a chart; the CSV has all.
_SHOWN: Final = 50
_DRAWN: Final = 6
# The days of customers who are proposed where those that are asked for are too recent for any horizon.
_OLDER_DAYS: Final = 90
_column = columns_of(SEGMENT)
# By dimension: the keys of a row, and its texts.
_KEYS: Final = {"segment": ("fieldId", "value"), "form": ("formId",)}
_TEXTS: Final = {
    "segment": (
        Column("question", _column("fieldId").label, "text", sort="fieldId"),
        Column("answer", _column("value").label, "text", sort="value"),
    ),
    "form": (columns_of(FORM)("formName", "Form"),),
}


def customers(view: View) -> str:
    older = day_date(view.answers.today) - timedelta(LTV_HORIZONS[0])
    return view.render(
        "customers.html",
        answers=_dimension(view, "segment", "Nobody was won by an answer in these days."),
        forms=_dimension(view, "form", "No form won a customer in these days."),
        few=FEW,
        horizons=LTV_HORIZONS,
        opens={days: _opens(view, days) for days in LTV_HORIZONS},
        older=address(
            **{"range": f"{older - timedelta(_OLDER_DAYS - 1)}..{older}", "from": "", "to": ""}
        ),
    )


def _dimension(view: View, dimension: str, empty: str) -> dict[str, Any]:
    """All segments of a dimension as a table, and the curves of the first of them (none where no horizon
    counts a customer). `best` is the segment with most value of those with customers enough."""
    texts, keys = _TEXTS[dimension], _KEYS[dimension]
    rows, before = (
        view.data(lifetime_value, dimension=dimension),
        view.before(lifetime_value, dimension=dimension),
    )
    labels = _labels(view)
    former = before and [_segment(row, keys[0], labels) for row in before["rows"]]
    segments = beside([_segment(row, keys[0], labels) for row in rows["rows"]], former, *keys)
    # By value, those with few customers last: one buyer can lift them above all others.
    segments.sort(key=lambda each: (not each["is_ranked"], -each["ltvCents"]))
    ranked = [each for each in segments if each["is_ranked"]]
    greatest = max((each["ltvCents"] for each in ranked), default=0)
    columns = [*texts, *_columns(view, greatest)]
    return {
        "texts": texts,
        "table": table(view, columns, segments, f"{dimension}.-ltv", most=_SHOWN, empty=empty),
        "curves": _curves((ranked or segments)[:_DRAWN]),
        "best": ranked[0] if greatest else None,
        "has_few": len(ranked) < len(segments),
    }


def _labels(view: View) -> Labels:
    """Those of the forms that won customers in these days."""
    forms = view.data(lifetime_value, dimension="form")["rows"]
    return labels_of_forms(view, [form["formId"] for form in forms])


def _segment(row: Mapping[str, Any], key: str, labels: Labels) -> dict[str, Any]:
    """A form or an answer with its customers. `first` is the value of a customer in the shortest horizon,
    None where that counts nobody. It is ranked by value if it has customers enough and is not the sum of
    others."""
    first = row["horizons"][0]
    field_id, value = row.get("fieldId", ""), row.get("value", "")
    return {
        **row,
        "question": labels.question(field_id),
        "answer": labels.answer(field_id, value),
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
            figure=_first,
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


def _first(row: ComparedRow) -> Amount:
    former = (row.before or {}).get("first")
    return Amount(row["first"], None if row["first"] is None else former)


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
    due = view.selection.first + timedelta(days)
    if due > day_date(view.answers.today):
        return "from", due
    return "by", view.selection.last + timedelta(days)
