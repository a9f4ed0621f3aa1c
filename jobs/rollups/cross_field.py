"""Which answers go together: submissions by the values that they chose in two fields."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd

from jobs.codes import Column, code, lookup
from jobs.columns import Source, ints, take
from jobs.facts.frames import Facts
from jobs.rollups.submissions import submissions
from warehouse.catalogue import SUMMARY

_COLUMNS: Final = SUMMARY["cross_field"].columns


def rollup(facts: Facts) -> pd.DataFrame:
    """Submissions that answered both fields with values that can be aggregated, by both values.

    On the submission's day. A pair of fields is counted once, as (smaller id, greater id). Where
    several values were chosen, every combination counts.

    Answers make many more pairs than there are answers, so a pair is one integer: the code of one
    answer's (edition, day, form, field, value), that of the other's (field, value), and as the last
    bit whether the submission converted. Sorted, equal pairs stand together.
    """
    answers = _chosen(submissions(facts.sessions), facts.answers)
    ours = code(*(answers[name] for name in ("edition", "day", "form", "field", "value"))).dense()
    theirs = code(answers["field"], answers["value"]).dense()
    a, b = _pairs(answers["session"], answers["field"])
    pairs = (ours.codes[a] * theirs.size + theirs.codes[b]) * 2 + answers["converted"][a]
    pairs.sort()
    starts = np.flatnonzero(np.diff(pairs >> 1, prepend=-1))
    place_a, place_b = np.divmod(pairs[starts] >> 1, max(theirs.size, 1))
    place_a, place_b = ours.places()[place_a], theirs.places()[place_b]
    columns = take(answers, place_a, ["edition", "day", "form"]) | {
        "field_a": answers["field"][place_a],
        "field_b": answers["field"][place_b],
        "value_a": answers["value"][place_a],
        "value_b": answers["value"][place_b],
        "submissions": np.diff(starts, append=len(pairs)),
        "converted": np.add.reduceat(pairs & 1, starts) if len(starts) else starts,
    }
    return pd.DataFrame({name: columns[name] for name in _COLUMNS}, copy=False)


def _chosen(submitted: Mapping[str, Column], answers: pd.DataFrame) -> Source:
    """The chosen values of submissions, sorted by submission and field."""
    answers = answers[answers["value"] != 0]
    place = lookup(submitted["session"], ints(answers, "session"))
    order = np.lexsort((ints(answers, "field"), place))
    order = order[place[order] >= 0]
    chosen = take(answers, order, ["session", "field", "value"])
    return chosen | take(submitted, place[order], ["edition", "day", "form", "converted"])


def _pairs(session: Column, field: Column) -> tuple[Column, Column]:
    """Every two rows of one session with different fields, that of the smaller field first.

    The rows are sorted, so a row's partners lie in one run: from the end of its field to the end of
    its session.
    """
    ends_field = _run_ends(session, field)
    partners = _run_ends(session) - ends_field
    a = np.repeat(np.arange(len(session)), partners)
    skipped = np.cumsum(partners) - partners
    b = np.arange(len(a)) + np.repeat(ends_field - skipped, partners)
    return a, b


def _run_ends(*keys: Column) -> Column:
    """For each row the end of its run of rows with equal keys."""
    last = np.ones(len(keys[0]), dtype=bool)
    last[:-1] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    ends = np.flatnonzero(last) + 1
    return np.repeat(ends, np.diff(ends, prepend=0))
