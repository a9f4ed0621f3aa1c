"""Customer keys (contract 1): `customer_id`, else the customer last seen with the e-mail, else it.

What an e-mail resolves to can change with any event or order that shows it together with a customer;
then every session and order that has nothing but that e-mail changes its key.
"""

import numpy as np
import pandas as pd

from jobs.codes import distinct
from jobs.facts import store
from jobs.facts.fold import latest_emails
from jobs.facts.frames import by_id
from jobs.facts.working import Working, those
from warehouse import tables

_KEY = ["edition", "email"]


def resolve_customers(
    work: Working, seen: pd.DataFrame, folded: np.ndarray, placed: pd.Index
) -> pd.DataFrame:
    """Give every touched session and order its customer key.

    `seen`: e-mails met with a customer on this batch's events; `folded`, `placed`: the sessions and
    orders that the batch touches. Returns the rows of `fact_email` to store.
    """
    touched = [
        seen,
        those(work.new_sessions, folded),
        *(those(orders, placed) for orders in (work.old_orders, work.new_orders)),
    ]
    columns = {name: np.concatenate([rows[name] for rows in touched]) for name in _KEY}
    emails = distinct({name: column[columns["email"] != 0] for name, column in columns.items()})
    stored = store.load(work.bulk, tables.fact_email, emails)
    work.load_orders(emails)
    merged = latest_emails(pd.concat([stored, seen[stored.columns]], ignore_index=True))
    before = _resolution(stored, work.old_orders)
    after = _resolution(merged, work.new_orders)
    asked = emails["email"]
    moved = _look_up(before, asked) != _look_up(after, asked)
    others = {name: column[moved] for name, column in emails.items()}
    work.load_sessions(others, "f.customer_own = 0")

    known = pd.Index(asked)
    for frame, ids in ((work.new_sessions, folded), (work.new_orders, placed)):
        own, email = frame["customer_own"].to_numpy(), frame["email"].to_numpy()
        due = frame.index.isin(ids) | ((own == 0) & frame["email"].isin(known).to_numpy())
        resolved = np.where(own != 0, own, _look_up(after, email))
        frame["customer"] = np.where(due, resolved, frame["customer"].to_numpy())
    return merged


def _resolution(seen: pd.DataFrame, orders: pd.DataFrame) -> pd.Series:
    """The customer that each e-mail resolves to, by e-mail."""
    named = orders[(orders["customer_own"] != 0) & (orders["email"] != 0)]
    sightings = pd.DataFrame(
        {
            "email": named["email"],
            "seen_at": named["created_at"],
            "customer_id": named["customer_id"],
            "customer": named["customer_own"],
        }
    )
    both = pd.concat([seen[sightings.columns], sightings], ignore_index=True)
    return by_id(latest_emails(both), "email")["customer"]


def _look_up(resolution: pd.Series, emails: np.ndarray) -> np.ndarray:
    """Each e-mail's customer; the e-mail itself where no customer is known, 0 for none."""
    if resolution.empty:
        return emails
    places = resolution.index.get_indexer(pd.Index(emails))
    return np.where(places >= 0, resolution.to_numpy()[places], emails)
