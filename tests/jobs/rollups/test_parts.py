import numpy as np
import pytest

from jobs.arrays.group_keys import Column, group_keys, index_of
from jobs.rollups.parts import part, total
from tests.support.rollup_frames import rows
from warehouse.domain.time import NO_DAY


def column(*values: int) -> Column:
    return np.array(values, dtype=np.int64)


def orders(**columns: Column) -> dict[str, Column]:
    return {"edition": column(1, 1), "day": column(5, 5), "type": column(2, 2), **columns}


def test_parts_meet_in_one_row() -> None:
    result = total(
        "attribution",
        part(orders(), orders=1),
        part(orders(type=column(2, 3), paid=column(40, 50)), gross="paid"),
        part(orders(), type=3, refunded=column(7, 8)),
    )
    assert rows("attribution", result) == [
        {"edition": 1, "day": 5, "type": 2, "orders": 2, "gross": 40},
        {"edition": 1, "day": 5, "type": 3, "gross": 50, "refunded": 15},
    ]


def test_rows_without_a_day_are_left_out() -> None:
    result = total("attribution", part(orders(day=column(5, NO_DAY)), orders=1, gross=column(3, 4)))
    assert rows("attribution", result) == [
        {"edition": 1, "day": 5, "type": 2, "orders": 1, "gross": 3}
    ]


@pytest.mark.parametrize(
    "values", [(0, 65_535), (-(2**63), 2**63 - 1), (NO_DAY, 0)], ids=["near", "far", "mixed"]
)
def test_keys_of_many_columns_stay_apart(values: tuple[int, int]) -> None:
    # Every combination of 0 and 1 in twelve columns: more room than one integer has.
    bits = np.arange(2**12)
    keys = [np.array(values, dtype=np.int64)[bits >> place & 1] for place in range(12)]
    groups = group_keys(*keys, *keys).dense()
    assert groups.size == 2**12
    assert (groups.any_row()[groups.keys] == bits).all()


def test_a_key_that_is_not_there_has_no_place() -> None:
    assert index_of(column(30, 10, 20), column(20, 40, 30)).tolist() == [2, -1, 0]
    assert index_of(column(), column(1)).tolist() == [-1]
