"""Archives and tables that hold nothing, or are damaged: one line that names the file and the cause."""

import gzip
import io
import zipfile

import pytest

from jobs.importing.files.chunk import UnreadableFile
from tests.support import hostile_files as hostile
from tests.support.import_files import ECB, as_ndjson, event
from tests.support.warehouse import Warehouse


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as made:
        for name, content in members:
            made.writestr(name, content)
    return buffer.getvalue()


GOOD = archive(("eurofxref-hist.csv", ECB * 50))
HEADER = b"Date,USD,JPY,\n"


def test_a_table_with_a_header_alone_is_empty(sqlite_warehouse: Warehouse) -> None:
    for name, content in {
        "a.csv": HEADER,
        "b.zip": archive(("a.csv", HEADER)),
        "c.csv.gz": gzip.compress(HEADER),
    }.items():
        path = sqlite_warehouse.folder / name
        path.write_bytes(content)
        assert sqlite_warehouse.take_file("exchange-rates", path)["read"] == 0, name


def test_dates_alone_have_no_rates(sqlite_warehouse: Warehouse) -> None:
    path = sqlite_warehouse.folder / "in.csv"
    path.write_bytes(b"Date\n2026-01-02\n")
    assert sqlite_warehouse.take_file("exchange-rates", path, None, "ecb")["read"] == 0


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not readable as a zip archive"),
        (b"PK", "not readable as a zip archive"),
        (GOOD[: len(GOOD) // 2], "not readable as a zip archive"),
        (GOOD[:60] + bytes(40) + GOOD[100:], "not readable as a zip archive"),
        (archive(), "the zip has no file"),
        (
            archive(("a.csv", ECB), ("b.csv", b"Date,USD\n")),
            "tables with different columns; unpack it",
        ),
        (archive(("a.csv", ECB), method=zipfile.ZIP_LZMA), "another method than deflate"),
        (archive(("a.csv", ECB), method=zipfile.ZIP_BZIP2), "another method than deflate"),
        (archive(("a.zip", GOOD)), "its content is a spreadsheet or an archive"),
    ],
    ids=["nothing", "two bytes", "cut", "zeros", "no file", "two", "lzma", "bzip2", "nested"],
)
@pytest.mark.parametrize("named", ["", "ecb"])
def test_a_zip_that_cannot_be_read(
    sqlite_warehouse: Warehouse, content: bytes, why: str, named: str
) -> None:
    path = sqlite_warehouse.folder / "in.zip"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=rf"in\.zip: .*{why}"):
        sqlite_warehouse.take_file("exchange-rates", path, None, named)


def test_a_wrong_checksum(sqlite_warehouse: Warehouse) -> None:
    whole = bytearray(gzip.compress(as_ndjson([event()])))
    whole[-6] ^= 1
    path = sqlite_warehouse.folder / "in.ndjson.gz"
    path.write_bytes(whole)
    counts = sqlite_warehouse.take_file("events", path)
    ((_, reason),) = sqlite_warehouse.reasons()
    assert counts["rejected"] == 1
    assert reason.startswith("the archive is damaged (CRC check failed")


def test_an_archive_that_packs_an_archive(sqlite_warehouse: Warehouse) -> None:
    path = sqlite_warehouse.folder / "in.ndjson.gz"
    hostile.gzipped(path, [gzip.compress(as_ndjson([event()]))])
    assert sqlite_warehouse.take_file("events", path)["new"] == 0
    assert {reason for _, reason in sqlite_warehouse.reasons()} <= {"not JSON", "not UTF-8"}
