"""Customer keys (contract 1): the customer id; else the customer last seen with the e-mail; else the
e-mail itself; and the first order of each.

Any event or order that shows an e-mail together with a customer id can change what the e-mail resolves
to. Then every session and order that has only that e-mail gets another key.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from jobs.arrays.group_keys import (
    Column,
    distinct_rows,
    earliest,
    group_keys,
    index_of_rows,
    sorted_unique,
)
from jobs.facts import fact_table_io
from jobs.facts.changes import ORDER, Changes, Versions, by_id, differing, without
from jobs.facts.fact_table_io import (
    key_columns,
    load,
    load_orders,
    load_sessions,
    stage_ids,
)
from jobs.facts.partials import merge_emails
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import NEW_CUSTOMER, RETURNING_CUSTOMER, UNKNOWN_CUSTOMER

_CUSTOMER: Final = ("edition", "customer")
_MOVED: Final = "staged_moved_orders"
_NOT_MOVED: Final = f'NOT EXISTS (SELECT 1 FROM {_MOVED} i WHERE i.id = {{}}."order")'
# The earliest orders of a customer that stay as they are: several, where they come at one instant.
_EARLIEST: Final = (
    f"{_NOT_MOVED.format('f')} AND f.created_at = (SELECT n.created_at FROM fact_order n "
    "WHERE n.edition = k.edition AND n.customer = k.customer AND n.customer <> 0 "
    f"AND {_NOT_MOVED.format('n')} ORDER BY n.created_at LIMIT 1)"
)


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

    `stored`: their rows in fact_email, all and those that count; `seen`: rows of fact_email
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


def mark_first_orders(connection: ArrowConnection, changes: Changes) -> None:
    """Mark the first order of every customer who has an order that is touched, gone, or another's now, or
    had one. The earliest is it; ties: the smaller order id (contract 4, 22)."""
    if changes.orders.old.empty and changes.orders.new.empty:
        return
    touched = changes.partials.orders["order"].to_numpy()
    moved = sorted_unique(touched, differing(changes.orders, ["customer", "created_at"]))
    stage_ids(connection, _MOVED, moved)
    rows = changes.orders.of(moved)
    keys = _known(rows.old, rows.new)
    others = by_id(
        load(connection, tables.fact_order, keys, _EARLIEST, [*ORDER, "order_id"]), "order"
    )
    orders = changes.orders.plus(others[ORDER])
    is_touched = rows.new.index.isin(changes.partials.orders["order"])
    stored = key_columns(rows.new[~is_touched], "order")
    named = load(connection, tables.fact_order, stored, columns=["order", "order_id"])
    texts = pd.concat(
        [part[["order", "order_id"]] for part in (changes.partials.orders, others, named)]
    )
    changes.orders = Versions(orders.old, with_customer_types(orders.new, keys, texts))


def with_customer_types(
    orders: pd.DataFrame, keys: dict[str, Column], texts: pd.DataFrame
) -> pd.DataFrame:
    """The orders, with `customer_type` derived for all of these customers (edition, customer).

    `orders` holds those of each that are or may become its first; `texts`: order, order_id, of these.
    """
    is_own = index_of_rows(*([rows[name] for name in _CUSTOMER] for rows in (keys, orders))) >= 0
    positions = np.flatnonzero(is_own)
    rows = orders.iloc[positions]
    ids = by_id(texts, "order")["order_id"]
    ids = ids[~ids.index.duplicated()].reindex(rows.index, fill_value="")
    groups = group_keys(*(rows[name].to_numpy() for name in _CUSTOMER)).dense()
    first = earliest(groups, rows["created_at"].to_numpy(), ids)
    types = np.where(orders["customer"] == 0, UNKNOWN_CUSTOMER, orders["customer_type"].to_numpy())
    types[positions] = RETURNING_CUSTOMER
    types[positions[first]] = NEW_CUSTOMER
    return orders.assign(customer_type=types)


def changed_customers(changes: Changes) -> dict[str, Column]:
    """The customers who have a changed submission or order, or had: edition, customer; each once."""
    sessions = changes.sessions.of(changes.changed_sessions)
    orders = changes.orders.of(changes.changed_orders)
    rows = [
        *(part[part["submitted_at"] != NEVER] for part in (sessions.old, sessions.new)),
        orders.old,
        orders.new,
    ]
    return _known(*rows)


def _known(*rows: pd.DataFrame) -> dict[str, Column]:
    """The customers of these rows, each once: edition, customer."""
    keys = {name: np.concatenate([part[name].to_numpy() for part in rows]) for name in _CUSTOMER}
    known = keys["customer"] != 0
    return distinct_rows({name: column[known] for name, column in keys.items()})


def _customers_seen(emails: pd.DataFrame, orders: pd.DataFrame) -> pd.Series:
    """The customer that was seen last with each e-mail, by e-mail."""
    both = orders[(orders["customer_seen"] != 0) & (orders["email"] != 0)]
    if both.empty:
        return by_id(emails, "email")["customer"]
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
