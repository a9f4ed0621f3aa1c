"""New and returning visitors: a session is its visitor's first with a form, or it is not."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from jobs.arrays.group_keys import Column, distinct_rows, earliest, group_keys, index_of_rows

PAIR = ["edition", "visitor", "form"]


def pairs_of(*sessions: pd.DataFrame) -> dict[str, Column]:
    """The (visitor, form) pairs of these sessions, each once: edition, visitor, form."""
    return distinct_rows(
        {name: np.concatenate([rows[name].to_numpy() for rows in sessions]) for name in PAIR}
    )


def in_pairs(sessions: pd.DataFrame, pairs: Mapping[str, Column]) -> npt.NDArray[np.bool_]:
    """A mask: the sessions that belong to one of the pairs."""
    return index_of_rows(*([rows[name] for name in PAIR] for rows in (pairs, sessions))) >= 0


def with_first_sessions(sessions: pd.DataFrame, pairs: Mapping[str, Column]) -> pd.DataFrame:
    """The sessions, with `is_first_session` derived for all of these pairs.

    `sessions` holds every session of the pairs. The earliest is the first; ties: the smaller
    form_session_id.
    """
    positions = np.flatnonzero(in_pairs(sessions, pairs))
    rows = sessions.iloc[positions]
    groups = group_keys(*(rows[name].to_numpy() for name in PAIR)).dense()
    first = earliest(groups, rows["first_at"].to_numpy(), rows["form_session_id"])
    is_first = sessions["is_first_session"].to_numpy().copy()
    is_first[positions] = 0
    is_first[positions[first]] = 1
    return sessions.assign(is_first_session=is_first)
