"""Form sessions: partial ones folded into the working set, with their steps, answers and issues."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from jobs.codes import Column, lookup
from jobs.facts import store
from jobs.facts.fold import Partials, least_steps
from jobs.facts.frames import by_id
from jobs.facts.merge import merge_answers, merge_sessions
from jobs.facts.working import DERIVED, SESSION, Working, session_ids
from warehouse import tables
from warehouse.days import NEVER


@dataclass
class Children:
    """Old and new rows of the folded sessions: `steps`, `answers`, `issues` by session."""

    old_steps: pd.DataFrame
    new_steps: pd.DataFrame
    old_answers: pd.DataFrame
    new_answers: pd.DataFrame
    old_issues: pd.DataFrame
    new_issues: pd.DataFrame


def fold_sessions(
    work: Working, partials: Partials, *, afresh: bool
) -> tuple[np.ndarray, Children]:
    """Fold partial sessions into the working set; returns their ids and children.

    `afresh`: the partials are of all events of their sessions, and replace what is stored.
    """
    partial = partials.sessions
    partial = partial.iloc[np.lexsort((partial["first_at"], partial["edition"]))]
    partial = partial.reset_index(drop=True)
    stored = store.load(work.bulk, tables.fact_form_session, partial[["edition", "natural"]])
    work.bring(stored[SESSION])
    places = lookup(stored["natural"].to_numpy(), partial["natural"].to_numpy())
    before = stored.iloc[places[places >= 0]].reset_index(drop=True)
    fresh = partial[places < 0].assign(session=0, submitted_at=NEVER, **dict.fromkeys(DERIVED, 0))
    fresh["session"] = _new_ids(work, fresh["edition"].to_numpy())
    folded = partial[places >= 0].reset_index(drop=True)
    if afresh:
        kept = ["session", "submitted_at", *DERIVED]
        merged = folded.assign(**{name: before[name] for name in kept})
    else:
        merged = merge_sessions(before, folded)
    rows = pd.concat([merged, fresh[merged.columns]], ignore_index=True) if len(merged) else fresh
    rows["submitted_at"] = np.minimum(rows["subscribed_at"], rows["completed_at"])
    rows = by_id(rows, "session")
    work.put_sessions(rows)
    return rows.index.to_numpy(), _children(work, partials, before, rows, afresh=afresh)


def _new_ids(work: Working, editions: Column) -> Column:
    """Ids for new sessions, which come by edition, in the order of their first events."""
    numbers, counts = np.unique(editions, return_counts=True)
    columns = ["edition", "next_session"]
    known = store.load(work.bulk, tables.edition, {"edition": numbers}, columns=columns)
    firsts = known["next_session"].to_numpy()[lookup(known["edition"].to_numpy(), numbers)]
    behind = np.arange(len(editions)) - np.repeat(np.cumsum(counts) - counts, counts)
    return session_ids(editions, np.repeat(firsts, counts) + behind)


def _children(
    work: Working, partials: Partials, before: pd.DataFrame, rows: pd.DataFrame, *, afresh: bool
) -> Children:
    keys = before[["edition", "session"]]
    by_natural = by_id(rows, "natural")[["edition", "session"]]

    def placed(partial: pd.DataFrame) -> pd.DataFrame:
        return partial.join(by_natural, on="natural").drop(columns="natural")

    def joined(old: pd.DataFrame, partial: pd.DataFrame) -> pd.DataFrame:
        return (
            partial
            if afresh or old.empty
            else pd.concat([old[partial.columns], partial], ignore_index=True)
        )

    old_steps = store.load(work.bulk, tables.fact_step, keys)
    old_answers = store.load(work.bulk, tables.fact_answer, keys)
    old_issues = store.load(work.bulk, tables.fact_issue, keys)
    issues = placed(partials.issues)
    key = ["edition", "session", "code", "discount_id"]
    issues = joined(old_issues, issues).drop_duplicates(key)[key]
    places = lookup(rows.index.to_numpy(), issues["session"].to_numpy())
    return Children(
        old_steps=old_steps,
        new_steps=least_steps(
            joined(old_steps, placed(partials.steps)), ["edition", "session", "step"]
        ),
        old_answers=old_answers,
        new_answers=merge_answers(joined(old_answers, placed(partials.answers))),
        old_issues=old_issues,
        # The discount of an issue is derived (discounts.py).
        new_issues=issues.assign(submitted_at=rows["submitted_at"].to_numpy()[places], discount=0),
    )
