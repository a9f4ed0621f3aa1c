"""The answers of a form session that count: the first questions; and in pairs of questions the first choices.

Questions are in the order of their ids, and choices of an answer in that of their texts, by code point. So
what counts depends neither on the order of arrival nor on other sessions, and the tables of a form's first
questions miss no session.
"""

import numpy as np
import pandas as pd

from jobs.arrays.group_keys import Column, group_keys, index_of
from jobs.facts.read_raw import chosen_texts
from warehouse.domain.vocabulary import (
    MOST_QUESTIONS,
    PAIRED_CHOICES,
    PAIRED_CHOICES_OF_AN_ANSWER,
    PAIRED_QUESTIONS,
)


def that_count(answers: pd.DataFrame, texts: pd.DataFrame) -> pd.DataFrame:
    """Partial answers (`Partials.answers`) of the first MOST_QUESTIONS of each session, with `paired`: how
    many of an answer's choices count in pairs. `texts`: as in `RawEvents`, with those of the questions."""
    index, values = pd.factorize(answers["value"])
    choices = np.array([len(chosen_texts(value)) for value in values.tolist()], dtype=np.int64)
    paired = np.minimum(choices, PAIRED_CHOICES_OF_AN_ANSWER)[index]
    session = group_keys(answers["session_hash"].to_numpy()).dense().keys
    is_large = np.bincount(session) > PAIRED_QUESTIONS
    is_large |= np.bincount(session, paired) > PAIRED_CHOICES
    rows = np.flatnonzero(is_large[session])
    if not len(rows):
        return answers.assign(paired=paired)
    # The texts of these alone are looked up: hardly any session is large.
    known = texts.drop_duplicates("id")
    index = index_of(known["id"].to_numpy(), answers["field"].to_numpy()[rows])
    place = known["text"].iloc[index].rank(method="dense").to_numpy()
    rows = rows[np.lexsort((place, session[rows]))]
    session, choices = session[rows], paired[rows]
    is_first = _running_sum(session, (choices > 0).astype(np.int64)) <= PAIRED_QUESTIONS
    counted = np.where(is_first, choices, 0)
    others = _running_sum(session, counted) - counted
    paired[rows] = np.clip(PAIRED_CHOICES - others, 0, counted)
    beyond = _running_sum(session, np.ones_like(rows)) > MOST_QUESTIONS
    return answers.assign(paired=paired).drop(index=answers.index[rows[beyond]])


def _running_sum(groups: Column, numbers: Column) -> Column:
    """The sum of the numbers of a group up to each row. The rows are sorted by group."""
    total = np.cumsum(numbers)
    is_start = np.diff(groups, prepend=-1) != 0
    before = (total - numbers)[is_start]
    return total - np.repeat(before, np.diff(np.flatnonzero(is_start), append=len(groups)))
