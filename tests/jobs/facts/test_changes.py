"""Versions of rows by id."""

import pandas as pd

from jobs.facts.changes import Versions, by_id


def rows(*ids: int) -> pd.DataFrame:
    return by_id(pd.DataFrame({"order": pd.array(ids, "int64")}), "order")


def test_two_ids_are_no_range() -> None:
    ids = [-(3 << 61), -(1 << 61)]
    indexed = rows(*ids)
    assert not isinstance(indexed.index, pd.RangeIndex)
    assert indexed.index.tolist() == ids
    assert indexed["order"].loc[ids[1]] == ids[1]


def test_no_ids_are_an_index_of_numbers() -> None:
    assert by_id(pd.DataFrame({"order": []}), "order").index.dtype == "int64"


def test_unchanged_rows_are_added_once_and_replace_nothing() -> None:
    # Row 1 is gone, row 3 is new: neither comes back in the other version.
    versions = Versions(rows(1, 2), rows(2, 3)).plus(rows(1, 2, 3, 4), rows(4))
    assert versions.old.index.tolist() == [1, 2, 4]
    assert versions.new.index.tolist() == [2, 3, 4]
    assert Versions(rows(1, 2), rows(2, 3)).of(rows(2).index).old.index.tolist() == [2]
