"""New and returning: a session is fresh when it is the visitor's first with its form."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from jobs.codes import Column, code, distinct, earliest, find
from jobs.facts.working import Working, those

PAIR = ["edition", "visitor", "form"]


def pairs_of(work: Working, sessions: np.ndarray) -> dict[str, Column]:
    """The (form, visitor) pairs that these sessions belong to or belonged to."""
    found = [those(frame, sessions) for frame in (work.old_sessions, work.new_sessions)]
    return distinct({name: np.concatenate([rows[name] for rows in found]) for name in PAIR})


def mark_fresh(work: Working, folded: np.ndarray) -> None:
    """Find the first session of every pair that the folded sessions belong to."""
    pairs = pairs_of(work, folded)
    work.load_sessions(pairs)
    sessions = work.new_sessions
    places = np.flatnonzero(_of(sessions, pairs))
    rows = sessions.iloc[places]
    units = code(*(rows[name].to_numpy() for name in PAIR)).dense()
    first = earliest(units, rows["first_at"].to_numpy(), rows["form_session_id"])
    fresh = sessions["fresh"].to_numpy().copy()
    fresh[places] = 0
    fresh[places[first]] = 1
    sessions["fresh"] = fresh


def members(sessions: pd.DataFrame, pairs: Mapping[str, Column]) -> pd.DataFrame:
    """The sessions of these pairs."""
    return sessions[_of(sessions, pairs)]


def _of(sessions: pd.DataFrame, pairs: Mapping[str, Column]) -> npt.NDArray[np.bool_]:
    return find(*([rows[name] for name in PAIR] for rows in (pairs, sessions))) >= 0
