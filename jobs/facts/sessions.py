"""Form sessions and orders: the touched ones as all their rows have them, in place of what is stored of them
(`begin`); and new and returning visitors: a session is its visitor's first with a form, or it is not
(`mark_first`).

Nothing is derived by `begin` that another fact decides: the columns SESSION_DERIVED are those stored, 0 of a
new session; ORDER_DERIVED have no value yet.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from jobs.arrays.group_keys import (
    Column,
    distinct_rows,
    earliest,
    group_keys,
    index_of,
    index_of_rows,
    sorted_unique,
)
from jobs.facts import answers, fact_table_io
from jobs.facts.changes import SESSION, SESSION_DERIVED, Changes, Versions, by_id, put, without
from jobs.facts.fact_table_io import is_staged, key_columns, load_orders, load_sessions, stage_ids
from jobs.facts.partials import DecidedAnew, Partials, merge_step_names
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions.editions import SESSION_BITS
from warehouse.tables.base import column_names

PAIR = ["edition", "visitor", "form"]
# The sessions `n` of a staged pair `k`.
SAME_PAIR = "fact_form_session n WHERE " + " AND ".join(f"n.{name} = k.{name}" for name in PAIR)
_TOUCHED = "staged_touched"
_EARLIEST_OF_PAIR = (
    f"f.session = (SELECT n.session FROM {SAME_PAIR} "
    f"AND NOT {is_staged(_TOUCHED, 'n.session')} "
    "ORDER BY n.first_at, n.form_session_id LIMIT 1)"
)


def begin(
    connection: ArrowConnection, partials: Partials, anew: DecidedAnew, *, are_first: bool
) -> Changes:
    """The touched sessions and orders with their steps, answers, issues and codes, before and after."""
    named = partials.sessions[["edition", "session_hash"]]
    stored = fact_table_io.load(connection, tables.fact_form_session, named)
    numbers = fact_table_io.load(
        connection,
        tables.edition,
        {"edition": np.unique(named["edition"])},
        columns=["edition", "next_session"],
    )
    sessions = Versions(by_id(stored, "session"), _from_events(partials, stored, numbers))
    keys = key_columns(stored, "session")
    steps, answered, issues = (
        Versions(fact_table_io.load(connection, table, keys), _children(sessions.new, rows))
        for table, rows in (
            (tables.fact_step, partials.steps),
            (tables.fact_answer, answers.that_count(partials.answers, partials.texts)),
            (tables.fact_code_issued, partials.issues),
        )
    )
    submitted_at = sessions.new["submitted_at"].reindex(issues.new["session"]).to_numpy()
    # Their discount is derived by `discounts`.
    issued = issues.new.assign(submitted_at=submitted_at, discount=0)
    orders = load_orders(connection, key_columns(partials.orders, "order"))
    codes = tables.fact_order_code
    columns = column_names(codes)
    changes = Changes(
        partials=partials,
        touched=sorted_unique(*(rows.index.to_numpy() for rows in (sessions.old, sessions.new))),
        are_first=are_first,
        sessions=sessions,
        orders=Versions(orders, orders),
        steps=steps,
        answers=answered,
        issues=Versions(issues.old, issued),
        order_codes=Versions(
            fact_table_io.no_rows(codes, columns), partials.order_codes[list(columns)]
        ),
        step_names=_step_names(connection, partials, anew),
    )
    kept = orders[~orders.index.isin(partials.orders["order"])]
    changes.orders = Versions(orders, put(kept, changes.standing_orders))
    # They are in the changes now, and would be in memory twice until all is written.
    no_rows = {
        name: getattr(partials, name).iloc[:0].copy() for name in ("sessions", "steps", "answers")
    }
    changes.partials = replace(partials, **no_rows)
    return changes


def _from_events(partials: Partials, stored: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """Rows of fact_form_session by session id, of partial facts that have all events of their sessions.

    `stored`: their rows in fact_form_session; `numbers`: edition, next_session; of all their editions.
    """
    partial = partials.sessions
    partial = partial.iloc[np.lexsort((partial["first_at"], partial["edition"]))]
    index = index_of(stored["session_hash"].to_numpy(), partial["session_hash"].to_numpy())
    ids = _with_last(stored["session"], 0)[index]
    is_new = index < 0
    # New ones are numbered by edition and, within it, in the order of their first events.
    of_new = partial["edition"].to_numpy()[is_new]
    editions, counts = np.unique(of_new, return_counts=True)
    first = numbers["next_session"].to_numpy()[index_of(numbers["edition"].to_numpy(), editions)]
    position = np.arange(len(of_new)) - np.repeat(np.cumsum(counts) - counts, counts)
    ids[is_new] = (of_new << SESSION_BITS) + np.repeat(first, counts) + position
    rows = partial.assign(
        session=ids,
        submitted_at=np.minimum(partial["subscribed_at"], partial["completed_at"]),
        **{name: _with_last(stored[name], 0)[index] for name in SESSION_DERIVED},
    )
    return by_id(rows[SESSION], "session")


def _with_last(column: pd.Series, last: int) -> Column:
    """A column, with a value for the index -1."""
    return np.append(column.to_numpy(np.int64), last)


def _children(sessions: pd.DataFrame, partial: pd.DataFrame) -> pd.DataFrame:
    """Steps, answers or issues of these sessions, with edition and session in place of session_hash."""
    index = index_of(sessions["session_hash"].to_numpy(), partial["session_hash"].to_numpy())
    own = {name: sessions[name].to_numpy()[index] for name in ("edition", "session")}
    return partial.drop(columns="session_hash").assign(**own)


def _step_names(connection: ArrowConnection, partials: Partials, anew: DecidedAnew) -> Versions:
    """Rows of dim_step of the steps that are named, before and after."""
    named = pd.concat([partials.step_names[list(anew.steps)], anew.steps]).drop_duplicates()
    stored = without(fact_table_io.load(connection, tables.dim_step, named), anew.steps)
    names = pd.concat([stored.new, partials.step_names], ignore_index=True)
    return Versions(stored.old, merge_step_names(names))


def mark_first(connection: ArrowConnection, changes: Changes, *, recount: bool) -> None:
    """Mark the first session of every (visitor, form) that a touched session belongs or belonged to.

    `recount`: whatever is stored; else another one is looked for only where the first may be no more.
    """
    touched = changes.sessions.of(changes.touched)
    pairs = pairs_of(touched.old, touched.new)
    stage_ids(connection, _TOUCHED, touched.old.index.to_numpy())
    sessions = changes.sessions.plus(
        load_sessions(
            connection, pairs, f"f.is_first_session = 1 AND NOT {is_staged(_TOUCHED, 'f.session')}"
        ),
        load_sessions(
            connection,
            pairs if recount else pairs_losing_first(touched),
            _EARLIEST_OF_PAIR,
            equal=["edition"],
        ),
    )
    changes.sessions = Versions(sessions.old, with_first_sessions(sessions.new, pairs))


def pairs_of(*sessions: pd.DataFrame) -> dict[str, Column]:
    """The (visitor, form) pairs of these sessions, each once: edition, visitor, form."""
    return distinct_rows(
        {name: np.concatenate([rows[name].to_numpy() for rows in sessions]) for name in PAIR}
    )


def in_pairs(sessions: pd.DataFrame, pairs: Mapping[str, Column]) -> npt.NDArray[np.bool_]:
    """A mask: the sessions that belong to one of the pairs."""
    if not len(pairs["edition"]):
        return np.zeros(len(sessions), dtype=bool)
    return index_of_rows(*([rows[name] for name in PAIR] for rows in (pairs, sessions))) >= 0


def pairs_losing_first(sessions: Versions) -> dict[str, Column]:
    """The pairs whose first session is among these and goes, begins later or gets another visitor: any other
    one of the pair may be the first now. (While it stays, none but a session of the batch can be.)"""
    old = sessions.old[sessions.old["is_first_session"] == 1]
    index = index_of(sessions.new.index.to_numpy(), old.index.to_numpy())
    new = sessions.new.iloc[index[index >= 0]]
    stays = index >= 0
    stays[stays] = np.logical_and.reduce(
        [new[name].to_numpy() == old[name].to_numpy()[stays] for name in PAIR]
        + [new["first_at"].to_numpy() <= old["first_at"].to_numpy()[stays]]
    )
    return pairs_of(old[~stays])


def with_first_sessions(sessions: pd.DataFrame, pairs: Mapping[str, Column]) -> pd.DataFrame:
    """The sessions, with `is_first_session` derived for all of these pairs.

    `sessions` holds those of each pair that are or may become its first. The earliest is it; ties: the
    smaller form_session_id.
    """
    positions = np.flatnonzero(in_pairs(sessions, pairs))
    rows = sessions.iloc[positions]
    groups = group_keys(*(rows[name].to_numpy() for name in PAIR)).dense()
    first = earliest(groups, rows["first_at"].to_numpy(), rows["form_session_id"])
    is_first = sessions["is_first_session"].to_numpy().copy()
    is_first[positions] = 0
    is_first[positions[first]] = 1
    return sessions.assign(is_first_session=is_first)
