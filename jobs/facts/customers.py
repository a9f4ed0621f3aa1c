"""Customer keys (contract 1): the customer id; else the customer last seen with the e-mail; else the
e-mail itself.

Any event or order that shows an e-mail together with a customer id can change what the e-mail resolves
to. Then every session and order that has only that e-mail gets another key.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.arrays.group_keys import Column, distinct_rows
from jobs.facts import fact_table_io
from jobs.facts.changes import Changes, Versions, by_id, without
from jobs.facts.fact_table_io import load_orders, load_sessions
from jobs.facts.partials import merge_emails
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import NEVER


@dataclass(frozen=True)
class Resolution:
    """The customers that the e-mails of a batch resolve to.

    - `keys`: edition, email; each once
    - `before`, `after`: the customer by e-mail, where one is known
    - `emails`: the rows of fact_email: what events say (orders are read each time)
    """

    keys: dict[str, Column]
    before: pd.Series
    after: pd.Series
    emails: Versions

    def moved(self) -> dict[str, Column]:
        """The e-mails that resolve to another customer than before: edition, email."""
        emails = self.keys["email"]
        moved = _customers_of(self.before, emails) != _customers_of(self.after, emails)
        return {name: column[moved] for name, column in self.keys.items()}


def set_customers(connection: ArrowConnection, changes: Changes, anew: pd.DataFrame) -> None:
    """Set the customer of the touched sessions and orders, and of all others whose e-mail resolves to another
    one now. `anew`: the e-mails (edition, email) whose stored sightings do not count."""
    partials = changes.partials
    orders = changes.orders.old, changes.standing_orders
    emails = touched_emails(partials.emails, changes.sessions.new, *orders, anew)
    versions = changes.orders.plus(load_orders(connection, emails))
    stored = without(fact_table_io.load(connection, tables.fact_email, emails), anew)
    resolution = resolve(emails, stored, partials.emails, versions)
    moved = load_sessions(connection, resolution.moved(), "f.customer_seen = 0")
    sessions = changes.sessions.plus(moved)
    ids = partials.orders["order"].to_numpy()
    changes.emails = resolution.emails
    changes.orders = Versions(versions.old, with_customers(versions.new, ids, resolution))
    changes.sessions = Versions(
        sessions.old, with_customers(sessions.new, changes.touched, resolution)
    )


def touched_emails(*rows: pd.DataFrame) -> dict[str, Column]:
    """The e-mails in these rows, each once: edition, email."""
    keys = {
        name: np.concatenate([part[name].to_numpy(np.int64) for part in rows])
        for name in ("edition", "email")
    }
    present = keys["email"] != 0
    return distinct_rows({name: column[present] for name, column in keys.items()})


def resolve(
    keys: dict[str, Column], stored: Versions, seen: pd.DataFrame, orders: Versions
) -> Resolution:
    """Resolve the e-mails `keys` (edition, email).

    `stored`: their rows in fact_email, before and after events were removed; `seen`: rows of fact_email
    from the events of the batch; `orders`: all orders that have one of the e-mails.
    """
    kept = stored.new
    emails = merge_emails(pd.concat([kept, seen[kept.columns]], ignore_index=True))
    return Resolution(
        keys=keys,
        before=_customers_seen(stored.old, orders.old),
        after=_customers_seen(emails, orders.new),
        emails=Versions(stored.old, emails),
    )


def with_customers(rows: pd.DataFrame, ids: Column, resolution: Resolution) -> pd.DataFrame:
    """Sessions or orders (by id) with their customer key: the new one of those with these ids, and of
    those that have only an e-mail that the batch touches."""
    own, email = rows["customer_seen"].to_numpy(), rows["email"].to_numpy()
    touched = rows["email"].isin(pd.Index(resolution.keys["email"])).to_numpy()
    due = rows.index.isin(ids) | ((own == 0) & touched)
    resolved = np.where(own != 0, own, _customers_of(resolution.after, email))
    return rows.assign(customer=np.where(due, resolved, rows["customer"].to_numpy()))


def changed_customers(changes: Changes) -> dict[str, Column]:
    """The customers who have a changed submission or order, or had: edition, customer; each once."""
    sessions = changes.sessions.of(changes.changed_sessions)
    orders = changes.orders.of(changes.changed_orders)
    rows = [
        *(part[part["submitted_at"] != NEVER] for part in (sessions.old, sessions.new)),
        orders.old,
        orders.new,
    ]
    keys = {
        name: np.concatenate([part[name].to_numpy() for part in rows])
        for name in ("edition", "customer")
    }
    known = keys["customer"] != 0
    return distinct_rows({name: column[known] for name, column in keys.items()})


def _customers_seen(emails: pd.DataFrame, orders: pd.DataFrame) -> pd.Series:
    """The customer that was seen last with each e-mail, by e-mail."""
    both = orders[(orders["customer_seen"] != 0) & (orders["email"] != 0)]
    seen = pd.DataFrame(
        {
            "email": both["email"],
            "seen_at": both["created_at"],
            "customer_id": both["customer_id"],
            "customer": both["customer_seen"],
        }
    )
    rows = pd.concat([emails[seen.columns], seen], ignore_index=True)
    return by_id(merge_emails(rows), "email")["customer"]


def _customers_of(customers: pd.Series, emails: Column) -> Column:
    """The customer of each e-mail; the e-mail itself where none is known, 0 of e-mail 0."""
    if customers.empty:
        return emails
    index = customers.index.get_indexer(pd.Index(emails))
    return np.where(index >= 0, customers.to_numpy()[index], emails)
