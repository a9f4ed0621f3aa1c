"""`forget` lists the files of the landing folder that still name the person, however it is packed."""

import gzip
import io
import json
import os
import zipfile
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.dropped import spreadsheet
from tests.support.import_files import as_ndjson, order
from tests.support.job_commands import SHOP, Commands

ADA = "Ada+news@mail.example"
PLAIN = sha256(ADA.lower().encode()).hexdigest()
OTHERS = "Id,Email\n1,bob@mail.example\n"


def zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("orders.csv", content)
    return file.getvalue()


def parquet(*texts: str) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"email": texts, "more": [[text] for text in texts]}), file)
    return file.getvalue()


def listed(commands: Commands, *identifier: str) -> list[str]:
    """The files that `forget` lists, which are those of a dry run, too."""
    command = ("forget", "--shop", "a.example", *identifier)
    lines = commands(*command, "--dry-run").splitlines()[1:]
    assert commands(*command).splitlines()[1:] == lines
    start = "still named in "
    paths = [Path(line.removeprefix(start)) for line in lines if line.startswith(start)]
    assert not paths or lines[-1] == (
        f"{len(paths)} file{'' if len(paths) == 1 else 's'} of {commands.landing} still name the person: "
        "delete them, or those of their rows"
    )
    return [str(path.relative_to(commands.landing)) for path in paths]


@pytest.fixture
def commands(sqlite_commands: Commands) -> Commands:
    sqlite_commands.take("shops", [SHOP, {**SHOP, "shop_id": "b.example"}])
    return sqlite_commands


def test_wherever_they_are(commands: Commands) -> None:
    content = f"Id,Email\n1,{ADA.lower()}\n".encode()
    commands.land("orders/done", "a.csv", content)
    commands.land("orders/failed", "b.csv", content)
    commands.land("orders", ".c.part", content)
    commands.land("orders/shopify-csv/a.example", "d.csv", content)
    # Another shop's person, other persons, and what no file of ours is.
    commands.land("orders/shopify-csv/b.example", "e.csv", content)
    commands.land("orders", "f.csv", OTHERS.encode())
    commands.land("lunch", "g.csv", content)
    outside = commands.folder / "outside.csv"
    outside.write_bytes(content)
    (commands.landing / "orders" / "h.csv").symlink_to(outside)
    os.mkfifo(commands.landing / "orders" / "i.csv")
    assert sorted(listed(commands, "--email", ADA)) == [
        "orders/.c.part",
        "orders/done/a.csv",
        "orders/failed/b.csv",
        "orders/shopify-csv/a.example/d.csv",
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", ADA.encode()),
        ("a.csv", ADA.upper().encode()),
        ("a.csv", ADA.encode("utf-16")),
        ("a.ndjson", rb'{"email": "ada\u002Bnews\u0040mail.example"}'),
        ("a.ndjson", b'{"url": "https://x/?e=ada%2bnews%40mail.example"}'),
        ("a.ndjson", json.dumps({"email_sha256": PLAIN}).encode()),
        ("a.csv.gz", gzip.compress(b"-" * 3_000_000 + ADA.encode() + b"-" * 9)),
        ("a.zip", zipped(b"-" * 3_000_000 + ADA.encode())),
        ("a.parquet", parquet("bob@mail.example", ADA)),
        ("a.xlsx", spreadsheet(f"Id,Email\n1,{ADA}\n".encode())),
    ],
    ids=["plain", "upper", "utf-16", "json", "url", "hash", "gz", "zip", "parquet", "xlsx"],
)
def test_however_they_are_written(commands: Commands, name: str, content: bytes) -> None:
    commands.land("orders/done", name, content)
    commands.land("orders/done", f"other-{name}", parquet("x") if "parquet" in name else b"")
    assert listed(commands, "--email", ADA) == [f"orders/done/{name}"]


def test_by_a_hash(commands: Commands) -> None:
    """The hash that `forget` shows of an order's address: files with the address itself need the address."""
    commands.take("orders", [order(email=ADA, customer_id="c7")])
    shown = commands("forget", "--shop", "a.example", "--customer", "c7", "--dry-run")
    keyed = shown.rpartition("--email ")[2].strip()
    assert keyed.startswith("hmac:")
    for name, text in (("a.csv", keyed), ("b.csv", PLAIN), ("c.csv", ADA)):
        commands.land("orders/done", name, text.encode())
    assert listed(commands, "--email", keyed) == ["orders/done/a.csv"]
    assert listed(commands, "--email", PLAIN) == ["orders/done/a.csv", "orders/done/b.csv"]
    assert len(listed(commands, "--email", ADA)) == 3


def test_an_id_is_no_part_of_another(commands: Commands) -> None:
    rows = [order(order_id="1", customer_id="17"), order(order_id="2", customer_id="170")]
    for number, row in enumerate(rows):
        commands.land("orders/done", f"{number}.ndjson", as_ndjson([row]))
    commands.land("orders/done", "gid.jsonl", b'{"customer": "gid:\\/\\/shopify\\/Customer\\/17"}')
    assert listed(commands, "--customer", "17") == [
        "orders/done/0.ndjson",
        "orders/done/gid.jsonl",
    ]
    assert listed(commands, "--visitor", "18") == []


def test_a_file_that_cannot_be_read_is_told(commands: Commands) -> None:
    commands.land("orders/failed", "a.zip", b"no zip")
    commands.land("orders/failed", "b.csv.gz", gzip.compress(OTHERS.encode())[:-9])
    commands.land("orders/failed", "c.parquet", b"no parquet")
    printed = commands("forget", "--shop", "a.example", "--email", ADA)
    told = [line for line in printed.splitlines() if line.startswith("not looked through: ")]
    place = commands.landing / "orders" / "failed"
    for name, line in zip(("a.zip", "b.csv.gz", "c.parquet"), told, strict=True):
        assert line.startswith(f"not looked through: {place / name}: ")
        assert "/proc/" not in line


def test_a_table_that_windows_wrote(commands: Commands) -> None:
    commands.land("orders/done", "w.csv", "Id,Email\n1,böb@mail.example\n".encode("cp1252"))
    assert listed(commands, "--email", "böb@mail.example") == ["orders/done/w.csv"]
