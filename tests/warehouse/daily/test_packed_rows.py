"""Packed rows: what goes in comes out."""

from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.catalogue import SUMMARIES, SUMMARY, WIDTHS, Summary
from warehouse.daily.packed_rows import layout, pack, unpack, unpack_bytes

PACKED = [summary for summary in SUMMARIES if summary.packed_dims]


def number_of(name: str) -> st.SearchStrategy[int]:
    """A number that fits into a column. Few values, so that rows share a key."""
    least = -(2 ** (8 * WIDTHS.get(name, 8) - 1))
    return st.sampled_from([least, -1, 0, 1, -least - 1])


def rows_of(summary: Summary, values: Sequence[tuple[int, ...]]) -> pa.Table:
    columns = zip(*values, strict=True) if values else [[] for _ in summary.columns]
    return pa.table(
        {
            name: pa.array(list(column), pa.int64())
            for name, column in zip(summary.columns, columns, strict=True)
        }
    )


@pytest.mark.parametrize("summary", PACKED, ids=lambda summary: summary.name)
@settings(deadline=None)
@given(data=st.data())
def test_packing_loses_nothing(summary: Summary, data: st.DataObject) -> None:
    dims = len(summary.columns) - len(summary.measures)
    rows = st.tuples(*map(number_of, summary.columns))
    values = data.draw(st.lists(rows, max_size=12, unique_by=lambda row: row[:dims]))
    packed = pack(summary, rows_of(summary, values))
    assert sorted(zip(*unpack(summary, packed).to_pydict().values(), strict=True)) == sorted(values)
    keys = list(zip(*(packed[name].to_pylist() for name in summary.key), strict=True))
    assert keys == sorted(set(keys))


def test_bytes_are_unpacked_with_the_row_of_each_line() -> None:
    summary = SUMMARY["utm_submission"]
    rows = [(1, 8, 5, 2), (1, 7, 6, 3), (1, 7, 5, 4)]
    blobs = pack(summary, rows_of(summary, rows))["packed_dims"].to_pylist()
    lines, row_of_line = unpack_bytes(summary, blobs)
    assert lines.tolist() == [(5, 4), (6, 3), (5, 2)]
    assert row_of_line.tolist() == [0, 0, 1]


def test_a_slice_of_packed_rows_is_unpacked_alone() -> None:
    summary = SUMMARY["utm_submission"]
    packed = pack(summary, rows_of(summary, [(1, 7, 5, 4), (1, 8, 5, 2), (1, 9, 6, 1)]))
    assert unpack(summary, packed.slice(1, 1)).to_pydict() == {
        "edition": [1],
        "day": [8],
        "utm": [5],
        "submissions": [2],
    }


def test_a_number_that_does_not_fit_is_refused() -> None:
    summary = SUMMARY["utm_submission"]
    refused = r"a number of daily_utm_submission\.submissions does not fit into 32 bits"
    with pytest.raises(OverflowError, match=refused):
        pack(summary, rows_of(summary, [(1, 7, 5, 2**31)]))


def test_codes_and_counts_take_half_the_space_of_ids_and_money() -> None:
    columns = layout(SUMMARY["response_outcome"])
    wide = [name for name in columns.names or () if columns[name].itemsize == 8]
    assert wide == ["field", "value", "gross", "refunded"]
    assert columns.itemsize == 4 * 8 + 3 * 4
