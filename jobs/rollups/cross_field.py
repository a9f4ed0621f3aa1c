"""Submissions by the values that they chose in two fields."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from jobs.arrays.columns import int_column, take
from jobs.arrays.group_keys import Column, group_keys, index_of
from jobs.facts.facts import Facts
from jobs.rollups.parts import DailyRows
from jobs.rollups.submissions import submissions
from warehouse.catalogue import SUMMARY

_COLUMNS: Final = SUMMARY["cross_field"].columns
# Pairs that are counted at once: some 50 MB.
_PAIRS_AT_ONCE: Final = 300_000


def in_chunks(*versions: Facts, pairs: int = _PAIRS_AT_ONCE) -> Iterator[tuple[Facts, ...]]:
    """Versions of facts, some sessions after the others, with about so many pairs at once."""
    chosen = [
        int_column(facts.answers, "session")[int_column(facts.answers, "paired") != 0]
        for facts in versions
    ]
    sessions, values = np.unique(np.concatenate(chosen), return_counts=True)
    # A session has at most so many pairs.
    chunk = np.cumsum(values * values // 2) // pairs
    if not len(chunk) or chunk[-1] == 0:
        yield versions
        return
    for number in np.unique(chunk):
        own = sessions[chunk == number]
        yield tuple(
            replace(facts, answers=facts.answers[facts.answers["session"].isin(own)])
            for facts in versions
        )


def cross_field(facts: Facts) -> DailyRows:
    """Submissions that answered both fields with values that can be aggregated, by both values.

    On the submission's day. A pair of fields is counted once, as (smaller id, greater id). Where
    several values were chosen, every combination counts of those that count in pairs (`facts/answers.py`).

    There are many more pairs than answers, so a pair is one integer: the group key of one answer's
    (edition, day, form, field, value), that of the other's (field, value), and in the last bit
    whether the submission converted. Sorting puts equal pairs next to each other.
    """
    # The chosen values of submissions that count in pairs, sorted by submission and field.
    submitted, rows = submissions(facts.sessions), facts.answers
    rows = rows[(rows["value"] != 0) & (rows["paired"] != 0)]
    index = index_of(submitted["session"], int_column(rows, "session"))
    order = np.lexsort((int_column(rows, "field"), index))
    order = order[index[order] >= 0]
    answers = take(rows, order, ["session", "field", "value"])
    answers |= take(submitted, index[order], ["edition", "day", "form", "converted"])
    names = ("edition", "day", "form", "field", "value")
    ours = group_keys(*(answers[name] for name in names)).dense()
    theirs = group_keys(answers["field"], answers["value"]).dense()
    a, b = _pairs(answers["session"], answers["field"])
    pairs = (ours.keys[a] * theirs.size + theirs.keys[b]) * 2 + answers["converted"][a]
    pairs.sort()
    starts = np.flatnonzero(np.diff(pairs >> 1, prepend=-1))
    key_a, key_b = np.divmod(pairs[starts] >> 1, max(theirs.size, 1))
    row_a, row_b = ours.any_row()[key_a], theirs.any_row()[key_b]
    columns = take(answers, row_a, ["edition", "day", "form"]) | {
        "field_a": answers["field"][row_a],
        "field_b": answers["field"][row_b],
        "value_a": answers["value"][row_a],
        "value_b": answers["value"][row_b],
        "submissions": np.diff(starts, append=len(pairs)),
        "converted": np.add.reduceat(pairs & 1, starts) if len(starts) else starts,
    }
    return {name: columns[name] for name in _COLUMNS}


def _pairs(session: Column, field: Column) -> tuple[Column, Column]:
    """Every two rows of one session with different fields, that of the smaller field first.

    The rows are sorted by session and field, so the partners of a row reach from the end of its field
    to the end of its session.
    """
    field_end = _run_ends(session, field)
    partners = _run_ends(session) - field_end
    a = np.repeat(np.arange(len(session)), partners)
    skipped = np.cumsum(partners) - partners
    b = np.arange(len(a)) + np.repeat(field_end - skipped, partners)
    return a, b


def _run_ends(*columns: Column) -> Column:
    """The end of each row's run of rows that are equal in these columns."""
    last = np.ones(len(columns[0]), dtype=bool)
    last[:-1] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    ends = np.flatnonzero(last) + 1
    return np.repeat(ends, np.diff(ends, prepend=0))
