"""`imports list` and `imports undo`: every kind, every state, and processes that are killed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import kill_at_call
from tests.support.import_files import Row, account, as_ndjson, event, form, order, rate, spend
from tests.support.job_commands import Commands
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.operations.process_id import new_owner

SHOPS = [{"shop_id": name, "currency": "EUR"} for name in ("a.example", "b.example")]


@pytest.fixture
def jobs(commands: Commands) -> Commands:
    commands.take("shops", SHOPS)
    return commands


def take(jobs: Commands, kind: str, *rows: Row, name: str = "", status: int = 0) -> int:
    """Import rows; the id of the import."""
    file = jobs.folder / (name or f"{kind}.ndjson")
    file.write_bytes(as_ndjson(list(rows)))
    jobs("import", kind, str(file), status=status)
    return int(last(jobs)["import_id"])


def last(jobs: Commands) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(jobs("imports", "list", "--limit", "1", "--json"))
    return found


def undo(jobs: Commands, import_id: int) -> str:
    """The counts that an undo prints. A dry run says the same before, and changes nothing."""
    told, done = (
        jobs("imports", "undo", str(import_id), *words).rpartition("): ")[2].rstrip("\n")
        for words in (["--dry-run"], [])
    )
    assert re.findall(r"\d+", told) == re.findall(r"\d+", done)
    assert told.count(" would ") == len(done.split(", "))
    return done


def ids(jobs: Commands, of: str = "event") -> list[str]:
    found: list[str] = jobs.rows(f"SELECT {of}_id FROM raw_{of} ORDER BY {of}_id")
    return found


def test_the_list(jobs: Commands) -> None:
    take(jobs, "orders", order(), order(), order(order_id="o2", shop_id="b.example"))
    odd = take(jobs, "events", event(), event(type="?"), name="a\x1b[2J.ndjson", status=3)
    lines = jobs("imports", "list").splitlines()
    assert [line.split("  ")[0] for line in lines] == ["3", "2", "1"]
    assert lines[0].endswith(
        f"done  events  {jobs.folder}/a\\x1b[2J.ndjson  "
        "read 2  new 1  duplicate 0  replaced 0  rejected 1  incomplete 0"
    )
    found = last(jobs)
    times = [found.pop(name) for name in ("started_at", "ended_at")]
    assert times == sorted(times)
    assert found == {
        "import_id": odd,
        "shop_id": "a.example",
        "kind": "events",
        "state": "done",
        "file": f"{jobs.folder}/a\x1b[2J.ndjson",
        "read": 2,
        "new": 1,
        "duplicate": 0,
        "replaced": 0,
        "rejected": 1,
        "incomplete": 0,
    }
    assert jobs("imports", "list", "--limit", "2").splitlines() == lines[:2]
    # The orders are of two shops.
    assert jobs("imports", "list", "--shop", "a.example").splitlines() == lines[:1]
    assert jobs("imports", "list", "--shop", "b.example") == ""
    assert "no shop 'c'" in jobs("imports", "list", "--shop", "c", status=1)


def test_events_that_another_import_repeated_stay(jobs: Commands) -> None:
    a = take(jobs, "events", *(event(event_id=f"e{n}") for n in range(4)))
    b = take(jobs, "events", *(event(event_id=f"e{n}") for n in range(2, 6)))
    jobs("rollup")
    assert undo(jobs, a) == "2 rows are gone, 2 stay"
    assert ids(jobs) == ["e2", "e3", "e4", "e5"]
    jobs("verify", "--all")
    c = take(jobs, "events", event(event_id="e3"), event(event_id="e3"))
    assert undo(jobs, b) == "3 rows are gone, 0 stay"
    assert ids(jobs) == ["e3"]
    assert undo(jobs, c) == "1 row is gone, 0 stay"
    assert ids(jobs) == jobs.rows("SELECT event_id FROM repeated_event") == []
    jobs("verify", "--all")
    take(jobs, "events", event(event_id="e3"))
    assert last(jobs)["new"] == 1


def test_orders_that_another_import_repeated_stay(jobs: Commands) -> None:
    a = take(jobs, "orders", *(order(order_id=f"o{n}") for n in range(2)))
    b = take(jobs, "orders", *(order(order_id=f"o{n}") for n in range(1, 3)))
    jobs("rollup")
    assert undo(jobs, a) == "1 row is gone, 1 stays"
    assert ids(jobs, "order") == ["o1", "o2"]
    assert undo(jobs, b) == "2 rows are gone, 0 stay"
    assert ids(jobs, "order") == jobs.rows("SELECT order_id FROM repeated_order") == []
    jobs("verify", "--all")


def test_the_version_of_an_order_that_stood_before_stands_again(jobs: Commands) -> None:
    refund = {"refund_id": "r", "created_at": "2026-02-01", "amount_cents": 400}
    take(jobs, "orders", order())
    later = take(jobs, "orders", order(updated_at="2026-02-01", refunds=[refund]))
    jobs("rollup")
    refunded = "SELECT gross - refunded FROM fact_order"
    assert jobs.rows(refunded) == [600]
    assert undo(jobs, later) == "1 row is gone, 0 stay"
    assert jobs.rows(refunded) == [1000]
    jobs("verify", "--all")


def test_ad_spend_that_was_restated(jobs: Commands) -> None:
    spent = "SELECT spend FROM ad_spend ORDER BY day"
    first = take(jobs, "ad-spend", spend(spend="1"), spend(spend="2", date="2026-01-03"))
    second = take(jobs, "ad-spend", spend(spend="5"), spend(spend="6", date="2026-01-04"))
    third = take(jobs, "ad-spend", spend(spend="5"))
    assert undo(jobs, second) == "1 row is gone, 1 stays"
    assert jobs.rows(spent) == ["5", "2"]
    assert undo(jobs, third) == "0 rows are gone, 1 is as it was before, 0 stay"
    assert jobs.rows(spent) == ["1", "2"]
    assert undo(jobs, first) == "2 rows are gone, 0 stay"
    assert jobs.rows(spent) == jobs.rows("SELECT * FROM ad_spend_version") == []


def test_accounts_and_rates(jobs: Commands) -> None:
    take(jobs, "ad-accounts", account())
    failed = take(jobs, "ad-accounts", account(status="error"))
    take(jobs, "exchange-rates", rate())
    other = take(jobs, "exchange-rates", rate(rate="2"), rate(base="CHF"))
    assert undo(jobs, failed) == "0 rows are gone, 1 is as it was before, 0 stay"
    assert undo(jobs, other) == "1 row is gone, 1 is as it was before, 0 stay"
    assert jobs.rows("SELECT status FROM ad_account") == ["ok"]
    assert jobs.rows("SELECT base, rate FROM exchange_rate") == [("EUR", "1.1")]


def test_a_shop_stays_and_keeps_the_currency_of_its_money(jobs: Commands) -> None:
    shops = "SELECT currency, timezone FROM shop ORDER BY shop_id"
    moved = [SHOPS[0] | {"timezone": "Asia/Tokyo"}, SHOPS[1] | {"currency": "JPY"}]
    second = take(jobs, "shops", *moved)
    take(jobs, "orders", order(), order(shop_id="b.example"))
    jobs("rollup")
    assert undo(jobs, second) == "0 rows are gone, 1 is as it was before, 1 stays"
    assert jobs.rows(shops) == [("EUR", "UTC"), ("JPY", "UTC")]
    jobs("rollup")
    jobs("verify", "--all")
    assert undo(jobs, 1) == "0 rows are gone, 2 stay"
    assert jobs.rows(shops) == [("EUR", "UTC"), ("JPY", "UTC")]


def test_rejects_go_and_what_a_retry_accepted_goes_with_its_file(jobs: Commands) -> None:
    other = take(jobs, "orders", order(shop_id="c.example"), {}, status=3)
    jobs("import", "orders", str(jobs.folder / "orders.ndjson"), status=3)
    take(jobs, "shops", SHOPS[0] | {"shop_id": "c.example"})
    jobs("rejects", "--retry", status=3)
    jobs("rollup")
    assert ids(jobs, "order") == ["o1"]
    counts = "SELECT rows_read, rows_new, rows_rejected FROM import_file WHERE import_id = 2"
    assert jobs.rows(counts) == [(2, 1, 1)]
    assert undo(jobs, other) == "1 row is gone, 0 stay"
    assert ids(jobs, "order") == jobs.rows("SELECT * FROM reject") == []
    jobs("verify", "--all")


def test_an_import_that_runs_or_is_old_or_unknown_cannot_be_undone(jobs: Commands) -> None:
    running = take(jobs, "events", event())
    jobs.change(
        f"UPDATE import_file SET state = 'running', ended_at = 0 WHERE import_id = {running}"
    )
    died = f"{running}  "
    assert "  died  events" in jobs("imports", "list", "--limit", "1")
    of_run = f"WHERE run_id = (SELECT run_id FROM import_file WHERE import_id = {running})"
    jobs.change(
        f"UPDATE job_run SET state = 'running', owner = '{new_owner()}', "
        f"seen_at = (SELECT MAX(seen_at) FROM job_run) {of_run}"
    )
    assert jobs("imports", "list", "--limit", "1").startswith(died)
    assert "  running  events" in jobs("imports", "list", "--limit", "1")
    for words in (["--dry-run"], []):
        refused = jobs("imports", "undo", str(running), *words, status=1)
        assert refused == f"Error: import {running} is still running; stop it first\n"
    jobs.change(f"UPDATE job_run SET state = 'failed' {of_run}")
    jobs.change(f"UPDATE import_file SET started_at = started_at - {31 * MICROS_PER_DAY}")
    assert "older than IMPORTS_DAYS=30 days" in jobs("imports", "undo", str(running), status=1)
    jobs.settings["IMPORTS_DAYS"] = "32"
    assert undo(jobs, running) == "1 row is gone, 0 stay"
    assert jobs("imports", "undo", str(running)) == f"import {running} is undone already\n"
    assert "no import 99" in jobs("imports", "undo", "99", status=1)


def test_a_purge_forgets_old_imports(jobs: Commands) -> None:
    take(jobs, "events", event(), event(event_id="e2"))
    take(jobs, "ad-spend", spend(spend="1"))
    take(jobs, "forms", form())
    undone = take(jobs, "events", event(event_id="e3"))
    take(jobs, "events", event(event_id="e2"), event(event_id="e3"))
    jobs("imports", "undo", str(undone))
    jobs.change(
        f"UPDATE import_file SET started_at = started_at - {31 * MICROS_PER_DAY}, "
        f"ended_at = ended_at - {31 * MICROS_PER_DAY}"
    )
    jobs("purge")
    # The undone one keeps that its row was left to others.
    assert jobs.rows("SELECT import_id FROM import_file ORDER BY import_id") == [undone]
    assert jobs.rows("SELECT event_id FROM repeated_event") == ["e3"]
    new = take(jobs, "ad-spend", spend(spend="2"))
    # Its number was no other's: an undo takes back what it brought alone.
    assert new == undone + 2
    jobs("purge")
    assert jobs.rows("SELECT import_id FROM import_file ORDER BY import_id") == [undone, new]
    assert jobs.rows("SELECT event_id FROM repeated_event") == ["e3"]
    assert undo(jobs, new) == "0 rows are gone, 1 is as it was before, 0 stay"
    assert jobs.rows("SELECT spend FROM ad_spend") == ["1"]
    again = take(jobs, "events", *(event(event_id=f"e{n}") for n in range(1, 4)))
    assert undo(jobs, again) == "0 rows are gone, 0 stay"
    assert ids(jobs) == ["e1", "e2", "e3"]


def big(path: Path, rows: int) -> Path:
    """A file of some chunks of events of two shops."""
    path.write_bytes(
        as_ndjson(
            [
                event(
                    event_id=f"e{n}",
                    form_session_id=f"s{n // 3}",
                    shop_id=SHOPS[n % 2]["shop_id"],
                    visitor_id="v" * 200,
                )
                for n in range(rows)
            ]
        )
    )
    return path


def killed(jobs: Commands, at: str, *words: str) -> None:
    """Run a command that kills itself at its second call of a function."""
    # Half of a file of 300 rows is a portion.
    before = kill_at_call(at, 2, {"jobs.pipeline.batching.BATCH_ROWS": 600})
    assert jobs.start(*words, before=before).wait() == -9


def test_an_import_that_was_killed_can_be_undone(jobs: Commands) -> None:
    file = big(jobs.folder / "big.ndjson", 40_000)
    killed(jobs, "jobs.importing.import_file.write_chunk", "import", "events", str(file))
    assert last(jobs)["state"] == "died"
    brought = last(jobs)["new"]
    assert 0 < brought < 40_000
    jobs("rollup")
    assert undo(jobs, 2) == f"{brought} rows are gone, 0 stay"
    jobs("verify", "--all")
    assert ids(jobs) == []


@pytest.mark.parametrize(
    ("place", "left"),
    [
        ("jobs.importing.undo.remove_rows", 1),
        ("jobs.pipeline.removal.count_rows_left", 151),
        ("jobs.pipeline.removal.delete_staged_events", 151),
    ],
)
def test_an_undo_that_was_killed_is_ended_by_the_next_rollup(
    jobs: Commands, place: str, left: int
) -> None:
    """Killed when all rows are gone, and in the middle of the second portion."""
    take(jobs, "events", event(event_id="other"))
    jobs("import", "events", str(big(jobs.folder / "big.ndjson", 300)))
    jobs("rollup")
    killed(jobs, place, "imports", "undo", "3")
    assert last(jobs)["state"] == "undoing"
    assert jobs.rows("SELECT COUNT(*) FROM raw_event") == [left]
    jobs("verify", "--all")
    assert "the rows of import 3 are gone" in jobs("rollup")
    assert last(jobs)["state"] == "undone"
    assert ids(jobs) == ["other"]
    jobs("verify", "--all")


def test_a_file_that_is_imported_again_during_its_undo_is_there(jobs: Commands) -> None:
    file = big(jobs.folder / "big.ndjson", 20_000)
    jobs("import", "events", str(file))
    jobs("rollup")
    undoing = jobs.start("imports", "undo", "2")
    jobs.wait_until("SELECT COUNT(*) FROM import_file WHERE state = 'undoing'")
    both = [jobs.start("import", "events", str(file)), jobs.start("rollup"), undoing]
    for process in both:
        process.finish()
    jobs("rollup")
    assert jobs.rows("SELECT COUNT(*) FROM raw_event") == [20_000]
    jobs("verify", "--all")
    jobs("imports", "undo", "3")
    assert jobs.rows("SELECT COUNT(*) FROM raw_event") == [0]
    jobs("verify", "--all")
