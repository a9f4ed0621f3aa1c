"""Orders and submissions by what they are attributed to, each on its own day."""

from jobs.arrays.columns import Columns, int_column, take
from jobs.arrays.group_keys import index_of
from jobs.facts.facts import Facts
from jobs.rollups.parts import DailyRows, Part, part, total
from jobs.rollups.submissions import OUTCOME_VALUES, outcomes, submission_part, submissions
from warehouse.catalogue import ATTRIBUTES


def form_orders(facts: Facts) -> DailyRows:
    """Orders credited to a submission, by its form and its day, on the day of the order.

    An order whose submission is not among the facts is left out: neither of them has changed.
    """
    return total("form_orders", _revenue(_credited(facts)))


def crossed_orders(facts: Facts) -> DailyRows:
    """The measures of `form_orders`, by ATTRIBUTES of the submission too."""
    return total("crossed_orders", _revenue(_credited(facts)))


def _credited(facts: Facts) -> Columns:
    """The orders that are credited to a submission: edition, day, form, gross, refunded; `submitted`, the day
    of the submission, and its ATTRIBUTES."""
    submitted = submissions(facts.sessions)
    index = index_of(submitted["session"], int_column(facts.orders, "session"))
    orders = take(facts.orders, index >= 0, ["edition", "day", "form", "gross", "refunded"])
    index = index[index >= 0]
    return orders | {"submitted": submitted["day"][index]} | take(submitted, index, ATTRIBUTES)


def attribution(facts: Facts) -> DailyRows:
    """All orders by attribution type, unattributed ones included, on the day of the order."""
    return total("attribution", _revenue(facts.orders))


def new_returning(facts: Facts) -> DailyRows:
    """All orders by whether they are the first of their customer, on the day of the order."""
    return total("new_returning", _revenue(facts.orders))


def utm_order(facts: Facts) -> DailyRows:
    """All orders by attribution type and effective UTM (0: none), on the day of the order."""
    return total("utm_order", _revenue(facts.orders))


def utm_submission(facts: Facts) -> DailyRows:
    """Submissions by UTM (0: none), on their day."""
    return total("utm_submission", submission_part(facts.sessions))


def utm_outcome(facts: Facts) -> DailyRows:
    """The orders credited to submissions, by the submission's UTM (0: none) and delay, on its day."""
    return total("utm_outcome", Part(outcomes(facts), OUTCOME_VALUES))


def _revenue(orders: Columns) -> Part:
    return part(orders, orders=1, gross="gross", refunded="refunded")
