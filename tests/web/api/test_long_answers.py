"""Answers of many rows are worked on in chunks, and are what they would be at once."""

from random import Random
from typing import Any

import numpy as np
import orjson
import pytest

from web.api.long_answers import encode, in_order
from web.api.row_limit import first_rows

ROWS = [{"value": f'{number}"\\u0000[]', "rows": [number]} for number in range(1_234)]


@pytest.mark.parametrize(
    "data",
    [
        [],
        ROWS,
        ROWS[:1],
        {"dimension": 'form":[]', "rows": ROWS},
        {"rows": ROWS, "unavailableProviders": [{"rows": []}]},
        {"rows": [], "attributionCoverage": {"meta": None}},
        {"views": 3, "stages": [1, 2]},
        {},
    ],
)
def test_json_in_chunks_is_the_json(data: Any) -> None:
    encoded = encode(data)
    text = b"".join(encoded.pieces())
    assert text == orjson.dumps(data)
    assert encoded.data() == data
    assert max(map(len, encoded.chunks), default=0) < 40_000


def test_texts_are_sorted_as_at_once() -> None:
    draw = Random(3)
    texts = [(draw.choice("abc\U0001f600\uffff"), str(draw.randrange(900))) for _ in range(5_000)]
    assert in_order(texts) == sorted(texts)


@pytest.mark.parametrize("limit", [1, 7, 400, 2_999, 3_000])
def test_the_first_of_many_equal_rows_are_those_whose_texts_come_first(limit: int) -> None:
    """They are cut again and again while texts are read: at most twice as many are in memory."""
    texts = [(str(number),) for number in range(3_000)]
    Random(limit).shuffle(texts)
    shown, found = first_rows(
        3_000, [np.zeros(3_000, dtype=np.int64)], lambda rows: (texts[row] for row in rows), limit
    )
    assert found == sorted(texts)[:limit]
    assert [texts[row] for row in shown] == found
