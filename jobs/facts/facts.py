"""The input of rollups: facts of any number of shops, with their days.

All columns are int64 unless a text is named. Instants are microseconds, NEVER where a thing has not
happened; days are shop-local, NO_DAY where there is none. `session`, `order`, `visitor` and
`customer` are unique over all shops; `form`, `step`, `field`, `value`, `code`, `discount`, `utm` and
`variant` are unique only together with `edition`. A missing visitor, customer, code, discount, utm or variant
is 0.
"""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from jobs.arrays.columns import Columns, without_rows


@dataclass(frozen=True)
class Facts:
    """Each field holds all facts of its kind that a rollup sums.

    - `sessions`: edition, session, form, visitor, device, utm, variant, customer, is_first_session
      (1: the visitor's first with the form), first_at, viewed_at, started_at, subscribed_at,
      completed_at, submitted_at (the earlier of subscribed and completed), view_day, start_day,
      subscribe_day, complete_day, submit_day; orders, gross, refunded (of the orders credited to the
      session)
    - `steps`: edition, session, step, step_id (text), viewed_at, view_day, step_index,
      completed_at; one row per session and step; sessions of all of them are in `sessions`
    - `answers`: edition, session, field, value, listed, paired; one row per session, field and chosen
      value (listed 1: the answer was a list; paired 1: the value counts in pairs), and one with value 0
      per session and field answered with whatever type; sessions of all of them are in `sessions`
    - `issues`: edition, session, discount; what a session was issued, a row per code, so a discount
      may repeat; sessions of all of them are in `sessions`
    - `orders`: edition, order, created_at, day, gross, refunded, type (vocabulary.ATTRIBUTION_TYPES),
      session, form (of the credited session, 0 where unattributed), utm (effective), customer,
      customer_type (vocabulary.CUSTOMER_TYPES)
    - `order_codes`: edition, order, discount, discounted; a row per code of an order, so a discount
      may repeat; orders of all of them are in `orders`
    - `events`: edition, form, day; a row per event, whatever it did to its session
    - `quarters`: edition, session, day; a row per quarter of an hour in which a session had an event;
      sessions of all of them are in `sessions`
    """

    sessions: Columns
    steps: pd.DataFrame
    answers: pd.DataFrame
    issues: pd.DataFrame
    orders: Columns
    order_codes: pd.DataFrame
    events: Columns
    quarters: Columns

    def only(self, **kept: Columns) -> "Facts":
        """The facts given here by field, and none of the other fields."""
        rows: dict[str, Any] = {
            name: own.iloc[:0] if isinstance(own, pd.DataFrame) else without_rows(own)
            for name, own in vars(self).items()
        }
        return Facts(**(rows | kept))
