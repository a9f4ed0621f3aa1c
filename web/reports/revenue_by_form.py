"""Revenue by form (26), on the submission clock or the order clock."""

from collections.abc import Mapping
from typing import Any, Final

from warehouse.daily.group_sum import total
from warehouse.daily.reader import Sums
from warehouse.domain.figures import OUTCOME, RATES, count, money
from warehouse.domain.vocabulary import UNATTRIBUTED
from web.api.endpoint import get
from web.api.filters import FILTERS
from web.api.query import Query
from web.api.rows import Row, inside, text
from web.http.parameters import SUBMISSION_CLOCK, clock_of

# fmt: off
EARLIER: Final = Row(
    "FromEarlierSubmissions",
    "The orders of the window whose submission was before the window, and what they brought.",
    count("orders", "Orders",
        "Orders of the window that are credited to a submission before it.",
        "Orders of these days that followed a submission before these days.",
        measure="earlier_orders"),
    money("netRevenueCents", "Net revenue",
        "Their net revenue, in minor units of the shop's currency.",
        "The total of these orders, less the money that was paid back.",
        measure="earlier_net"),
)


ROW: Final = Row(
    "FormRevenueRow",
    """One form. Views and submissions are dated by their own day, converted submissions by the submission;
    orders and revenue follow the clock. On the order clock, orders that are credited to no form are in a last
    row, whose `formId` is null, so that the rows add up to the shop. Order: netRevenueCents descending,
    formId.""",
    text("formId", "Form",
        "The form's id; null in the row of the orders that are credited to no form.",
        null=True, format="uuid"),
    text("formName", "Name",
        "The form's name; null if the shop's forms do not include it, or if there is no form.", null=True),
    f"views submissions convertedSubmissions {OUTCOME} {RATES} revenuePerSubmissionCents",
    inside("fromEarlierSubmissions", "From earlier submissions",
        "On the order clock, what of the row's orders and revenue comes from submissions before the window; "
        "else null.", EARLIER, null=True,
        made=lambda sums: EARLIER.filled((), sums) if "earlier_orders" in sums else None),
    owner="By sign-up day, orders and revenue are all that the submissions of these days have brought up to "
    "today. By order day, they are the orders of these days, whenever their buyers submitted the form; "
    "orders that no form brought have a line of their own, so the lines add up to the shop.",
)
# fmt: on


@get(
    "/revenue/by-form",
    "analytics:read",
    ROW,
    clock_of(SUBMISSION_CLOCK),
    filters=FILTERS,
    page="/forms",
)
def revenue_by_form(query: Query, clock: str) -> list[dict[str, Any]]:
    """Revenue by form.

    A row per form with any figure. With `clock=submission`, orders and revenue are those that followed from
    the window's submissions, to date. With `clock=order`, they are those of the window's orders, and a last
    row has the orders that are credited to no form, unless the answer is filtered. Order: netRevenueCents
    descending, formId.
    """
    submitted = query.outcomes("funnel", by=("form",))
    lines = _by_form(submitted)
    if clock == SUBMISSION_CLOCK:
        return _rows(query, lines)
    # Milestones and conversions stay on the submission clock, as in the days of a form.
    none = dict.fromkeys(submitted.columns, 0)
    by_day = query.sums("form_orders", by=("form", "submitted"))
    is_earlier = by_day["submitted"] < query.window.first
    columns = {name: column for name, column in by_day.columns.items() if name != "submitted"}
    columns["earlier_orders"] = by_day["orders"] * is_earlier
    columns["earlier_net"] = (by_day["gross"] - by_day["refunded"]) * is_earlier
    ordered = Sums(total(columns, ("form",)))
    orders = _by_form(ordered)
    no_orders = dict.fromkeys(ordered.columns, 0)
    rows = _rows(
        query,
        {
            form: none | lines.get(form, {}) | orders.get(form, no_orders)
            for form in lines.keys() | orders.keys()
        },
    )
    if query.filter:
        # No session says which attributes an order has that is credited to none.
        return rows
    unattributed = query.sums("attribution", where={"type": UNATTRIBUTED}).total()
    if any(unattributed.values()):
        rows.append(ROW.filled((None, None), none | no_orders | unattributed))
    return rows


def _rows(query: Query, lines: Mapping[int, Mapping[str, int]]) -> list[dict[str, Any]]:
    # Views, submissions and orders make all other figures.
    shown = {
        form: line
        for form, line in lines.items()
        if any(line[name] for name in ("views", "submissions", "orders"))
    }
    texts = query.texts(shown)
    names = query.form_names(list(texts.values()))
    rows = [ROW.filled((texts[form], names.get(texts[form])), line) for form, line in shown.items()]
    return sorted(rows, key=lambda row: (-row["netRevenueCents"], row["formId"]))


def _by_form(sums: Sums) -> dict[int, dict[str, int]]:
    return {line["form"]: line for line in sums.rows()}
