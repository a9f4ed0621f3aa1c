"""Customer lifetime value (19), by form or by response segment, on the acquisition clock."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from warehouse.daily.group_sum import Column, total
from warehouse.daily.reader import Sums
from warehouse.domain.figures import ORDERS, REVENUE, count, money, number, percent
from warehouse.domain.rounding import cents
from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import LTV_HORIZONS
from web.api.endpoint import get
from web.api.query import Query
from web.api.row_limit import Texts
from web.api.rows import (
    FIELD_ID,
    TO_DATE,
    Answer,
    PlainColumn,
    Row,
    by_dimension,
    column,
    ranked,
    rows,
    text,
)

# fmt: off
HORIZON: Final = Row(
    "Horizon",
    """The value of customers in their first `days` days. Only customers acquired at least that many days
    ago are included.""",
    column("days", "Days",
        "The length of the horizon, counted from the acquiring submission.",
        {"enum": list(LTV_HORIZONS), "type": "integer"}),
    count("customers", "Customers",
        "Customers of the row who were acquired at least `days` days before today.",
        "Customers who were won long enough ago to be judged by so many days."),
    money("netRevenueCents", "Net revenue",
        "Net revenue of their orders less than `days` x 24 hours after the submission.",
        "The money that they spent in so many days after they were won, less what was paid back.",
        measure="net"),
    "ltvCents",
)


def _horizons(sums: Mapping[str, int]) -> list[dict[str, Any]]:
    # Five a row, of up to ten thousand rows: `HORIZON.filled` would show in the time of the answer.
    horizons = []
    for days in LTV_HORIZONS:
        customers, net = sums[f"customers_{days}"], sums[f"net_{days}"]
        value = {"ltvCents": cents(net, customers)}
        horizons.append({"days": days, "customers": customers, "netRevenueCents": net, **value})
    return horizons


def _row(name: str, description: str, *keys: PlainColumn, owner: str) -> Row:
    return Row(
        name, description, *keys,
        count("customers", "Customers",
            "Customers acquired in the window: their first submission to the form, or with this "
            "answer, is in it.",
            "People who submitted the form, or gave this answer, for the first time in these days."),
        count("purchasers", "Bought",
            "Those with an order since that submission.",
            "How many of them have ordered since.",
            dated_by=ORDERS),
        count("orders", "Orders",
            "All their orders since that submission, to date.",
            "All that they have ordered since, up to today.",
            dated_by=ORDERS),
        f"{REVENUE} ltvCents averageOrderValueCents",
        number("ordersPerCustomer", "Orders per customer",
            "`orders` / `customers`, to 2 decimals.",
            "How often one of these customers ordered, on average.",
            over=("orders", "customers"), without="no customers"),
        percent("repeatRate", "Bought again",
            "Purchasers with two or more orders / `purchasers` x 100, to 2 decimals.",
            "How many of 100 who bought have bought at least twice.",
            over=("repeaters", "purchasers"), without="nobody bought"),
        rows("horizons", "Horizons",
            "The five horizons, from the shortest to the longest.", HORIZON, _horizons, LTV_HORIZONS),
        clock=TO_DATE,
        owner=f"{owner} Their orders count whenever they came, up to today, whatever form brought "
        "them. A value after so many days leaves out customers who were won more recently than that.",
    )


FORM: Final = _row(
    "LtvFormRow",
    "The customers acquired by one form. Order: netRevenueCents descending, formId.",
    text("formId", "Form", "The form's id; `(other)` for the other forms."),
    text("formName", "Name",
        "The form's name; null if the shop's forms do not include it; `(other)` for the other forms.",
        null=True),
    owner="A customer belongs to each form that they ever submitted, from their first submission to it on.",
)
SEGMENT: Final = _row(
    "LtvSegmentRow",
    "The customers acquired with one answer. Order: netRevenueCents descending, fieldId, value.",
    FIELD_ID,
    text("value", "Answer", "The answer, as text."),
    owner="A customer belongs to each answer that they ever gave, from the first time on. The same "
    "question of several forms is one question.",
)
# fmt: on
# By dimension: its row, its summary, the key columns of that.
_DIMENSIONS: Final = {
    "form": (FORM, "ltv_form", ("form",)),
    "segment": (SEGMENT, "ltv_segment", ("field", "value")),
}


def horizon_clock(query: Query) -> tuple[int, int]:
    """A clock that moves with the day until every customer of the window has all horizons behind them."""
    return min(query.today, query.window.last + max(LTV_HORIZONS)), NEVER


@get(
    "/customers/ltv",
    "customers:read",
    by_dimension("Ltv", form=FORM, segment=SEGMENT),
    limited=True,
    clock=horizon_clock,
)
def lifetime_value(query: Query, dimension: str) -> Answer:
    """Lifetime value of customers, by the form or the answer that acquired them.

    `{dimension, rows}`: customers acquired in the window, and all their orders since then, to date. Order:
    netRevenueCents descending, then the form or the answer. At most 10,000 rows; the others are summed in
    the row `(other)`, so a customer can be in it several times.
    """

    def names_of(texts: list[Texts], _forms: Column) -> Iterator[tuple[str | None]]:
        names = query.form_names([form_id for (form_id,) in texts])
        return ((names.get(form_id),) for (form_id,) in texts)

    row, summary, keys = _DIMENSIONS[dimension]
    cells = query.cells(summary, ("day", *keys))
    days = cells.pop("day")
    for horizon in LTV_HORIZONS:
        # Customers acquired too recently for a horizon add nothing to it.
        is_over = days + horizon <= query.today
        cells[f"customers_{horizon}"] = cells["customers"] * is_over
        cells[f"net_{horizon}"] = cells[f"net_{horizon}"] * is_over
    sums, limit = Sums(total(cells, keys)), query.limits.rows
    more = names_of if dimension == "form" else None
    answer = ranked(row, sums, keys, query.texts_of, "netRevenueCents", limit, more)
    return replace(answer, data={"dimension": dimension, "rows": answer.data})
