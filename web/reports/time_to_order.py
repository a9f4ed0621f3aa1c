"""Time to order (25): how long after a submission its orders come."""

from typing import Any, Final

from warehouse.domain.figures import OUTCOME, SUBMISSION, count
from web.api.endpoint import Clock, get
from web.api.equal_age import old_enough_clock, window_days
from web.api.filters import FILTERS
from web.api.query import Query
from web.api.rows import Row, column

# fmt: off
ROW: Final = Row(
    "TimeToOrderRow",
    """The orders within so many days, of the submissions that are old enough to be asked. Each row is a rate
    of its own submissions. Order: days.""",
    column("days", "Days",
        "Whole days after the submission: orders less than (`days` + 1) x 24 hours after it count.",
        {"type": "integer", "minimum": 0}),
    count("submissions", "Submitted",
        "Submissions of the window, of days that are more than `days` + 1 days ago.",
        "Submissions of these days that have had so much time to buy."),
    count("convertedSubmissions", "Bought",
        "Those with their first credited order in this time.",
        "How many of them bought in this time.",
        measure="converted", dated_by=SUBMISSION),
    f"conversionRate {OUTCOME}",
    says={"orders": (
        "All credited orders of these submissions in this time. Cancelled ones are included, test orders are "
        "not.",
        "All orders that were credited to these submissions in this time.")},
    owner="How many submissions of these days bought within a day, within two, and so on. Each line "
    "leaves out submissions that have not had so much time yet, so a line is fair by itself.",
)
# fmt: on


def _age_clock(query: Query) -> Clock:
    """The clock of all rows. Before the first rollup, a setting alone says how many rows there are."""
    rows = window_days(query.shop) + 1
    today, until = old_enough_clock(query, rows)
    return (today, rows), until


@get(
    "/forms/{id}/time-to-order",
    "analytics:read",
    ROW,
    clock=_age_clock,
    filters=FILTERS,
)
def time_to_order(query: Query) -> list[dict[str, Any]]:
    """How long it takes from a submission to an order.

    A row for each whole day from 0 to the attribution window, cumulative in time. A row has the submissions
    of the window that are old enough for it, and their orders less than (`days` + 1) x 24 hours after them.
    """
    lines = query.form_outcomes_by_age("funnel", window_days(query.shop) + 1)
    return ROW.filled_rows(([days] for days in range(len(lines))), lines)
