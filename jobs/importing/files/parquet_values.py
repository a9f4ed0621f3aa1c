"""Columns of Parquet as values: texts and instants stay Arrow columns, other columns become Python values.

Texts come as dictionaries, at any depth. A text to which many rows or elements point is in memory once.
"""

from itertools import islice
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.files.chunk import Values

_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
# Seconds of the years 1 to 9999, the range of Python's times.
_FIRST, _END = -62_135_596_800, 253_402_300_800

# Row -> why it cannot be read.
BadRows = dict[int, str]


def values_of(name: str, column: pa.Array, bad: BadRows) -> Values:
    """The values of a column; notes the rows whose value cannot be read as bad."""
    kind = column.type
    if pa.types.is_dictionary(kind) and not is_text(kind.value_type):
        column = column.cast(kind.value_type)
        kind = column.type
    if is_text(kind):
        column = column.dictionary_encode()
    if pa.types.is_dictionary(column.type):
        return _texts(name, column, bad)
    if pa.types.is_timestamp(kind):
        return _instants(name, column, bad)
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        # 1.1 of 32 bits is 1.1, not the nearest float of 64 bits.
        column = column.cast(pa.float32()).cast(pa.string()).cast(pa.float64())
    try:
        return _python_values(column)
    except (ValueError, OverflowError):
        return [_value(name, row, value, bad) for row, value in enumerate(column)]


def _python_values(column: pa.Array) -> list[Any]:
    """As `to_pylist`, but equal texts are one object. Raises ValueError and OverflowError."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        pool = [*column.dictionary.to_pylist(), None]
        places = column.indices.fill_null(len(pool) - 1).to_pylist()
        return [pool[place] for place in places]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        items = iter(_python_values(column.flatten()))
        lengths = pc.list_value_length(column).to_pylist()
        return [None if length is None else list(islice(items, length)) for length in lengths]
    if pa.types.is_struct(kind):
        names = [kind.field(number).name for number in range(kind.num_fields)]
        if len(set(names)) == len(names):
            members = [_python_values(column.field(number)) for number in range(len(names))]
            rows = zip(*members, strict=True) if members else iter(lambda: (), None)
            valid = column.is_valid().to_pylist()
            return [
                dict(zip(names, row, strict=True)) if is_valid else None
                for is_valid, row in zip(valid, rows, strict=False)
            ]
    return column.to_pylist()


def _value(name: str, row: int, value: pa.Scalar, bad: BadRows) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError) as error:
        bad[row] = f"{name}: not readable ({error})"
        return None


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts."""
    types = pa.types
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    # Some writers do not mark their texts as texts.
    binaries = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return any(is_type(kind) for is_type in texts + binaries)


def _texts(name: str, column: pa.DictionaryArray, bad: BadRows) -> pa.DictionaryArray:
    # Parquet does not check that a text is UTF-8.
    as_bytes = column.dictionary.cast(pa.binary())
    try:
        return pa.DictionaryArray.from_arrays(column.indices, as_bytes.cast(pa.string()))
    except pa.ArrowInvalid:
        pass
    texts, broken = [], []
    for place, value in enumerate(as_bytes.to_pylist()):
        texts.append(value.decode("utf-8", "backslashreplace"))
        if texts[-1].encode() != value:
            broken.append(place)
    places = column.indices.fill_null(-1).to_numpy()
    bad.update(
        dict.fromkeys(np.flatnonzero(np.isin(places, broken)).tolist(), f"{name}: not UTF-8")
    )
    return pa.DictionaryArray.from_arrays(column.indices, pa.array(texts, pa.string()))


def _instants(name: str, column: pa.Array, bad: BadRows) -> pa.Array:
    ticks, per_second = column.cast(pa.int64()), _PER_SECOND[column.type.unit]
    if column.type.unit != "ns":  # 64 bits of nanoseconds stay within these years
        first, end = _FIRST * per_second, _END * per_second
        inside = pc.and_(pc.greater_equal(ticks, first), pc.less(ticks, end))
        for row in np.flatnonzero(pc.invert(inside).fill_null(False).to_numpy(False)).tolist():
            bad[row] = f"{name}: beyond the years 1 to 9999 ({ticks[row]})"
        column = pc.if_else(inside, column, None)
    # Nanoseconds are cut to microseconds, like the digits of a text.
    return column.cast(pa.timestamp("us", "UTC"), safe=False)
