"""Form sessions: the partial ones of a batch merged with what is stored of them, and new ones numbered."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.arrays.group_keys import Column, index_of, sorted_unique
from jobs.facts.changes import SESSION_DERIVED, Versions, by_id
from jobs.facts.partials import Partials, merge_answers, merge_sessions, merge_steps
from warehouse.domain.time import NEVER
from warehouse.editions.editions import SESSION_BITS


@dataclass(frozen=True)
class StoredSessions:
    """The stored rows of the sessions that have events in a batch.

    - `sessions`: rows of fact_form_session; `steps`, `answers`, `issues`: their rows in fact_step,
      fact_answer and fact_code_issued
    - `next_numbers`: edition, next_session; of every edition that the sessions belong to
    """

    sessions: pd.DataFrame
    steps: pd.DataFrame
    answers: pd.DataFrame
    issues: pd.DataFrame
    next_numbers: pd.DataFrame


@dataclass(frozen=True)
class BatchSessions:
    """The sessions that have events in a batch. (A session whose last event is removed has only old rows.)

    - `sessions`: all columns of fact_form_session by session id; in the new version the columns
      SESSION_DERIVED are still those stored, 0 of a new session
    - `steps`, `answers`, `issues`: their rows in fact_step, fact_answer and fact_code_issued; the
      discount of an issue is 0 in the new version, until `discounts` derives it
    """

    sessions: Versions
    steps: Versions
    answers: Versions
    issues: Versions

    @property
    def ids(self) -> Column:
        return sorted_unique(
            *(rows.index.to_numpy() for rows in (self.sessions.old, self.sessions.new))
        )


def merge_batch(partials: Partials, stored: StoredSessions, *, replace: bool) -> BatchSessions:
    """Merge partial sessions with the stored ones.

    `replace`: the partial ones have all events of their sessions, and take the place of what is
    stored.
    """
    partial = partials.sessions
    partial = partial.iloc[np.lexsort((partial["first_at"], partial["edition"]))]
    index = index_of(stored.sessions["session_hash"].to_numpy(), partial["session_hash"].to_numpy())
    before = stored.sessions.iloc[index[index >= 0]].reset_index(drop=True)
    known = partial[index >= 0].reset_index(drop=True)
    if replace:
        kept = ["session", "submitted_at", *SESSION_DERIVED]
        known = known.assign(**{name: before[name] for name in kept})
    else:
        known = merge_sessions(before, known)
    first = partial[index < 0].assign(submitted_at=NEVER, **dict.fromkeys(SESSION_DERIVED, 0))
    first["session"] = _new_ids(first["edition"].to_numpy(), stored.next_numbers)
    rows = pd.concat([known, first[known.columns]], ignore_index=True) if len(known) else first
    rows["submitted_at"] = np.minimum(rows["subscribed_at"], rows["completed_at"])
    return _with_children(partials, stored, by_id(rows, "session"), replace=replace)


def _new_ids(editions: Column, next_numbers: pd.DataFrame) -> Column:
    """Ids of new sessions, given by edition and, within it, in the order of their first events."""
    numbers, counts = np.unique(editions, return_counts=True)
    index = index_of(next_numbers["edition"].to_numpy(), numbers)
    first = next_numbers["next_session"].to_numpy()[index]
    position = np.arange(len(editions)) - np.repeat(np.cumsum(counts) - counts, counts)
    return (editions << SESSION_BITS) + np.repeat(first, counts) + position


def next_numbers(sessions: Column) -> dict[str, Column]:
    """The number after the greatest of these session ids, by edition: edition, next_session."""
    editions, numbers = np.divmod(np.sort(sessions), 1 << SESSION_BITS)
    last = np.flatnonzero(np.diff(editions, append=-1))
    return {"edition": editions[last], "next_session": numbers[last] + 1}


def _with_children(
    partials: Partials, stored: StoredSessions, rows: pd.DataFrame, *, replace: bool
) -> BatchSessions:
    ids = by_id(rows, "session_hash")[["edition", "session"]]

    def union(old: pd.DataFrame, partial: pd.DataFrame) -> pd.DataFrame:
        partial = partial.join(ids, on="session_hash").drop(columns="session_hash")
        if replace or old.empty:
            return partial
        return pd.concat([old[partial.columns], partial], ignore_index=True)

    steps = union(stored.steps, partials.steps)
    issue = ["edition", "session", "code", "discount_id"]
    issues = union(stored.issues, partials.issues).drop_duplicates(issue)[issue]
    index = index_of(rows.index.to_numpy(), issues["session"].to_numpy())
    return BatchSessions(
        sessions=Versions(by_id(stored.sessions, "session"), rows),
        steps=Versions(stored.steps, merge_steps(steps, ["edition", "session", "step"])),
        answers=Versions(
            stored.answers,
            merge_answers(union(stored.answers, partials.answers), ["session", "field"]),
        ),
        issues=Versions(
            stored.issues,
            issues.assign(submitted_at=rows["submitted_at"].to_numpy()[index], discount=0),
        ),
    )
