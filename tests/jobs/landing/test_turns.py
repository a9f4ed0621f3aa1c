"""A file of which nothing can be taken holds the queue for so many lines, and shops take turns."""

import gzip
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from jobs.importing import ceilings
from jobs.importing.import_file import import_steps
from jobs.landing import land, turns
from tests.support.import_files import as_ndjson, event, order, spend
from tests.support.job_commands import SHOP, Commands

STOPPED = (
    "nothing could be taken from 1000 lines in a row; what was imported before them stays. "
    "Mend the file, and import it again"
)


@pytest.fixture(autouse=True)
def few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ceilings, "MAX_FRUITLESS", 1_000)
    for bound, value in (
        *(("ndjson.CHUNK_ROWS", 100), ("csv.CHUNK_ROWS", 100)),
        *(("byte_blocks.CHUNK_BYTES", 1_000), ("csv.CHUNK_BYTES", 1_000)),
    ):
        monkeypatch.setattr(f"jobs.importing.files.{bound}", value)


def report(file: Path, outcome: str) -> str:
    content = (file.parent / outcome / f"{file.name}.report.json").read_text()
    error: str = json.loads(content)["error"] or ""
    return error


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ndjson.gz", gzip.compress(b"\n" * 200_000)),
        ("a.ndjson", b"{}\n" * 2_000),
        ("a.ndjson", b"x\n" * 2_000),
        (
            "a.csv",
            b"event_id,shop_id,form_id,form_session_id,visitor_id,type,occurred_at\n"
            + b"\n" * 5_000,
        ),
        (
            "a.csv",
            b"event_id,shop_id,form_id,form_session_id,visitor_id,type,occurred_at\n"
            + b"1,2\n" * 5_000,
        ),
    ],
    ids=["empty", "rejected", "broken", "empty-csv", "rejected-csv"],
)
def test_a_file_of_nothing_is_stopped_and_the_next_one_is_read(
    name: str, content: bytes, sqlite_commands: Commands
) -> None:
    sqlite_commands.take("shops", [SHOP])
    file = sqlite_commands.land("events", name, content)
    sqlite_commands.land("orders", "b.ndjson", as_ndjson([order()]))
    sqlite_commands("landing", status=1)
    assert report(file, "failed").endswith(STOPPED)
    assert sqlite_commands.rows("SELECT COUNT(*) FROM raw_order") == [1]


def test_rows_among_others_that_cannot_be_taken_are_taken(sqlite_commands: Commands) -> None:
    """As long as some come, whatever is between them; and what came before the end stays."""
    sqlite_commands.take("shops", [SHOP])
    rows = [as_ndjson([event(event_id=str(number))]) + b"{}\n\n" * 400 for number in range(5)]
    file = sqlite_commands.land("events", "a.ndjson", b"".join(rows))
    sqlite_commands("landing")
    assert report(file, "done") == ""
    assert sqlite_commands.rows("SELECT COUNT(*) FROM raw_event") == [5]
    more = (
        as_ndjson([event(event_id="more")]) + b"{}\n" * 2_000 + as_ndjson([event(event_id="lost")])
    )
    file = sqlite_commands.land("events", "b.ndjson", more)
    sqlite_commands("landing", status=1)
    assert report(file, "failed").endswith(STOPPED)
    assert sqlite_commands.rows("SELECT COUNT(*) FROM raw_event") == [6]


def call(number: int) -> bytes:
    """A line of the format `segment`."""
    event = {"event": "Form Viewed", "timestamp": "2026-01-02T00:00:00Z", "anonymousId": "v"}
    properties = {"form_id": "nl", "form_session_id": "s"}
    line = json.dumps(event | {"messageId": str(number), "properties": properties})
    return line.encode() + b"\n"


def imported(commands: Commands) -> list[str]:
    """The landed files in the order of their imports, each with its folder."""
    paths = commands.rows(
        f"SELECT file FROM import_file WHERE file LIKE '{commands.landing}%' ORDER BY import_id"
    )
    return [Path(path).parent.name + "/" + Path(path).name for path in paths]


def test_shops_take_turns(sqlite_commands: Commands) -> None:
    """Over all their kinds; shops and forms, which the others refer to, come first."""
    sqlite_commands.take("shops", [SHOP, {**SHOP, "shop_id": "b.example"}])
    for number, name in enumerate(("a/0", "a/1", "a/2", "b/later")):
        shop, file = name.split("/")
        landed = sqlite_commands.land(
            f"events/segment/{shop}.example", f"{file}.ndjson", call(number)
        )
        os.utime(landed, (number, number))
    orders = b"Id,Created at,Currency,Total\n"
    sqlite_commands.land("orders/shopify-csv/b.example", "orders.csv", orders)
    sqlite_commands.land("orders", "own.ndjson", as_ndjson([order()]))
    form = {"form_id": "8e03978e-40d5-43e8-bc93-6894a57f9324", "name": "Quiz"}
    sqlite_commands.land("forms", "forms.ndjson", as_ndjson([{"shop_id": SHOP["shop_id"], **form}]))
    sqlite_commands.land("shops", "shops.ndjson", as_ndjson([SHOP]))
    sqlite_commands("landing", status=1)
    assert imported(sqlite_commands) == [
        *("shops/shops.ndjson", "forms/forms.ndjson"),
        *("a.example/0.ndjson", "b.example/later.ndjson", "orders/own.ndjson"),
        *("a.example/1.ndjson", "b.example/orders.csv", "a.example/2.ndjson"),
    ]


def test_a_file_that_lands_meanwhile_waits_for_no_other_shop_s_files(
    sqlite_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_commands.take("shops", [SHOP, {**SHOP, "shop_id": "b.example"}])
    for number in range(6):
        sqlite_commands.land("events/segment/a.example", f"{number}.ndjson", call(number))
    monkeypatch.setattr(turns, "_SETTLE_SECONDS", 0)

    def importing(*arguments: Any, **named: Any) -> Generator[int, None, None]:
        yield from import_steps(*arguments, **named)
        if arguments[2].name == "1.ndjson":
            sqlite_commands.land("orders", "b.ndjson", as_ndjson([order(shop_id="b.example")]))

    monkeypatch.setattr(land, "import_steps", importing)
    sqlite_commands("landing")
    # At most until the next look, not until all others are imported.
    assert imported(sqlite_commands).index("orders/b.ndjson") < 6
    assert len(imported(sqlite_commands)) == 7


@pytest.fixture
def short_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A portion is one chunk."""
    monkeypatch.setattr(land, "_TURN_SECONDS", 0)


def many_events(shop_id: str) -> bytes:
    return as_ndjson([event(event_id=str(number), shop_id=shop_id) for number in range(500)])


def ends(commands: Commands) -> list[str]:
    """The landed files in the order in which their imports ended, each with its rows."""
    rows = commands.rows(
        "SELECT file || ' ' || rows_read FROM import_file WHERE kind <> 'shops' "
        "ORDER BY ended_at, import_id"
    )
    return [Path(row).name for row in rows]


@pytest.mark.usefixtures("short_portions")
def test_a_long_file_is_imported_in_portions(sqlite_commands: Commands) -> None:
    """The files of others come in between, and it is imported once, whole."""
    sqlite_commands.take("shops", [SHOP, {**SHOP, "shop_id": "b.example"}])
    for shop in ("a", "b"):
        rows = many_events(f"{shop}.example")
        sqlite_commands.land(f"events/own/{shop}.example", f"{shop}.ndjson", rows)
    for number in range(3):
        rows = as_ndjson([order(order_id=str(number))])
        sqlite_commands.land("orders/own/a.example", f"{number}.ndjson", rows)
    sqlite_commands("landing")
    *short, first, second = ends(sqlite_commands)
    assert short == ["0.ndjson 1", "1.ndjson 1", "2.ndjson 1"]
    assert {first, second} == {"a.ndjson 500", "b.ndjson 500"}
    assert sqlite_commands.rows("SELECT COUNT(*) FROM raw_event") == [1_000]
    assert sqlite_commands.rows("SELECT rows FROM job_run WHERE job = 'landing'") == [1_003]


@pytest.mark.usefixtures("short_portions")
def test_the_last_row_of_a_key_stands_whatever_the_portions(sqlite_commands: Commands) -> None:
    """A later file of a kind whose rows replace each other waits for the one before it."""
    sqlite_commands.take("shops", [SHOP])
    for name, clicks in (("1", 1), ("2", 2)):
        rows = [spend(date=f"2026-01-{day:02}", clicks=clicks) for day in range(1, 29)]
        file = sqlite_commands.land("ad-spend", f"{name}.ndjson", as_ndjson(rows * 20))
        os.utime(file, (clicks, clicks))
    sqlite_commands("landing")
    assert sqlite_commands.rows("SELECT DISTINCT clicks FROM ad_spend") == [2]


@pytest.mark.usefixtures("short_portions")
def test_a_long_file_that_is_changed_meanwhile(
    sqlite_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_commands.take("shops", [SHOP])
    rows = many_events("a.example")
    file = sqlite_commands.land("events/own/a.example", "a.ndjson", rows)

    def importing(*arguments: Any, **named: Any) -> Generator[int, None, None]:
        for step, position in enumerate(import_steps(*arguments, **named)):
            if step == 1 and file.stat().st_nlink == 1:
                os.utime(file, (1, 1))
            yield position

    monkeypatch.setattr(land, "import_steps", importing)
    sqlite_commands("landing")
    assert (file.parent / "done" / file.name).exists()
    assert sqlite_commands.rows("SELECT COUNT(*) FROM raw_event") == [500]
