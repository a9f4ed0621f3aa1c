"""What rollups read: facts of any number of shops, with their days worked out.

All columns are int64 unless a text is said. Instants are microseconds, NEVER where a thing has not
happened; days are shop-local, NO_DAY where there is none. `session`, `order`, `visitor` and
`customer` are unique over all shops; `form`, `step`, `field`, `value`, `code`, `discount` and `utm`
are not, and go together with `edition`. A missing visitor, customer, code, discount or utm is 0.
"""

from dataclasses import dataclass

import pandas as pd

from jobs.columns import Source


@dataclass(frozen=True)
class Facts:
    """Each field holds every fact of its kind that the rollup is asked to sum.

    - `sessions`: edition, session, form, visitor, device, utm, customer, fresh (1: the visitor's
      first session with the form), first_at, viewed_at, started_at, subscribed_at, completed_at,
      submitted_at (the earlier of subscribed and completed), view_day, start_day, subscribe_day,
      complete_day, submit_day; orders, gross, refunded (of the orders credited to the session)
    - `steps`: edition, session, step, step_id (text), viewed_at, view_day, step_index,
      completed_at; one row per session and step; sessions of all of them are in `sessions`
    - `answers`: edition, session, field, value, listed; one row per session, field and chosen value
      (listed 1: the answer was a list), and one with value 0 per session and field answered with
      whatever type; sessions of all of them are in `sessions`
    - `issues`: edition, session, discount; what a session was issued, a row per code, so a discount
      may repeat; sessions of all of them are in `sessions`
    - `orders`: edition, order, created_at, day, gross, refunded, type (vocabulary.ATTRIBUTION_TYPES),
      session, form (of the credited session, 0 where unattributed), utm (effective), customer
    - `order_codes`: edition, order, discount, discounted; a row per code of an order, so a discount
      may repeat; orders of all of them are in `orders`
    """

    sessions: Source
    steps: pd.DataFrame
    answers: pd.DataFrame
    issues: pd.DataFrame
    orders: Source
    order_codes: pd.DataFrame


def by_id(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The frame under an index of its ids.

    A plain index: `set_index` takes any two ids for a range, and a range reckons with its ends, which
    may lie beyond 64 bits.
    """
    return frame.set_axis(pd.Index(frame[name].to_numpy(), dtype="int64", name=name))
