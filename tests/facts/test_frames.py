import pandas as pd

from jobs.facts.frames import by_id


def test_two_ids_are_no_range() -> None:
    ids = [-(3 << 61), -(1 << 61)]
    found = by_id(pd.DataFrame({"order": ids, "gross": [1, 2]}), "order")
    assert not isinstance(found.index, pd.RangeIndex)
    assert found.index.tolist() == ids
    assert found["gross"].loc[ids[1]] == 2


def test_no_ids_are_an_index_of_numbers() -> None:
    assert by_id(pd.DataFrame({"order": []}), "order").index.dtype == "int64"
