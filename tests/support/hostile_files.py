"""Files made to cost an import far more than their size: each function writes one, as large as asked.

`python -m tests.support.hostile_files FOLDER` writes them all at full size.
"""

import gzip
import io
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.import_files import event, order


def gzipped(path: Path, pieces: Iterable[bytes]) -> Path:
    """Pieces as one gzip file that never is in memory as a whole."""
    with gzip.open(path, "wb", compresslevel=6) as stream:
        for piece in pieces:
            stream.write(piece)
    return path


def repeated(piece: bytes, count: int) -> Iterable[bytes]:
    """A piece so many times, in blocks."""
    at_once = max((1 << 20) // len(piece), 1)
    for start in range(0, count, at_once):
        yield piece * min(at_once, count - start)


def wide_dictionary(path: Path, rows: int, value: Any, name: str = "visitor_id") -> Path:
    """A Parquet file in which all rows point to one value."""
    own: dict[str, Any] = {field: pa.array([text] * rows) for field, text in event().items()}
    column = _pointers(rows, value)
    pq.write_table(pa.table(own | {name: column}), path, compression="zstd", store_schema=False)
    return path


def _pointers(rows: int, value: Any) -> pa.Array:
    """One value (a text, a list of them, an object with one) in each row, as pointers to one text."""
    if isinstance(value, list):
        items = _pointers(rows * len(value), value[0])
        return pa.ListArray.from_arrays(pa.array(range(0, len(items) + 1, len(value))), items)
    if isinstance(value, dict):
        members = [_pointers(rows, member) for member in value.values()]
        return pa.StructArray.from_arrays(members, list(value))
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([value]))


def front_coded(path: Path, rows: int, size: int) -> Path:
    """A Parquet file whose rows share one long prefix, which it holds once."""
    own: dict[str, Any] = {field: pa.array([text] * rows) for field, text in event().items()}
    table = pa.table(own | {"visitor_id": pa.array(["x" * size] * rows, pa.large_string())})
    pq.write_table(
        table,
        path,
        compression="zstd",
        use_dictionary=False,
        column_encoding={"visitor_id": "DELTA_BYTE_ARRAY"},
        store_schema=False,
    )
    return path


def empty_rows(path: Path, rows: int) -> Path:
    """A Parquet file of rows without any value."""
    names = list(event())
    pq.write_table(
        pa.table({name: pa.nulls(rows, pa.string()) for name in names}), path, compression="zstd"
    )
    return path


def stray_quote(path: Path, lines: int, line: bytes = b"a\n") -> Path:
    """A CSV file with one quotation mark before many short lines."""
    content = [",".join(event()).encode() + b"\n", b'"stray\n', *repeated(line, lines)]
    if path.suffix == ".gz":
        return gzipped(path, content)
    path.write_bytes(b"".join(content))
    return path


def many_columns(path: Path, columns: int) -> Path:
    header = ",".join([*event(), *(f"c{number}" for number in range(columns))])
    path.write_text(header + "\n" + ",".join(event().values()) + "," * columns + "\n")
    return path


def address_lines(path: Path, size: int) -> Path:
    """One line, as JSON, of texts that begin like an e-mail address and never become one."""
    nasty = ("a" * 254 + "@" + "." * 317) * (size // 572 + 1)
    path.write_text('{"event_id": "' + nasty[:size] + '"}\n')
    return path


def long_schemas(path: Path, rows: int, size: int) -> Path:
    """A Parquet file of forms that are valid and share one long schema, which it holds once."""
    ids = [f"0190c4a2-5b7e-7c3d-8f1a-{number:012}" for number in range(rows)]
    schema = pa.array(['{"pad": "' + "x" * size + '"}'])
    columns = {
        "form_id": pa.array(ids),
        "shop_id": pa.array(["a.example"] * rows),
        "name": pa.array(["Quiz"] * rows),
        "schema": pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), schema),
    }
    pq.write_table(pa.table(columns), path, compression="zstd", store_schema=False)
    return path


def one_long_string(path: Path, size: int) -> Path:
    """A JSON list of one record that is a string without an end, nearly."""
    inner = repeated(b"x" * (1 << 20), size >> 20)
    return gzipped(path, [b'[{"id": 1, "order_number": "', *inner, b'"}]'])


def long_records(path: Path, count: int) -> Path:
    """A JSON list of records of 100 kB each."""
    record = b'{"id": 1, "created_at": "' + b"x" * 100_000 + b'"},\n'
    return gzipped(path, [b"[", *repeated(record, count), b'{"id": 1}]'])


def zipped(path: Path, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> Path:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("in.csv", content)
    path.write_bytes(buffer.getvalue())
    return path


def main(folder: Path) -> None:
    million = "x" * 1_000_000
    wide_dictionary(folder / "events_wide_1500.parquet", 1_500, million)
    wide_dictionary(folder / "events_wide_200k.parquet", 200_000, million)
    wide_dictionary(folder / "events_step_name_200k.parquet", 200_000, million, "step_name")
    wide_dictionary(folder / "events_list.parquet", 100, [million] * 20, "value")
    front_coded(folder / "events_front_coded.parquet", 1_500, 1_000_000)
    empty_rows(folder / "events_rle_30m.parquet", 30_000_000)
    stray_quote(folder / "events_stray_17m.csv", 8_900_000)
    stray_quote(folder / "events_stray_256m.csv.gz", 128_000_000)
    stray_quote(folder / "events_reopened_8m.csv", 1_600_000, b'a","\n')
    many_columns(folder / "events_columns_100k.csv", 100_000)
    address_lines(folder / "events_addresses_300k.ndjson", 300_000)
    address_lines(folder / "events_addresses_15m.ndjson", 15 << 20)
    gzipped(folder / "events_braces_33m.ndjson.gz", repeated(b"{}\n", 33_500_000))
    gzipped(folder / "events_broken_33m.ndjson.gz", repeated(b"{\n", 33_500_000))
    gzipped(folder / "events_one_line_2g.ndjson.gz", repeated(b" " * (1 << 20), 2_000))
    gzipped(
        folder / "events_long_lines.ndjson.gz",
        repeated(b'{"pad":"' + b"x" * 15_000_000 + b'"}\n', 100),
    )
    gzipped(
        folder / "events_lists.ndjson.gz",
        repeated(b'{"value":[' + b"[]," * 5_000_000 + b"1]}\n", 20),
    )
    one_long_string(folder / "orders_one_string_2g.json.gz", 2_000 << 20)
    long_records(folder / "orders_large_records.json.gz", 20_000)
    gzipped(
        folder / "orders_broken_33m.json.gz",
        [b'{"id": 1, "order_number": 1}\n', *repeated(b"{\n", 33_500_000)],
    )
    zipped(folder / "rates_lzma.zip", b"Date,USD\n", zipfile.ZIP_LZMA)
    (folder / "numbers.csv").write_text(
        ",".join(order()) + "\no1,a.example,2026-01-02T03:04:05Z," + "1" * 1_000_000 + "x\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
