"""A file that is dropped on the Data page: taken, looked at by a job, imported, undone; and who may do so.

One file: a dropped file goes through all of these, and the tests share the drop and the look."""

import gzip
import io
import json
import os
import re
import signal
import time
import zipfile
from collections.abc import Callable, Iterable
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart

from jobs.importing.files import spreadsheet as spreadsheet_file
from jobs.landing import turns
from tests.support.commands import kill_at_call
from tests.support.dropped import hostile, sample, shared_text, spreadsheet
from tests.support.import_files import as_ndjson, event, order
from tests.support.people import add_member
from tests.support.shop_builder import known_shop
from tests.support.waiting import wait_until
from tests.tiers import thorough
from tests.web.dashboard.two_shops import HTML, A, B, TwoShops
from warehouse.backups.files import forget_the_present
from warehouse.intake import dropped_files
from warehouse.operations import tasks
from web.dashboard import drop_folder

FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "orders_export.csv": (lambda: sample("shopify-csv.csv"), "Shopify's export of orders"),
    "orders.csv.gz": (
        lambda: gzip.compress(sample("shopify-csv.csv")),
        "Shopify's export of orders",
    ),
    "orders.json": (lambda: sample("shopify.json"), "Shopify's orders, as its API gives them"),
    "orders.jsonl": (lambda: sample("shopify-bulk.jsonl"), "Shopify's orders, from a bulk"),
    "calls.ndjson": (lambda: sample("segment.ndjson"), "Tracking calls, as Segment has them"),
    "meta.csv": (lambda: sample("meta-csv.csv"), "Ad spend, a table of Meta's Ads Manager"),
    "meta.xlsx": (lambda: spreadsheet(sample("meta-csv.csv")), "Meta's Ads Manager"),
    "google.csv": (lambda: sample("google-ads-csv.csv"), "Ad spend, a table of Google Ads"),
    "google.xlsx": (lambda: spreadsheet(sample("google-ads-csv.csv")), "Google Ads"),
    "tiktok.csv": (lambda: sample("tiktok.csv"), "Ad spend of TikTok"),
    "tiktok.xlsx": (lambda: spreadsheet(sample("tiktok.csv")), "Ad spend of TikTok"),
    "own.ndjson": (lambda: as_ndjson([event(), event(event_id="2")]), "Events, in this service's"),
}
# By their names alone: the large ones take a second to make, which every run would wait for.
BAD = hostile(megabytes=0)
CORE = ("orders_export.csv", "meta.xlsx", "own.ndjson")
BAD_CORE = (
    "bomb.csv.gz",
    "bomb.xlsx",
    "late row.xlsx",
    "of another shop.ndjson",
    "noise.csv",
    "dates.csv",
)


def tiered(names: Iterable[str], core: tuple[str, ...]) -> list[Any]:
    return [*core, *thorough(name for name in names if name not in core)]


@pytest.fixture(autouse=True)
def landing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IMPORT_DIR", str(tmp_path / "landing"))
    monkeypatch.setattr(turns, "_SETTLE_SECONDS", 0.01)
    return tmp_path / "landing"


def send(two: TwoShops, name: str, content: bytes, shop: str = A, **fields: str) -> TestResponse:
    token = re.search(r'name="csrf_token" value="([^"]+)"', two.page(shop))
    assert token
    form = {"csrf_token": token[1], **fields, "file": FileStorage(io.BytesIO(content), name)}
    # Here, since the client leaves the temporary file open in which it keeps a large form.
    boundary, body = encode_multipart(form)
    sent: Any = {"data": body, "content_type": f"multipart/form-data; boundary={boundary}"}
    return two.browsers[shop].client.post("/data/drop", **sent, headers=HTML)


def dropped(two: TwoShops, name: str, content: bytes, shop: str = A) -> str:
    """The section of a file that a job has looked at."""
    answer = send(two, name, content, shop)
    assert (answer.status_code, answer.location) == (303, "/data#file"), answer.text
    two.jobs("dropped")
    return section(two, shop)


def section(two: TwoShops, shop: str = A) -> str:
    found = re.search(r'<section class="card" id="file".*?</section>', two.page(shop), re.S)
    assert found
    return unescape(found[0])


def press(two: TwoShops, path: str, shop: str = A, **fields: str) -> TestResponse:
    page = section(two, shop)
    token = re.search(r'name="csrf_token" value="([^"]+)"', page)
    file = re.search(r'name="file" value="([^"]+)"', page)
    assert token
    form = {"csrf_token": token[1], "file": file[1] if file else "", **fields}
    return two.browsers[shop].client.post(f"/data/{path}", data=form, headers=HTML)


def take(two: TwoShops, shop: str = A) -> None:
    """Ask for the import, and have the file put where imports look."""
    assert press(two, "take", shop).status_code == 303
    two.jobs("dropped")


def undo(two: TwoShops) -> str:
    """Send both forms; the page between them."""
    number = re.search(r'name="import" value="(\d+)"', section(two))
    assert number
    asked = press(two, "undo", **{"import": number[1]})
    press(two, "undo", **{"import": number[1], "confirmed": "1"})
    return asked.text


def imported(two: TwoShops) -> list[Any]:
    return two.rows("SELECT * FROM import_file WHERE kind <> 'shops' ORDER BY import_id")


def files(landing: Path) -> list[str]:
    return sorted(str(path.relative_to(landing)) for path in landing.rglob("*") if path.is_file())


SPEND = b"Day;Platform;Campaign;Currency;Cost;Impr.;Clicks\n2026-10-01;TikTok;A;EUR;%s;10;1\n"


@pytest.mark.parametrize(("decimal", "spend"), [("point", "1.25"), ("comma", "1250")])
def test_a_decimal_mark_that_the_file_does_not_show(
    two: TwoShops, decimal: str, spend: str
) -> None:
    shown = dropped(two, "spend.csv", SPEND % b"1.250")
    assert "data-file-question" in shown
    assert "1.250" in shown
    assert all(f">{reading}</button>" in shown for reading in ("1.25", "1250"))
    assert ">Import</button>" not in shown
    # It is not imported before there is an answer.
    assert press(two, "take").status_code == 303
    assert press(two, "answer", decimal="both").status_code == 422
    assert press(two, "answer", decimal=decimal).status_code == 303
    assert "data-file-question" not in section(two)
    two.jobs("dropped")
    shown = section(two)
    assert "data-file-preview" in shown
    assert "<dd data-file-platforms>tiktok</dd>" in shown
    take(two)
    two.jobs("landing")
    assert two.rows("SELECT spend FROM ad_spend") == [(spend,)]


def test_whose_spend_a_table_is_taken_for(two: TwoShops) -> None:
    shown = dropped(two, "google.csv", sample("google-ads-csv.csv"))
    assert "google, by the columns of the file: none of them names the platform" in shown


@pytest.mark.parametrize("name", tiered(FILES, CORE))
def test_each_kind_is_recognised_imported_and_undone(two: TwoShops, name: str) -> None:
    content, title = FILES[name]
    shown = dropped(two, name, content())
    assert title in shown
    assert "data-file-preview" in shown
    assert "data-file-refused" not in shown
    assert imported(two) == []
    two.jobs("landing")
    assert imported(two) == []
    take(two)
    two.jobs("landing")
    (one,) = imported(two)
    assert (one.state, one.rows_new > 0) == ("done", True)
    told = re.search(r"Rows</dt><dd>([\d,]+) row", shown)
    assert told
    assert one.rows_read == int(told[1])
    assert 'data-file-imported="done"' in section(two)
    undo(two)
    two.jobs("rollup")
    assert 'data-file-imported="undone"' in section(two)
    assert [row.state for row in imported(two)] == ["undone"]
    for table in ("raw_event", "raw_order", "ad_spend"):
        assert two.rows(f"SELECT * FROM {table}") == []


@pytest.mark.parametrize("name", tiered(BAD, BAD_CORE))
def test_a_hostile_file_is_refused_with_one_sentence(
    two: TwoShops, landing: Path, name: str
) -> None:
    content, words = hostile()[name]
    shown = dropped(two, name, content)
    refused = re.findall(r"<p[^>]*data-file-refused>.*?</p>", shown)
    assert len(refused) == 1
    assert words in refused[0]
    assert str(landing) not in shown
    assert files(landing) == []
    assert press(two, "take").status_code == 303
    assert imported(two) == []


@pytest.mark.parametrize("name", ["o.ndjson", "o.csv"])
def test_a_long_look_ends_at_a_signal(two: TwoShops, landing: Path, name: str) -> None:
    """By itself: at the end of its grace the process would be ended, and say so."""
    send(two, name, b"1")
    (path,) = landing.rglob("dropped-*")
    own = order(shop_id=A)
    head, row = b"", as_ndjson([own])
    if name == "o.csv":
        head, row = (",".join(map(str, one)).encode() + b"\n" for one in (own, own.values()))
    path.write_bytes(head + row * 500_000)
    look = two.start("dropped")
    wait_until(lambda: two.rows("SELECT attempts FROM task")[0].attempts == 1)
    look.send(signal.SIGTERM)
    printed = look.finish(128 + signal.SIGTERM)
    assert "stopped by SIGTERM" in printed
    assert "takes longer than" not in printed
    assert [tuple(row) for row in two.rows("SELECT kind, ended_at FROM task")] == [("look", 0)]


def test_no_row_of_another_shop_is_imported(two: TwoShops, landing: Path) -> None:
    """Whatever the other shop is called, and also where the file is another one by the time of the import."""
    victim = "missing-link.example"
    two.load("shops", [{"shop_id": victim, "currency": "EUR", "timezone": "UTC"}])
    own, others = order(shop_id=A), order(shop_id=victim)
    shown = dropped(two, "o.ndjson", as_ndjson([own, others]))
    assert "line 2 is of another shop than this one" in shown
    dropped(two, "o.ndjson", as_ndjson([own]))
    (path,) = landing.rglob("dropped-*")
    path.write_bytes(as_ndjson([own, others]))
    take(two)
    two.jobs("landing")
    (one,) = imported(two)
    assert (one.rows_read, one.rows_rejected) == (2, 1)
    two.jobs("rejects", "--retry")
    of_shops = "SELECT s.shop_id FROM raw_order o JOIN shop s ON s.shop_key = o.shop_key"
    assert [row.shop_id for row in two.rows(of_shops)] == [A]
    assert two.rows("SELECT shop_id, shop_key, reason FROM reject") == [
        (A, 0, f"shop_id: '{victim}' is not the shop of this file")
    ]


def test_a_dropped_file_outside_of_its_shop_s_folder(two: TwoShops, landing: Path) -> None:
    """As a program before this one put it there."""
    dropped(two, "o.ndjson", as_ndjson([order(shop_id=A)]))
    (path,) = landing.rglob("dropped-*")
    (landing / "orders").mkdir()
    path.rename(landing / "orders" / path.name)
    two.jobs("landing")
    assert imported(two) == []
    assert "lies in no folder of its shop; drop it again" in section(two)


def test_cells_that_share_a_long_text(
    two: TwoShops, landing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreadsheet_file, "_MAX_BYTES", 4 << 20)
    assert "more than 4 MiB of text" in dropped(two, "a.xlsx", shared_text())
    assert files(landing) == []


def test_what_is_shown_of_it(two: TwoShops) -> None:
    rows = [
        order(order_id="1", total_cents=1050, created_at="2026-01-31T23:30:00Z"),
        order(order_id="2", total_cents=2000, created_at="2026-01-02T00:00:00Z"),
        order(order_id="3", total_cents=9999, created_at="2026-01-03T00:00:00Z", test=True),
        order(order_id="4", total_cents="<b>secret</b>"),
    ]
    shown = " ".join(dropped(two, "<b>a</b>\u202e.ndjson", as_ndjson(rows)).split())
    assert "4 rows, of which 1 cannot be imported" in shown
    # In the shop's own days.
    assert "Jan 2, 2026 to Feb 1, 2026" in shown
    assert "€30.50, without refunds and test orders" in shown
    assert "total_cents: …" in shown
    assert "secret" not in shown
    assert "<b>a" not in shown
    assert "\u202e" not in shown


def test_a_name_is_no_path(two: TwoShops, landing: Path) -> None:
    content = sample("shopify-csv.csv")
    for name in ("../../../etc/passwd.csv", "..\\..\\x;$(id) \u202e.csv", "." * 300 + ".csv"):
        dropped(two, name, content)
        (stored,) = files(landing)
        assert re.fullmatch(
            rf"\.dropped/{A}/dropped-[0-9a-f]{{16}}-[A-Za-z0-9._-]{{1,100}}", stored
        )


def test_a_shop_has_so_many_rows_a_day(
    two: TwoShops, landing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row over the limit waits for the next day, and is imported then by itself."""
    monkeypatch.setenv("ROWS_PER_SHOP_DAY", "3")
    rows = [as_ndjson([order(order_id=str(number), shop_id=A)]) for number in range(6)]
    assert "more than 3 rows, which is the most" in dropped(two, "o.ndjson", b"".join(rows))
    dropped(two, "o.ndjson", b"".join(rows[:2]))
    take(two)
    two.jobs("landing")
    undo(two)
    two.jobs("rollup")
    dropped(two, "o.ndjson", b"".join(rows[2:4]))
    take(two)
    assert "The file waits for tomorrow" in section(two)
    two.jobs("dropped")
    two.jobs("landing")
    two.jobs("purge")
    assert two.rows("SELECT * FROM raw_order") == []
    # Others have their own.
    dropped(two, "o.ndjson", as_ndjson([order(shop_id=B)]), B)
    take(two, B)
    two.jobs("landing")
    assert len(two.rows("SELECT * FROM raw_order")) == 1
    day = 86_400_000_000
    two.change(f"UPDATE task SET due_at = due_at - {day}, asked_at = asked_at - {day}")
    two.change(f"UPDATE import_file SET started_at = started_at - {day}")
    two.jobs("dropped")
    two.jobs("landing")
    assert len(two.rows("SELECT * FROM raw_order")) == 3
    assert 'data-file-imported="done"' in section(two)


@pytest.mark.parametrize("ending", [".csv.gz", ".json.zip", ".parquet"])
def test_what_it_unpacks_to_has_a_bound(
    two: TwoShops, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setenv("UPLOAD_MB", "1")
    table = pa.table(
        {"shop_id": [A] * 50_000, "order_id": [str(n) for n in range(50_000)]}
        | {
            name: [value] * 50_000
            for name, value in (("created_at", "2026-01-02T00:00:00Z"), ("total_cents", 1000))
        }
    )
    file = io.BytesIO()
    if ending == ".parquet":
        pq.write_table(table, file)
    elif ending == ".csv.gz":
        with gzip.open(file, "wb") as packed:
            arrow_csv.write_csv(table, packed)
            packed.write(b"\n" * 2_000_000)
    else:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.json", json.dumps(table.to_pylist()))
    assert "it unpacks to more than 4 MB" in dropped(two, f"a{ending}", file.getvalue())


def test_it_waits_for_a_scheduler_that_runs(two: TwoShops) -> None:
    send(two, "o.csv", sample("shopify-csv.csv"))
    assert "No scheduler runs" in section(two)
    two.change(
        "INSERT INTO scheduler (owner, started_at, seen_at, schedule) "
        f"VALUES ('here', 0, {time.time_ns() // 1000}, '[]')"
    )
    assert "It is being looked at" in section(two)
    part = two.browsers[A].get("/data/file", headers=HTML).text
    assert part.lstrip().startswith('<section class="card" id="file" data-pending="/data/file">')
    two.change("UPDATE scheduler SET seen_at = 1")
    assert "one was last seen on" in section(two)


def test_who_may(two: TwoShops, landing: Path) -> None:
    content = sample("shopify-csv.csv")
    wrong = send(two, "o.csv", content, csrf_token="none")
    assert (wrong.status_code, "out of date" in wrong.text) == (400, True)
    stranger = two.app.test_client()
    form = {"file": (io.BytesIO(content), "o.csv")}
    assert stranger.post("/data/drop", data=form, headers=HTML).location.startswith("/settings/")
    add_member(two.engine, known_shop(two.engine, A), "eve@mail.example", ("forms:edit",))
    eve = type(two.browsers[A])(two.app.test_client()).signed_in("eve@mail.example")
    form = {"file": (io.BytesIO(content), "o.csv")}
    assert eve.client.post("/data/drop", data=form, headers=HTML).status_code == 403
    assert eve.get("/data/file", headers=HTML).status_code == 403
    assert files(landing) == []
    dropped(two, "o.csv", content)
    assert "data-file-preview" not in section(two, B)
    press(two, "take", B)
    press(two, "discard", B)
    assert "data-file-preview" in section(two)
    assert [
        row.action for row in two.rows("SELECT action FROM audit_event WHERE action LIKE 'file%'")
    ] == ["file_dropped"]


def test_what_is_no_file(two: TwoShops, landing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPLOAD_MB", "1")
    client = two.browsers[A].client
    assert send(two, "empty.csv", b"").status_code == 422
    large = send(two, "large.csv", b"x" * 1_000_001)
    assert (large.status_code, "larger than 1 MB (UPLOAD_MB)" in large.text) == (413, True)
    assert send(two, "fits.csv", b"x" * 1_000_000).status_code == 303
    assert client.post("/data/drop", data={"a": "b"}, headers=HTML).status_code == 415
    # It ends before the form does.
    body = b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nhalf'
    broken: Any = {"data": body, "content_type": "multipart/form-data; boundary=B"}
    assert client.post("/data/drop", **broken, headers=HTML).status_code == 400
    assert len(files(landing)) == 1


@pytest.mark.parametrize(
    "body",
    [b"x" * 3_000_000, b'--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' * 1_000],
    ids=["no part", "many fields"],
)
def test_a_form_that_fills_the_memory(two: TwoShops, body: bytes) -> None:
    file = b'\r\n--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--B--'
    sent: Any = {"data": body + file, "content_type": "multipart/form-data; boundary=B"}
    refused = two.browsers[A].client.post("/data/drop", **sent, headers=HTML)
    assert (refused.status_code, "The form is malformed" in refused.text) == (400, True)


def test_a_restore_leaves_no_file_for_which_a_shop_waits(two: TwoShops) -> None:
    dropped(two, "o.csv", sample("shopify-csv.csv"))
    take(two)
    with two.engine.begin() as connection:
        forget_the_present(connection, 0)
    assert send(two, "o.csv", sample("shopify-csv.csv")).status_code == 303


def test_one_at_a_time(two: TwoShops, landing: Path) -> None:
    content = sample("shopify-csv.csv")
    dropped(two, "first.csv", content)
    with drop_folder.receive(landing, A) as part:
        part.write(b"half")
        refused = send(two, "second.csv", content)
        assert (refused.status_code, "is being received" in refused.text) == (409, True)
        assert send(two, "of b.csv", content, B).status_code == 303
    # A file that a killed process left behind is no one's: the next file takes its place.
    left = landing / ".dropped" / A / ".part"
    left.write_bytes(b"left behind")
    assert "second.csv" in dropped(two, "second.csv", content)
    assert len(list((landing / ".dropped" / A).iterdir())) == 1
    take(two)
    assert send(two, "third.csv", content).status_code == 409
    two.jobs("landing")
    assert "third.csv" in dropped(two, "third.csv", content)
    press(two, "discard")
    assert not list((landing / ".dropped" / A).iterdir())
    assert two.rows("SELECT * FROM task WHERE payload LIKE '%third.csv%'") == []


KILLS = {
    "before the look": ("look", "jobs.commands.landing.look_at"),
    "after the look": ("look", "warehouse.operations.tasks.end"),
    "before it is in its place": ("land", "jobs.commands.landing.land_dropped"),
    "once it is in its place": ("land", "warehouse.operations.tasks.pass_on"),
    "in its import": ("import", "jobs.importing.import_file.write_chunk"),
    "once it is imported": ("import", "jobs.landing.held_file._free_name"),
}


@pytest.mark.parametrize("when", tiered(KILLS, ("after the look", "once it is in its place")))
def test_the_next_run_goes_on_after_a_kill(two: TwoShops, when: str) -> None:
    killed_step, place = KILLS[when]
    at_once = {"jobs.landing.turns._SETTLE_SECONDS": 0.01}

    def do(step: str) -> None:
        command = "landing" if step == "import" else "dropped"
        if step == killed_step:
            before = kill_at_call(place, 1, at_once)
            assert two.start(command, before=before).wait() == -signal.SIGKILL
        two.jobs(command)

    send(two, "o.csv", sample("shopify-csv.csv"))
    do("look")
    assert "data-file-preview" in section(two)
    press(two, "take")
    do("land")
    assert "data-file-imported" not in section(two)
    do("import")
    assert 'data-file-imported="done"' in section(two)
    # Nothing of it comes back.
    two.jobs("dropped")
    assert 'data-file-imported="done"' in section(two)
    assert len(two.rows("SELECT * FROM raw_order")) == 3


def test_a_take_that_was_killed_is_made_again(two: TwoShops, landing: Path) -> None:
    """The file has moved, and nothing is recorded."""
    dropped(two, "o.csv", sample("shopify-csv.csv"))
    (path,) = landing.rglob("dropped-*")
    place = landing / "orders" / "shopify-csv" / A
    place.mkdir(parents=True)
    path.rename(place / path.name)
    take(two)
    assert "waits for its turn" in section(two) or "No scheduler runs" in section(two)
    two.jobs("landing")
    assert 'data-file-imported="done"' in section(two)


def test_a_file_that_is_gone(two: TwoShops, landing: Path) -> None:
    dropped(two, "o.csv", sample("shopify-csv.csv"))
    (path,) = landing.rglob("dropped-*")
    path.unlink()
    take(two)
    assert "no longer in the landing folder" in two.page(A)
    send(two, "o.csv", sample("shopify-csv.csv"))
    (path,) = landing.rglob("dropped-*")
    path.unlink()
    two.jobs("dropped")
    assert "must have the same IMPORT_DIR" in section(two)


def test_a_file_with_which_processes_end(two: TwoShops) -> None:
    send(two, "o.csv", sample("shopify-csv.csv"))
    two.change(f"UPDATE task SET attempts = {tasks.MAX_ATTEMPTS}")
    two.jobs("dropped")
    assert "processes ended while they worked at it" in section(two)


def test_what_nobody_imports_goes_after_a_day(two: TwoShops, landing: Path) -> None:
    dropped(two, "o.csv", sample("shopify-csv.csv"))
    two.jobs("purge")
    assert len(files(landing)) == 1
    day = dropped_files.KEPT_MICROS
    two.change(f"UPDATE task SET asked_at = asked_at - {day}")
    (path,) = landing.rglob("dropped-*")
    os.utime(path, (0, 0))
    two.jobs("purge")
    assert files(landing) == []
    assert two.rows("SELECT * FROM task") == []


def test_what_was_imported_can_be_undone_later(two: TwoShops, landing: Path) -> None:
    dropped(two, "o.csv", sample("shopify-csv.csv"))
    take(two)
    two.jobs("landing")
    two.change(f"UPDATE task SET asked_at = asked_at - {2 * dropped_files.KEPT_MICROS}")
    two.jobs("purge")
    undo(two)
    two.jobs("rollup")
    assert [row.state for row in imported(two)] == ["undone"]
    two.change("UPDATE task SET asked_at = 0")
    two.jobs("purge")
    assert two.rows("SELECT * FROM task") == []


def test_all_imports_of_a_file_are_undone(two: TwoShops, landing: Path) -> None:
    """Also those of a process that was killed in the middle."""
    dropped(two, "o.csv", sample("shopify-csv.csv"))
    take(two)
    (path,) = landing.rglob("dropped-*")
    two.jobs("import", "orders", "--format", "shopify-csv", "--shop", A, str(path))
    two.jobs("landing")
    assert len(imported(two)) == 2
    undo(two)
    two.jobs("rollup")
    assert {row.state for row in imported(two)} == {"undone"}
    assert two.rows("SELECT * FROM raw_order") == []


def test_forget_lists_it(two: TwoShops, landing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from jobs.landing.files_of_person import files_of_person
    from warehouse.persons.forgotten import EMAIL, Identifier

    send(two, "o.csv", b"Id,Email\n1,Eve@mail.example\n")
    person = {Identifier(EMAIL, "eve@mail.example"): "Eve@mail.example"}
    ((path,), _) = files_of_person(landing, A, person)
    assert path.parent == landing / ".dropped" / A
    assert files_of_person(landing, B, person) == ([], [])
