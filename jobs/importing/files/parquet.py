"""Parquet as chunks of rows: texts and instants stay Arrow columns, others become Python values.

Texts are read as dictionaries: millions of rows may point to one text of a megabyte, which the file holds
once. So does the memory; a text is repeated only once it is checked and cut (`values/`).
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice, product
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.importing.files.chunk import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    MAX_KEPT_TEXT,
    BrokenLine,
    Chunk,
    UnreadableFile,
    Values,
    WantedColumns,
    column_names,
    rows_of,
)

# Texts that share their beginnings in the file cannot be read as dictionaries. A file that abuses that
# meets the ceiling of memory.
_FRONT_CODED: Final = frozenset(("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"))
# The fewest rows that are read at once.
_FEWEST_ROWS: Final = 100
# Bytes: a longer text is cut or refused before it is stored, unless it is JSON.
_LONG_TEXT: Final = 4_000
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
# Seconds of the years 1 to 9999, the range of Python's times.
_FIRST, _END = -62_135_596_800, 253_402_300_800

# Row -> why it cannot be read.
_BadRows = dict[int, str]


def chunks(path: Path, wanted: WantedColumns) -> Iterator[Chunk]:
    """The file's rows with the wanted columns; a line number is the number of the row, from 1.

    Raises OSError, and UnreadableFile if it is no Parquet file with the wanted columns.
    """
    try:
        with pq.ParquetFile(path) as file:
            metadata, given = file.metadata, file.schema_arrow.names
        names = dict(zip(given, column_names(path, given, wanted), strict=True))
        columns = [name for name in given if wanted.keeps_others or names[name] in wanted.names]
        # Whether each text, by its path, can be read as a dictionary.
        texts: dict[str, bool] = {}
        for group, number in product(range(metadata.num_row_groups), range(metadata.num_columns)):
            column = metadata.row_group(group).column(number)
            name = column.path_in_schema
            if column.physical_type == "BYTE_ARRAY" and name.partition(".")[0] in columns:
                can_be = _FRONT_CODED.isdisjoint(column.encodings)
                texts[name] = texts.get(name, True) and can_be
        dictionaries = [name for name, can_be in texts.items() if can_be]
        file = pq.ParquetFile(path, read_dictionary=dictionaries, pre_buffer=False)
    except (pa.ArrowException, ValueError) as error:
        if isinstance(error, UnreadableFile | MemoryError):
            raise
        raise UnreadableFile(f"{path}: not a Parquet file ({error})") from error
    with file:
        total, size, done = metadata.num_rows, path.stat().st_size, 0
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        widest = max([1, *(group.total_byte_size // max(group.num_rows, 1) for group in groups)])
        at_once = max(min(CHUNK_ROWS, CHUNK_BYTES * 4 // widest), _FEWEST_ROWS)
        batches = file.iter_batches(at_once, columns=columns, use_threads=False)
        while True:
            try:
                batch = next(batches, None)
            except MemoryError:
                raise
            except (pa.ArrowException, OSError) as error:
                why = f"the rest of the file is unreadable ({error})"
                rest = BrokenLine(done + 1, why, is_rest=True)
                yield Chunk({}, np.empty(0, np.int64), lambda _: "", broken=[rest], position=size)
                return
            if batch is None:
                return
            batch = batch.rename_columns([names[name] for name in batch.schema.names])
            for portion in _portions(batch):
                lines = np.arange(done + 1, done + 1 + portion.num_rows, dtype=np.int64)
                done += portion.num_rows
                yield _chunk(portion, lines, size * done // max(total, 1), wanted.names)


def _portions(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in parts whose long texts have some megabytes at most once they are repeated."""
    texts = [column for column in batch.columns if pa.types.is_dictionary(column.type)]
    lengths = [pc.max(pc.binary_length(text.dictionary)).as_py() or 0 for text in texts]
    if max(lengths, default=0) <= _LONG_TEXT:
        yield batch
        return
    total = np.zeros(batch.num_rows, np.int64)
    for text in texts:
        # The bytes of each row's text, if it is long and may be stored as it is.
        values = text.dictionary.cast(pa.binary())
        of_values = pc.binary_length(values).to_numpy(zero_copy_only=False)
        sizes = np.zeros(len(values) + 1, dtype=np.int64)
        for place in np.flatnonzero(of_values > _LONG_TEXT).tolist():
            begin = values[place].as_buffer()[:_LONG_TEXT].to_pybytes().lstrip()[:1]
            if begin in (b"[", b"{", b""):
                sizes[place] = of_values[place]
        total += sizes[text.indices.fill_null(len(values)).to_numpy()]
    numbers = np.cumsum(total) // CHUNK_BYTES
    starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
        yield batch.slice(start, end - start)


def _chunk(batch: pa.RecordBatch, lines: np.ndarray, position: int, wanted: Sequence[str]) -> Chunk:
    bad: _BadRows = {}
    columns = {
        name: _values_of(name, column, bad)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    broken = [BrokenLine(int(lines[row]), bad[row]) for row in sorted(bad)]
    if bad:
        good = np.array([i for i in range(len(lines)) if i not in bad], dtype=np.int64)
        columns, lines = {n: rows_of(values, good) for n, values in columns.items()}, lines[good]
    others = {name: columns.pop(name) for name in [*columns] if name not in wanted}

    def written(value: Any) -> str:
        if isinstance(value, bytes):
            return value.decode("utf-8", "backslashreplace")
        return value.isoformat() if hasattr(value, "isoformat") else str(value)

    def text(row: int) -> str:
        present, parts, size = _present(columns, row), list[str](), 0
        # Written piece by piece: a row of a few bytes may hold a list of a million long texts.
        for part in json.JSONEncoder(ensure_ascii=False, default=written).iterencode(present):
            parts.append(part)
            size += len(part)
            if size > MAX_KEPT_TEXT:
                break
        return "".join(parts)

    return Chunk(
        columns,
        lines,
        text,
        textual=True,
        broken=broken,
        position=position,
        unread=(lambda i: _present(others, i)) if others else None,
    )


def _present(columns: dict[str, Values], row: int) -> dict[str, Any]:
    cells = {name: values[row] for name, values in columns.items()}
    plain = {name: c.as_py() if isinstance(c, pa.Scalar) else c for name, c in cells.items()}
    return {name: value for name, value in plain.items() if value is not None}


def _values_of(name: str, column: pa.Array, bad: _BadRows) -> Values:
    """The values of a column; notes the rows whose value cannot be read as bad."""
    kind = column.type
    if pa.types.is_dictionary(kind) and not _is_text(kind.value_type):
        column = column.cast(kind.value_type)
        kind = column.type
    if _is_text(kind):
        column = column.dictionary_encode()
    if pa.types.is_dictionary(column.type):
        return _texts(name, column, bad)
    if pa.types.is_timestamp(kind):
        ticks, per_second = column.cast(pa.int64()), _PER_SECOND[kind.unit]
        if kind.unit != "ns":  # 64 bits of nanoseconds stay within these years
            first, end = _FIRST * per_second, _END * per_second
            inside = pc.and_(pc.greater_equal(ticks, first), pc.less(ticks, end))
            for row in np.flatnonzero(pc.invert(inside).fill_null(False).to_numpy(False)).tolist():
                bad[row] = f"{name}: beyond the years 1 to 9999 ({ticks[row]})"
            column = pc.if_else(inside, column, None)
        # Nanoseconds are cut to microseconds, like the digits of a text.
        return column.cast(pa.timestamp("us", "UTC"), safe=False)
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        # 1.1 of 32 bits is 1.1, not the nearest float of 64 bits.
        column = column.cast(pa.float32()).cast(pa.string()).cast(pa.float64())
    with suppress(ValueError, OverflowError):
        return _python_values(column)
    values: list[Any] = []
    for row, cell in enumerate(column):
        try:
            values.append(cell.as_py())
        except (ValueError, OverflowError) as error:
            bad[row] = f"{name}: not readable ({error})"
            values.append(None)
    return values


def _python_values(column: pa.Array) -> list[Any]:
    """The values of a column as `to_pylist` gives them, but equal texts are one object. Raises ValueError and
    OverflowError."""
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


def _is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts."""
    types = pa.types
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    # Some writers do not mark their texts as texts.
    binaries = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return any(is_type(kind) for is_type in texts + binaries)


def _texts(name: str, column: pa.DictionaryArray, bad: _BadRows) -> pa.DictionaryArray:
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
