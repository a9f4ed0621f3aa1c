"""Partial facts into stored ones: minima, earliest, latest, unions.

Each merge is commutative, associative and idempotent, so the stored fact after any number of
portions is the one that all events together would give.
"""

from typing import TypeAlias

import numpy as np
import pandas as pd

from jobs.facts.fold import latest_answers

_MINIMA = ("viewed_at", "started_at", "subscribed_at", "completed_at")
_Parts: TypeAlias = tuple[tuple[str, str, tuple[str, ...]], ...]
# instant, deciding event, what they carry
_EARLIEST: _Parts = (
    ("first_at", "first_event", ("visitor",)),
    ("device_at", "device_event", ("device",)),
    ("utm_at", "utm_event", ("utm",)),
)
_LATEST: _Parts = (
    ("customer_at", "customer_event", ("customer_own",)),
    ("email_at", "email_event", ("email",)),
)


def merge_sessions(stored: pd.DataFrame, partial: pd.DataFrame) -> pd.DataFrame:
    """Stored sessions with the partial ones of the same place folded in (both same length)."""
    merged = stored.copy()
    for name in _MINIMA:
        merged[name] = np.minimum(stored[name], partial[name])
    for at, event, carried in _EARLIEST:
        _choose(merged, partial, at, event, carried, earlier=True)
    for at, event, carried in _LATEST:
        _choose(merged, partial, at, event, carried, earlier=False)
    return merged


def _choose(
    merged: pd.DataFrame,
    partial: pd.DataFrame,
    at: str,
    event: str,
    carried: tuple[str, ...],
    *,
    earlier: bool,
) -> None:
    ours, theirs = merged[at].to_numpy(), partial[at].to_numpy()
    better = theirs < ours if earlier else theirs > ours
    tied = np.flatnonzero(theirs == ours)
    if len(tied):
        mine, other = merged[event].iloc[tied], partial[event].iloc[tied]
        better[tied] = (
            (other.to_numpy(object) < mine.to_numpy(object))
            if earlier
            else (other.to_numpy(object) > mine.to_numpy(object))
        )
    if better.any():
        for name in (at, event, *carried):
            merged[name] = merged[name].where(~better, partial[name])


def merge_answers(rows: pd.DataFrame) -> pd.DataFrame:
    """Stored and partial answers, one for each session and field."""
    return latest_answers(rows, ["session", "field"])
