"""Parquet as portions: texts and instants stay Arrow columns, all else becomes Python values."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.importing.portion import BYTES, ROWS, Broken, Portion, Unreadable, Values


def portions(path: Path, fields: Sequence[str], _private: frozenset[str]) -> Iterator[Portion]:
    """The file's rows with these fields; a line number is the number of the row, from 1.

    Raises OSError, and Unreadable where it is no Parquet file.
    """
    try:
        file = pq.ParquetFile(path, pre_buffer=False)
    except (pa.ArrowException, ValueError) as error:
        raise Unreadable(f"{path}: not a Parquet file ({error})") from error
    with file:
        wanted = [name for name in file.schema_arrow.names if name in fields]
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
            lines = np.arange(done + 1, done + 1 + batch.num_rows, dtype=np.int64)
            done += batch.num_rows
            yield _portion(batch, lines, size * done // max(total, 1))


def _rows_at_once(metadata: Any) -> int:
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    widest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    return max(min(ROWS, BYTES * 4 // max(widest, 1)), 100)


def _portion(batch: pa.RecordBatch, lines: np.ndarray, position: int) -> Portion:
    columns = dict(zip(batch.schema.names, map(_values, batch.columns), strict=True))
    return Portion(columns, lines, lambda i: _text(batch, i), textual=True, position=position)


def _values(column: pa.Array) -> Values:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_timestamp(kind):
        # Nanoseconds are cut to microseconds, like the digits of a text.
        return column.cast(pa.timestamp("us", "UTC"), safe=False)
    return column if pa.types.is_string(kind) else column.to_pylist()


def _text(batch: pa.RecordBatch, row: int) -> str:
    found = batch.slice(row, 1).to_pylist()[0]
    given = {name: value for name, value in found.items() if value is not None}
    return json.dumps(given, ensure_ascii=False, default=_written)


def _written(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
