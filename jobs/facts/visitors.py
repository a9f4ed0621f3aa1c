"""New and returning: a session is fresh when it is the visitor's first with its form."""

import numpy as np
import pandas as pd

from jobs.codes import code
from jobs.facts.working import Working

PAIR = ["edition", "form", "visitor"]


def pairs_of(work: Working, sessions: np.ndarray) -> pd.DataFrame:
    """The (form, visitor) pairs that these sessions belong to or belonged to."""
    ids = pd.Index(sessions)
    found = [
        frame.loc[frame.index.intersection(ids), PAIR]
        for frame in (work.old_sessions, work.new_sessions)
    ]
    return pd.concat(found, ignore_index=True).drop_duplicates()


def mark_fresh(work: Working, folded: np.ndarray) -> None:
    """Find the first session of every pair that the folded sessions belong to."""
    pairs = pairs_of(work, folded)
    work.load_sessions(pairs)
    rows = members(work.new_sessions, pairs)
    rows = rows.iloc[
        np.lexsort([rows[name].to_numpy() for name in ("first_at", "visitor", "form", "edition")])
    ]
    first = rows["first_at"] == rows.groupby(PAIR)["first_at"].transform("min")
    candidates = rows[first]
    tied = candidates.duplicated(PAIR, keep=False)
    if tied.any():
        chosen = candidates[tied].sort_values([*PAIR, "form_session_id"]).drop_duplicates(PAIR)
        candidates = pd.concat([candidates[~tied], chosen])
    sessions = work.new_sessions
    sessions.loc[rows.index, "fresh"] = 0
    sessions.loc[candidates.index, "fresh"] = 1


def members(sessions: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """The sessions of these pairs."""
    columns = [np.concatenate([sessions[name].to_numpy(), pairs[name].to_numpy()]) for name in PAIR]
    codes = code(*columns).dense()
    wanted = np.zeros(codes.size, dtype=bool)
    wanted[codes.codes[len(sessions) :]] = True
    return sessions[wanted[codes.codes[: len(sessions)]]]
