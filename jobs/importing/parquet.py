"""Parquet as portions: texts and instants stay Arrow columns, all else becomes Python values."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.importing.portion import BYTES, ROWS, Broken, Portion, Unreadable, Values, column_names

_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
# Seconds of the years 1 to 9999, which is what Python's times can be.
_FIRST, _END = -62_135_596_800, 253_402_300_800

# Row -> why it cannot be read.
Bad = dict[int, str]


def portions(path: Path, fields: Sequence[str], _private: frozenset[str]) -> Iterator[Portion]:
    """The file's rows with these fields; a line number is the number of the row, from 1.

    Raises OSError, and Unreadable where it is no Parquet file.
    """
    try:
        file = pq.ParquetFile(path, pre_buffer=False)
    except (pa.ArrowException, ValueError) as error:
        raise Unreadable(f"{path}: not a Parquet file ({error})") from error
    with file:
        given = file.schema_arrow.names
        names = dict(zip(given, column_names(path, given, fields), strict=True))
        wanted = [name for name in given if names[name] in fields]
        total, size, done = file.metadata.num_rows, path.stat().st_size, 0
        batches = file.iter_batches(_rows_at_once(file.metadata), columns=wanted, use_threads=False)
        while True:
            try:
                batch = next(batches, None)
            except (pa.ArrowException, OSError) as error:
                rest = Broken(done + 1, "", f"the rest of the file is unreadable ({error})")
                yield Portion({}, np.empty(0, np.int64), lambda _: "", broken=[rest], position=size)
                return
            if batch is None:
                return
            batch = batch.rename_columns([names[name] for name in batch.schema.names])
            lines = np.arange(done + 1, done + 1 + batch.num_rows, dtype=np.int64)
            done += batch.num_rows
            yield _portion(batch, lines, size * done // max(total, 1))


def _rows_at_once(metadata: Any) -> int:
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    widest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    return max(min(ROWS, BYTES * 4 // max(widest, 1)), 100)


def _portion(batch: pa.RecordBatch, lines: np.ndarray, position: int) -> Portion:
    bad: Bad = {}
    columns = {
        name: _values(name, column, bad)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    # In a list, so that a retry does not take what is left of such a row for the row.
    broken = [Broken(int(lines[i]), f"[{_text(columns, i)}]", bad[i]) for i in sorted(bad)]
    if bad:
        good = np.array([i for i in range(len(lines)) if i not in bad], dtype=np.int64)
        columns, lines = {n: _taken(values, good) for n, values in columns.items()}, lines[good]
    return Portion(
        columns,
        lines,
        lambda i: _text(columns, i),
        textual=True,
        broken=broken,
        position=position,
    )


def _taken(values: Values, rows: np.ndarray) -> Values:
    if isinstance(values, list):
        return [values[i] for i in rows]
    return values.take(pa.array(rows))


def _values(name: str, column: pa.Array, bad: Bad) -> Values:
    """The values of a column; rows that have one which cannot be read are noted as bad."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if _is_text(kind):
        return _texts(name, column, bad)
    if pa.types.is_timestamp(kind):
        return _instants(name, column, bad)
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        # 1.1 of 32 bits is 1.1, and not the float of 64 bits that is nearest to it.
        column = column.cast(pa.float32()).cast(pa.string()).cast(pa.float64())
    try:
        return column.to_pylist()
    except (ValueError, OverflowError):
        return [_value(name, row, value, bad) for row, value in enumerate(column)]


def _value(name: str, row: int, value: pa.Scalar, bad: Bad) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError) as error:
        bad[row] = f"{name}: not readable ({error})"
        return None


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    # Some writers do not say that their texts are texts.
    more = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return any(is_one(kind) for is_one in texts + more)


def _texts(name: str, column: pa.Array, bad: Bad) -> pa.Array:
    # Parquet itself does not see to it that a text is one.
    as_bytes = column.cast(pa.binary())
    try:
        return as_bytes.cast(pa.string())
    except pa.ArrowInvalid:
        pass
    texts = []
    for row, value in enumerate(as_bytes.to_pylist()):
        text = None if value is None else value.decode("utf-8", "backslashreplace")
        if text is not None and text.encode() != value:
            bad[row] = f"{name}: not UTF-8"
        texts.append(text)
    return pa.array(texts, pa.string())


def _instants(name: str, column: pa.Array, bad: Bad) -> pa.Array:
    ticks, per_second = column.cast(pa.int64()), _PER_SECOND[column.type.unit]
    if column.type.unit != "ns":  # of which 64 bits hold no others
        first, end = _FIRST * per_second, _END * per_second
        inside = pc.and_(pc.greater_equal(ticks, first), pc.less(ticks, end))
        for row in np.flatnonzero(pc.invert(inside).fill_null(False).to_numpy(False)).tolist():
            bad[row] = f"{name}: beyond the years 1 to 9999 ({ticks[row]})"
        column = pc.if_else(inside, column, None)
    # Nanoseconds are cut to microseconds, like the digits of a text.
    return column.cast(pa.timestamp("us", "UTC"), safe=False)


def _text(columns: dict[str, Values], row: int) -> str:
    cells = {name: values[row] for name, values in columns.items()}
    found = {name: c.as_py() if isinstance(c, pa.Scalar) else c for name, c in cells.items()}
    given = {name: value for name, value in found.items() if value is not None}
    return json.dumps(given, ensure_ascii=False, default=_written)


def _written(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
