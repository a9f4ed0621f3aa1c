"""Fields: one definition of each type, whatever the way in which a column is read."""

import json
import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from jobs.cli import main
from jobs.importing.files.chunk import Chunk, Values
from jobs.importing.kinds import KINDS
from jobs.importing.values import numbers
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.errors import InvalidValue
from jobs.importing.values.fields import (
    CODE,
    ID,
    INSTANT,
    NAME,
    SENT_ID,
    SHORT_TEXT,
    WHOLE,
    Field,
    FieldType,
)
from tests.support.hashing import HASHER
from tests.support.warehouse import Warehouse
from warehouse.domain.vocabulary import KEPT_WITHOUT

FAST = [ID, SENT_ID, NAME, SHORT_TEXT, INSTANT, WHOLE]
moments = [datetime(year, 1, 2, tzinfo=UTC) for year in (2026, 1999, 2000, 2100, 2101)]
texts = st.sampled_from(
    ["", "a", " ", "é" * 128, "x" * 255, "x" * 256, "é" * 256, "x" * 1001, "a\0b", "7", "-1", ".5"]
    + ["1e2", "1e1000", "2026-01-02", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05.1234567"]
    + ["1999-12-31T23:59:59Z", "2000-01-01T00:00:00Z", "2101-01-01T00:00:00Z", "2026-02-30"]
    + [" 2026-01-02T03:04:05+02:00", "9223372036854775808", "😀" * 200]
    + ["undefined", "Null", "NaN", "[object Object]", "nana", "null "]
)
whole_numbers = st.sampled_from([0, 1, -1, 2**63 - 1, 2**63, -(2**63), 10**30])
others = st.sampled_from(
    [
        True,
        False,
        1.0,
        -0.0,
        1.5,
        1e300,
        float("nan"),
        [],
        ["a"],
        {},
        datetime(2026, 1, 2, tzinfo=UTC),
    ]
)
cells = st.one_of(
    st.lists(st.none() | texts, min_size=1),
    st.lists(st.none() | whole_numbers, min_size=1),
    st.lists(st.none() | st.sampled_from(moments), min_size=1),
    st.lists(st.none() | texts | whole_numbers | others, min_size=1),
)


def read(field: Field, values: Values, *, textual: bool) -> tuple[list[Any], list[tuple[int, str]]]:
    lines = np.arange(1, len(values) + 1)
    columns = ChunkColumns(
        Chunk({field.name: values}, lines, lambda _: "", textual=textual), HASHER
    )
    column = columns.read(field).to_pylist()
    left_out = [
        (row, reason.words.removeprefix(KEPT_WITHOUT)) for row, reason in columns.incomplete()
    ]
    refused = [(row, reason.words) for row, reason in columns.refused()]
    reasons = sorted((*refused, *left_out))
    rows = {row for row, _ in reasons}
    return [None if row in rows else value for row, value in enumerate(column)], reasons


def one_by_one(type: FieldType, values: list[Any], *, textual: bool) -> list[Any]:
    """The definition: each cell by itself."""
    reader = type.read_text if textual and type.read_text else type.read
    found: list[Any] = []
    for value in values:
        try:
            result = None if value is None or value == "" else reader(value)
            found.append(type.missing if result is None else result)
        except InvalidValue as cause:
            found.append(str(cause))
    return found


@pytest.mark.parametrize("type", FAST, ids=lambda type: type.name)
@given(values=cells, textual=st.booleans(), required=st.booleans())
def test_a_column_reads_like_its_cells_one_by_one(
    type: FieldType, values: list[Any], textual: bool, required: bool
) -> None:
    field = Field("f", type, "", required=required)
    slow = replace(field, type=replace(type, read_clean=None))
    fast = read(field, values, textual=textual)
    assert fast == read(slow, values, textual=textual)
    expected = one_by_one(type, values, textual=textual)
    reasons = dict(fast[1])
    for row, (value, wanted) in enumerate(zip(fast[0], expected, strict=True)):
        if row in reasons:
            missing = required and wanted == type.missing
            assert reasons[row] == ("f: missing" if missing else f"f: {wanted}")
        else:
            assert value == wanted


@pytest.mark.parametrize("type", FAST, ids=lambda type: type.name)
@given(data=st.data())
def test_a_column_of_parquet_reads_like_its_cells(type: FieldType, data: st.DataObject) -> None:
    times = st.sampled_from(moments)
    columns = [st.none() | texts, st.none() | times]
    values = data.draw(st.one_of(*(st.lists(column, min_size=1) for column in columns)))
    is_text = all(value is None or isinstance(value, str) for value in values)
    kind = pa.string() if is_text else pa.timestamp("us", "UTC")
    array = pa.array(values, kind)
    field = Field("f", type, "")
    assert read(field, array, textual=True) == read(field, array.to_pylist(), textual=True)


@pytest.mark.parametrize(
    ("text", "whole", "decimal"),
    [
        ("12", 12, "12"),
        (" 12 ", 12, "12"),
        ("+1.", 1, "1"),
        (".5", None, "0.5"),
        (".5e1", 5, "5"),
        ("0e1000", 0, "0"),
        ("1e1000", None, None),
        ("9223372036854775807", 2**63 - 1, "9223372036854775807"),
        ("9223372036854775808", None, None),
        ("1,5", None, None),
        ("1_000", None, None),
        ("Infinity", None, None),
        ("١٢", None, None),
    ],
)
def test_a_number_written_as_text(text: str, whole: int | None, decimal: str | None) -> None:
    """The same for every field: cents, steps, impressions, spend."""
    for reader, expected in ((numbers.whole_number, whole), (numbers.decimal, decimal)):
        if expected is None:
            with pytest.raises(InvalidValue):
                reader(text)
        else:
            assert reader(text) == expected


def test_equal_cells_of_different_types_are_told_apart() -> None:
    values, refused = read(Field("f", ID, ""), [1, True, 1.0, "1"], textual=False)
    assert values == ["1", None, "1", "1"]
    assert refused == [(1, "f: true is not a text")]


def test_many_refused_cells_take_no_longer_than_few() -> None:
    rng = random.Random(1)
    values = [f"{rng.random()}-{'x' * 256}" for _ in range(50_000)]
    assert len(read(Field("f", CODE, ""), values, textual=True)[1]) == 50_000


@pytest.mark.parametrize("kind", KINDS)
def test_the_printed_example_is_imported(sqlite_warehouse: Warehouse, kind: str) -> None:
    printed = CliRunner().invoke(main, ["fields", kind], catch_exceptions=False).stdout
    *table, _, example = printed.splitlines()
    fields = [line.split("|")[1].strip() for line in table[2:]]
    assert fields == list(KINDS[kind].field_names())
    row = json.loads(example)
    assert row.keys() <= set(fields)
    assert {field.name for field in KINDS[kind].fields if field.required} <= row.keys()
    sqlite_warehouse.change("UPDATE shop SET shop_id = 'example.myshopify.com' WHERE shop_key = 1")
    counts = sqlite_warehouse.take(kind, [row])
    assert (counts["read"], counts["rejected"]) == (1, 0)
