"""Orders and submissions by what they are attributed to, each on its own day."""

import pandas as pd

from jobs.arrays.columns import Columns, int_column, take_rows
from jobs.facts.facts import Facts
from jobs.rollups.group_sum import Part, part, total
from jobs.rollups.submissions import submissions
from warehouse.domain.vocabulary import UNATTRIBUTED


def form_orders(facts: Facts) -> pd.DataFrame:
    """Orders credited to a submission, by the submission's form, on the day of the order."""
    credited = int_column(facts.orders, "type") != UNATTRIBUTED
    return total("form_orders", _revenue(take_rows(facts.orders, credited)))


def attribution(facts: Facts) -> pd.DataFrame:
    """All orders by attribution type, unattributed ones included, on the day of the order."""
    return total("attribution", _revenue(facts.orders))


def utm_order(facts: Facts) -> pd.DataFrame:
    """All orders by attribution type and effective UTM (0: none), on the day of the order."""
    return total("utm_order", _revenue(facts.orders))


def utm_submission(facts: Facts) -> pd.DataFrame:
    """Submissions, and those that converted, by UTM (0: none), on the submission's day."""
    rows = submissions(facts.sessions)
    return total("utm_submission", part(rows, submissions=1, converted="converted"))


def _revenue(orders: Columns) -> Part:
    return part(orders, orders=1, gross="gross", refunded="refunded")
