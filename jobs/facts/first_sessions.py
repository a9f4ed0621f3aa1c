"""New and returning visitors: a session is its visitor's first with a form, or it is not."""

from collections.abc import Mapping

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
)
from jobs.facts.changes import Changes, Versions
from jobs.facts.fact_table_io import is_staged, load_sessions, stage_ids
from warehouse.connections.arrow import ArrowConnection

PAIR = ["edition", "visitor", "form"]
# The sessions `n` of a staged pair `k`.
SAME_PAIR = "fact_form_session n WHERE " + " AND ".join(f"n.{name} = k.{name}" for name in PAIR)
_TOUCHED = "staged_touched"
_EARLIEST_OF_PAIR = (
    f"f.session = (SELECT n.session FROM {SAME_PAIR} "
    f"AND NOT {is_staged(_TOUCHED, 'n.session')} "
    "ORDER BY n.first_at, n.form_session_id LIMIT 1)"
)


def mark(connection: ArrowConnection, changes: Changes, *, recount: bool) -> None:
    """Mark the first session of every (visitor, form) that a touched session belongs or belonged to.

    `recount`: whatever is stored; else another one is looked for only where the first may be no more.
    """
    touched = changes.sessions.of(changes.touched)
    pairs = pairs_of(touched.old, touched.new)
    stage_ids(connection, _TOUCHED, touched.old.index.to_numpy())
    sessions = changes.sessions.plus(
        load_sessions(connection, pairs, "f.is_first_session = 1"),
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
