"""Files as they come: compressed, cut short, huge, repeated, from two processes at once."""

import gzip
import json
import random
from typing import Any

import pytest
from click.testing import CliRunner

from jobs.cli import main
from jobs.importing.files import byte_blocks, chunk
from jobs.importing.files.chunk import UnreadableFile
from tests.support.commands import start_job
from tests.support.import_files import as_csv, as_ndjson, event, written
from tests.support.warehouse import Warehouse

MANY = [
    event(event_id=f"e{n}", form_session_id=f"{random.Random(n).random()}") for n in range(5000)
]


@pytest.mark.parametrize("name", ["in.ndjson.gz", "in.csv.gz"])
def test_a_truncated_archive(sqlite_warehouse: Warehouse, name: str) -> None:
    whole = gzip.compress(as_ndjson(MANY) if "ndjson" in name else as_csv(MANY))
    (sqlite_warehouse.folder / name).write_bytes(whole[: len(whole) // 2])
    counts = sqlite_warehouse.take_file("events", sqlite_warehouse.folder / name)
    assert 1000 < counts["new"] < 5000
    (reject,) = sqlite_warehouse.reasons()
    assert reject == (
        counts["new"] + 1 + name.startswith("in.csv"),
        "the archive is truncated: the rest is unreadable",
    )
    assert counts["rejected"] == 1


def test_a_damaged_archive_is_read_up_to_the_damage(sqlite_warehouse: Warehouse) -> None:
    whole = bytearray(gzip.compress(as_ndjson(MANY)))
    whole[len(whole) // 2 : len(whole) // 2 + 100] = bytes(100)
    (sqlite_warehouse.folder / "in.ndjson.gz").write_bytes(whole)
    counts = sqlite_warehouse.take_file("events", sqlite_warehouse.folder / "in.ndjson.gz")
    assert counts["new"] > 1000
    assert sqlite_warehouse.reasons()[-1][1].startswith("the archive is damaged")


def test_an_archive_of_members_with_padding(sqlite_warehouse: Warehouse) -> None:
    parts = [gzip.compress(as_ndjson(MANY[n : n + 2500])) for n in (0, 2500)]
    path = sqlite_warehouse.folder / "in.ndjson.gz"
    path.write_bytes(b"".join(parts) + bytes(512))
    assert sqlite_warehouse.take_file("events", path)["new"] == 5000
    path.write_bytes(gzip.compress(b""))
    assert sqlite_warehouse.take_file("events", path)["read"] == 0


@pytest.mark.parametrize("name", ["in.ndjson.gz", "in.csv.gz"])
@pytest.mark.parametrize("content", [b"", b"\x1f", b"{}\n", bytes(100)])
def test_no_archive_at_all(sqlite_warehouse: Warehouse, name: str, content: bytes) -> None:
    (sqlite_warehouse.folder / name).write_bytes(content)
    with pytest.raises(UnreadableFile, match=r"not a gzip file$"):
        sqlite_warehouse.take_file("events", sqlite_warehouse.folder / name)


def test_an_archive_of_which_nothing_can_be_read(sqlite_warehouse: Warehouse) -> None:
    start = gzip.compress(as_ndjson(MANY))[:8]
    for name in ("in.ndjson.gz", "in.csv.gz"):
        (sqlite_warehouse.folder / name).write_bytes(start)
    counts = sqlite_warehouse.take_file("events", sqlite_warehouse.folder / "in.ndjson.gz")
    assert (counts["read"], counts["rejected"]) == (1, 1)
    assert sqlite_warehouse.reasons() == [(1, "the archive is truncated: the rest is unreadable")]
    with pytest.raises(UnreadableFile, match="the archive is truncated"):
        sqlite_warehouse.take_file("events", sqlite_warehouse.folder / "in.csv.gz")


def test_an_archive_cut_within_a_quoted_record(sqlite_warehouse: Warehouse) -> None:
    """The lines of the record that was open belong to the part that cannot be read."""
    rows = [event(event_id="1"), event(event_id="2", customer_id="x\n" * 100 + '"y')]
    text = as_csv([{name: row.get(name, "") for name in rows[1]} for row in rows])
    path = sqlite_warehouse.folder / "in.csv.gz"
    # Stored, not deflated, so that it is known where the cut is.
    path.write_bytes(gzip.compress(text, compresslevel=0)[:-100])
    counts = sqlite_warehouse.take_file("events", path)
    assert (counts["new"], counts["rejected"]) == (1, 1)
    assert sqlite_warehouse.reasons() == [(3, "the archive is truncated: the rest is unreadable")]


def test_a_giant_line_is_left_out(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (chunk, byte_blocks):
        monkeypatch.setattr(module, "CHUNK_BYTES", 1 << 12)
    monkeypatch.setattr(byte_blocks, "MAX_LINE_BYTES", 1 << 14)
    rows = [
        event(event_id="1"),
        event(event_id="2", pad="x" * (1 << 15)),
        event(event_id="3"),
        event(event_id="4", pad="x" * 10000),
        event(event_id="5", pad="x" * (1 << 15)),
    ]
    assert sqlite_warehouse.take("events", rows)["new"] == 3
    assert sqlite_warehouse.reasons() == [(2, byte_blocks.TOO_LONG), (5, byte_blocks.TOO_LONG)]


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_chunks_make_no_difference(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for module in ("ndjson", "csv", "parquet"):
        monkeypatch.setattr(f"jobs.importing.files.{module}.CHUNK_ROWS", 7)
    rows = [*MANY[:40], event(event_id="bad", type="x"), *MANY[40:60]]
    assert sqlite_warehouse.take("events", rows, name)["new"] == 60
    ((line, reason),) = sqlite_warehouse.reasons()
    assert line == 41 + name.endswith(".csv")
    assert reason.startswith("type: 'x' is none of view, start, ")


def test_the_same_file_twice_and_duplicates_within(warehouse: Warehouse) -> None:
    rows = [
        event(event_id="1", visitor_id="first"),
        event(event_id="1", visitor_id="second"),
        event(event_id="1", visitor_id="other shop", shop_id="b.example"),
    ]
    assert warehouse.take("events", rows)["new"] == 2
    assert warehouse.take("events", rows[:1] * 2) == {
        "read": 2,
        "new": 0,
        "duplicate": 2,
        "replaced": 0,
        "rejected": 0,
    }
    found = warehouse.records("SELECT shop_key, visitor_id FROM raw_event ORDER BY shop_key")
    assert [row["visitor_id"] for row in found] == ["first", "other shop"]
    batches = warehouse.records("SELECT shop_key, rows FROM import_batch ORDER BY shop_key")
    assert [(row["shop_key"], row["rows"]) for row in batches] == [(1, 1), (2, 1)]


@pytest.mark.parametrize("name", ["in.txt", "in", "in.parquet.gz", "in.zip.gz"])
def test_an_unknown_extension(sqlite_warehouse: Warehouse, name: str) -> None:
    with pytest.raises(UnreadableFile, match="unknown extension"):
        sqlite_warehouse.take("events", b"{}", name)


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
@pytest.mark.parametrize("content", [b"", b"\n\n", b"a,a\n1,2\n"])
def test_no_header(sqlite_warehouse: Warehouse, name: str, content: bytes) -> None:
    with pytest.raises(UnreadableFile):
        sqlite_warehouse.take("events", content, name)


HEADERS = {
    "upper case": ",".join(event()).upper(),
    "spaces": " , ".join(event()),
    "two byte order marks": "\ufeff\ufeff" + ",".join(event()),
    "quoted, after a mark": "\ufeff" + ",".join(f'"{name}"' for name in event()),
    "columns without a name": ",".join(event()) + ",,",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_headers_as_programs_write_them(sqlite_warehouse: Warehouse, header: str) -> None:
    record = ",".join(event().values()) + "," * (header.count(",") - len(event()) + 1)
    counts = sqlite_warehouse.take("events", f"{header}\r\n{record}\r\n".encode(), "in.csv")
    assert (counts["new"], counts["rejected"]) == (1, 0)


def test_columns_in_upper_case_of_parquet(sqlite_warehouse: Warehouse) -> None:
    rows = [event(event_id="1"), event(event_id="2", type="x")]
    upper = [{name.upper(): value for name, value in row.items()} for row in rows]
    assert sqlite_warehouse.take("events", upper, "in.parquet")["new"] == 1
    (kept,) = sqlite_warehouse.records("SELECT text FROM reject")
    assert json.loads(kept["text"]) == rows[1]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (
            "in.csv",
            b"event_id;shop_id\n1;a.example\n",
            "columns missing: form_id, .*; the file has: event_id, shop_id$",
        ),
        ("in.csv", b"Bad gateway\n\n", "not recognised; it has the columns Bad gateway. "),
        (
            "in.csv",
            (",".join(event(type=None)) + ",a@b.example\n").encode(),
            r"columns missing: type; the file has: event_id, .*, occurred_at, \*\*\*$",
        ),
        (
            "in.csv",
            (",".join(event()) + ",Event_ID\n").encode(),
            "2 columns are named 'event_id'",
        ),
        ("in.csv", "event_id,shop_id\n".encode("utf-16"), "the file has: event_id, shop_id$"),
        ("in.csv", b'event_id,"shop_id\n', "not CSV"),
        ("in.parquet", [{"a": 1}], "columns missing: .*; the file has: a"),
        ("in.parquet", [event() | {"TYPE": "b"}], "2 columns are named 'type'"),
    ],
)
def test_columns_that_cannot_be_the_kinds(
    sqlite_warehouse: Warehouse, name: str, content: Any, reason: str
) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        sqlite_warehouse.take("events", content, name)


def test_a_header_alone(sqlite_warehouse: Warehouse) -> None:
    assert sqlite_warehouse.take("events", ",".join(event()).encode(), "in.csv")["read"] == 0
    assert sqlite_warehouse.take("events", b"", "in.ndjson")["read"] == 0


def test_two_imports_of_the_same_rows_at_once(warehouse: Warehouse) -> None:
    rows = list(MANY)
    paths = []
    for number in range(2):
        random.Random(number).shuffle(rows)
        paths.append(str(written(warehouse.folder / f"{number}.ndjson", rows)))
    running = [
        start_job(warehouse.url, "import", "events", *order, "--json")
        for order in (paths, paths[::-1])
    ]
    assert [(one.wait(), one.errors) for one in running] == [(0, ""), (0, "")]
    assert warehouse.records("SELECT COUNT(*) AS n FROM raw_event") == [{"n": 5000}]
    assert warehouse.records("SELECT CAST(SUM(rows) AS INTEGER) AS n FROM import_batch") == [
        {"n": 5000}
    ]


def test_exit_status_and_output(sqlite_warehouse: Warehouse) -> None:
    path = written(sqlite_warehouse.folder / "in.ndjson", [event(), event(type="x")])
    command = start_job(sqlite_warehouse.url, "import", "events", str(path), "--json")
    assert (command.wait(), command.errors) == (3, "")
    assert command.output.splitlines() == [
        f"{path}:2 type: 'x' is none of view, start, step_view, step_complete, answer, subscribe, "
        "complete",
        "1 rejected; list them all with: python -m jobs rejects",
        "not in the figures yet, and no scheduler runs: `python -m jobs rollup` computes them",
        '{"read": 2, "new": 1, "duplicate": 0, "replaced": 0, "rejected": 1}',
    ]
    (sqlite_warehouse.folder / "no.ndjson.gz").write_bytes(b"{}")
    for words, status in (
        (("events", "gone.ndjson"), 1),
        (("events", str(path), str(sqlite_warehouse.folder / "no.ndjson.gz")), 1),
        (("events", "in.txt"), 1),
        (("sales", str(path)), 2),
        (("events",), 2),
    ):
        done = CliRunner().invoke(
            main, ["import", *words], env={"WAREHOUSE_URL": sqlite_warehouse.url}
        )
        assert (done.exit_code, done.stdout) == (status, "")
        err = done.stderr
        assert err.startswith("Error: ") and err.count("\n") == 1 if status == 1 else err
