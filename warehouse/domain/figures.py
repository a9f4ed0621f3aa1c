"""START HERE: the figures of answers and pages. Those that several rows share are declared here, the others
in the row that has them (`web/reports/`), in the same words.

A figure is declared once: its name in answers, its heading on pages, its unit, its formula, the words of the
API's document, and a sentence for an owner who never saw the API. A formula takes names of figures, so it
serves a row, the row `(other)`, the total of a table and a card alike. At the bottom of every formula are
measures of daily rows (`warehouse/catalogue.py`); the measure of `noShow` is `no_show`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any, Final

from warehouse.domain import rounding

# Units. Money is in minor units of the shop's currency, a percentage has 2 decimals.
COUNT: Final = "count"
MONEY: Final = "money"
PERCENT: Final = "percent"
NUMBER: Final = "number"
MILLISECONDS: Final = "milliseconds"

# The event that gives a figure its day. Orders are dated by the clock of their row (`web/api/rows.py`).
SUBMISSION: Final = "submission"
ORDERS: Final = "orders"

Formula = Callable[[Mapping[str, Any]], Any]
"""From values by name to the figure's value."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of answers and pages. `words` describe it in the API's document, `owner` on pages. It is the
    difference of two figures (`less`), their quotient (`over`: to `digits` decimals where it is a number),
    the share of a total (`share_of` a figure, in per cent), or else a measure. `without` says on a page why a
    quotient has no value where its divisor is 0. `dated_by` says what gives it its day, where that is not the
    event that it counts: the submission, or the orders of its row. `bounds` are further keywords of its JSON
    Schema."""

    name: str
    heading: str
    unit: str
    words: str
    owner: str
    measure: str = ""
    less: tuple[str, str] | None = None
    over: tuple[str, str] | None = None
    digits: int = 2
    share_of: str = ""
    without: str = ""
    dated_by: str = ""
    bounds: Mapping[str, Any] = field(default_factory=lambda: {"minimum": 0})

    @property
    def adds_up(self) -> bool:
        """Whether the sum of two rows' values is the value of both together."""
        return not (self.over or self.share_of)

    def formula(self, of: Callable[[str], Formula] = itemgetter) -> Formula:
        """The figure from values by name; `of` gives the formula of each figure that it is made of. By
        default the values have those figures themselves."""
        if self.less:
            whole, part = map(of, self.less)
            return lambda values: whole(values) - part(values)
        if not self.over:
            return itemgetter(
                self.measure or re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", self.name)
            )
        above, below = map(of, self.over)
        divide = self.divide
        return lambda values: divide(above(values), below(values))

    @property
    def divide(self) -> Callable[[Any, Any], Any]:
        """The quotient of two values, as it is rounded."""
        divided_as = {PERCENT: rounding.percent, MONEY: rounding.cents}
        return divided_as.get(self.unit) or partial(rounding.ratio, digits=self.digits)


def count(name: str, heading: str, words: str, owner: str, **more: Any) -> Figure:
    return Figure(name, heading, COUNT, words, owner, **more)


def money(name: str, heading: str, words: str, owner: str, **more: Any) -> Figure:
    return Figure(name, heading, MONEY, words, owner, **more)


def percent(name: str, heading: str, words: str, owner: str, **more: Any) -> Figure:
    return Figure(name, heading, PERCENT, words, owner, **more)


def number(name: str, heading: str, words: str, owner: str, **more: Any) -> Figure:
    return Figure(name, heading, NUMBER, words, owner, **more)


def milliseconds(name: str, heading: str, words: str, owner: str, **more: Any) -> Figure:
    return Figure(name, heading, MILLISECONDS, words, owner, **more)


# A table: one figure an entry, its name and formula, the API's words, the owner's.
# fmt: off
FIGURES: Final = {figure.name: figure for figure in (
    count("views", "Views",
        "Form sessions by the day of their first `view`. A session counts once, however often the "
        "event repeats.",
        "How often the form was shown. One showing to one visitor counts once, on the day it was first "
        "seen."),
    count("starts", "Started",
        "Form sessions by the day of their first `start`.",
        "Showings in which the visitor began to fill in the form."),
    count("subscriptions", "Subscribed",
        "Form sessions by the day of their first `subscribe`.",
        "Showings in which the visitor signed up."),
    count("completions", "Completed",
        "Form sessions by the day of their first `complete`.",
        "Showings in which the visitor reached the end of the form."),
    count("submissions", "Submitted",
        "Form sessions that subscribed or completed, by the day of the earlier of the two.",
        "Showings in which the visitor signed up or reached the end, on the day of the first of the two."),
    count("convertedSubmissions", "Bought",
        "Submissions with at least one order credited to them, by the day of the submission.",
        "Submissions that an order was credited to, up to today. They count on the day of the submission.",
        measure="converted", dated_by=SUBMISSION),
    count("orders", "Orders",
        "Orders. Cancelled ones are included, test orders are not.",
        "Orders, also those that were cancelled later. Test orders are left out.",
        dated_by=ORDERS),
    count("attributedOrders", "Credited orders",
        "Orders of the window that are credited to a submission.",
        "Orders of these days that are credited to somebody who had submitted a form.",
        measure="attributed"),
    money("grossRevenueCents", "Before refunds",
        "The total of the orders before refunds, in minor units of the shop's currency.",
        "The total of the orders, before anything was paid back.",
        measure="gross", dated_by=ORDERS),
    money("totalRefundedCents", "Refunded",
        "The refunds of these orders to date, in minor units of the shop's currency. A cancelled order "
        "is refunded in full.",
        "The money that was paid back for these orders, up to today. A cancelled order counts as paid "
        "back in full.",
        measure="refunded", dated_by=ORDERS),
    money("netRevenueCents", "Net revenue",
        "`grossRevenueCents` - `totalRefundedCents`.",
        "The total of the orders, less the money that was paid back. A refund counts on the day of its "
        "order.",
        less=("grossRevenueCents", "totalRefundedCents")),
    money("averageOrderValueCents", "Average order",
        "`grossRevenueCents` / `orders`; 0 without orders.",
        "The average of an order, before anything was paid back.",
        over=("grossRevenueCents", "orders"), without="no orders"),
    money("revenuePerSubmissionCents", "Per submission",
        "`netRevenueCents` / `submissions`.",
        "The net revenue, spread over all submissions, also those that bought nothing.",
        over=("netRevenueCents", "submissions"), without="no submissions"),
    money("ltvCents", "Per customer",
        "`netRevenueCents` / `customers`.",
        "The net revenue, spread over all of these customers, also those who bought nothing.",
        over=("netRevenueCents", "customers"), without="no customers"),
    percent("startRate", "Start rate",
        "`starts` / `views` x 100.",
        "How many of 100 views were followed by a start.",
        over=("starts", "views"), without="no views"),
    percent("subscriptionRate", "Subscription rate",
        "`subscriptions` / `views` x 100.",
        "How many of 100 views were followed by a sign-up.",
        over=("subscriptions", "views"), without="no views"),
    percent("completionRate", "Completion rate",
        "`completions` / `views` x 100.",
        "How many of 100 views were followed by a completion.",
        over=("completions", "views"), without="no views"),
    percent("submissionRate", "Submission rate",
        "`submissions` / `views` x 100, to 2 decimals; 0 without views.",
        "How many of 100 views were followed by a submission.",
        over=("submissions", "views"), without="no views"),
    percent("conversionRate", "Conversion",
        "Converted submissions / submissions x 100, to 2 decimals; 0 without submissions.",
        "How many of 100 submissions were followed by an order.",
        over=("convertedSubmissions", "submissions"), without="no submissions"),
)}
# fmt: on

# Figures that often stand together, in the order of answers.
MILESTONES: Final = "views starts subscriptions completions submissions convertedSubmissions"
REVENUE: Final = "grossRevenueCents totalRefundedCents netRevenueCents"
OUTCOME: Final = f"orders {REVENUE}"
RATES: Final = "submissionRate conversionRate"
FUNNEL: Final = f"{MILESTONES} {OUTCOME} startRate subscriptionRate completionRate {RATES}"
