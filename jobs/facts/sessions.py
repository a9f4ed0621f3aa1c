"""Form sessions: those of a batch, derived from all their events, in place of what is stored of them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.arrays.group_keys import Column, index_of, sorted_unique
from jobs.facts.changes import SESSION, SESSION_DERIVED, Versions, by_id
from jobs.facts.partials import Partials
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

    - `sessions`: rows of fact_form_session by session id; in the new version the columns SESSION_DERIVED are
      still those stored, 0 of a new session
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


def batch_sessions(partials: Partials, stored: StoredSessions) -> BatchSessions:
    """The sessions of partial facts, which have all their events, before and after."""
    partial = partials.sessions
    partial = partial.iloc[np.lexsort((partial["first_at"], partial["edition"]))]
    index = index_of(stored.sessions["session_hash"].to_numpy(), partial["session_hash"].to_numpy())
    numbers = _with_last(stored.sessions["session"], 0)[index]
    is_new = index < 0
    numbers[is_new] = _new_ids(partial["edition"].to_numpy()[is_new], stored.next_numbers)
    rows = partial.assign(
        session=numbers,
        submitted_at=np.minimum(partial["subscribed_at"], partial["completed_at"]),
        **{name: _with_last(stored.sessions[name], 0)[index] for name in SESSION_DERIVED},
    )
    rows = by_id(rows[SESSION], "session")
    return BatchSessions(
        Versions(by_id(stored.sessions, "session"), rows), *_children(partials, stored, rows)
    )


def _with_last(column: pd.Series, last: int) -> Column:
    """A column, with a value for the index -1."""
    return np.append(column.to_numpy(np.int64), last)


def _children(
    partials: Partials, stored: StoredSessions, rows: pd.DataFrame
) -> tuple[Versions, Versions, Versions]:
    """Steps, answers and issues of these sessions."""
    hashes = rows["session_hash"].to_numpy()

    def of(partial: pd.DataFrame) -> tuple[pd.DataFrame, Column]:
        index = index_of(hashes, partial["session_hash"].to_numpy())
        own = {name: rows[name].to_numpy()[index] for name in ("edition", "session")}
        return partial.drop(columns="session_hash").assign(**own), index

    issues, index = of(partials.issues)
    return (
        Versions(stored.steps, of(partials.steps)[0]),
        Versions(stored.answers, of(partials.answers)[0]),
        Versions(
            stored.issues,
            issues.assign(submitted_at=rows["submitted_at"].to_numpy()[index], discount=0),
        ),
    )


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
