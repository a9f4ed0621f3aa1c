"""`rejects`: the list, another try once the cause is mended, the purge; and `status`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import insert

from jobs.cli import main
from jobs.importing.kinds.base import Counts
from tests.support.import_files import (
    ECB,
    FORM,
    account,
    answer,
    event,
    form,
    order,
    spend,
    written,
)
from tests.support.warehouse import Warehouse
from warehouse import tables
from warehouse.connections.engine import open_engine

NEW = {"shop_id": "n.example", "currency": "EUR"}
MINE = {"shop_id": "n.example"}


@pytest.fixture
def jobs(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> "Jobs":
    monkeypatch.setenv("WAREHOUSE_URL", warehouse.url)
    monkeypatch.chdir(warehouse.folder)
    return Jobs(warehouse)


class Jobs:
    """The command line on a warehouse, in the folder of its files."""

    def __init__(self, warehouse: Warehouse) -> None:
        self.warehouse = warehouse

    def __call__(self, *words: str) -> Result:
        result = CliRunner().invoke(main, words, catch_exceptions=False)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    def take(self, kind: str, rows: Any, name: str) -> Result:
        return self("import", kind, str(written(Path(name), rows)), "--json")


def counts(result: Result) -> dict[str, int]:
    found: dict[str, int] = json.loads(result.stdout.splitlines()[-1])
    return found


def all_counts(**some: int) -> dict[str, int]:
    return Counts().report() | some


def test_the_list(jobs: Jobs) -> None:
    assert jobs("rejects").stdout == ""
    assert jobs.take("shops", b'{"shop_id": "x"}\n{broken\n', "b.ndjson").exit_code == 3
    assert jobs.take("ad-spend", [spend(**MINE)], "a.csv").exit_code == 3
    text = (
        '{"shop_id": "n.example", "provider": "meta", "campaign_id": "c1", "campaign_name": '
        '"Spring", "date": "2026-01-02", "currency": "USD", "spend": "12.34", "impressions": '
        '"100", "clicks": "7"}'
    )
    listed = jobs("rejects")
    assert listed.exit_code == 0
    assert listed.stdout.splitlines() == [
        "a.csv:2 ad-spend shop_id: 'n.example' is not an imported shop; import it first (kind shops)",
        f"    {text}",
        "b.ndjson:1 shops currency: missing",
        '    {"shop_id": "x"}',
        "b.ndjson:2 shops not JSON",
        "    ***",
    ]
    assert [json.loads(line) for line in jobs("rejects", "--json").stdout.splitlines()] == [
        {
            "file": "a.csv",
            "line": 2,
            "kind": "ad-spend",
            "reason": "shop_id: 'n.example' is not an imported shop; import it first (kind shops)",
            "text": text,
        },
        {
            "file": "b.ndjson",
            "line": 1,
            "kind": "shops",
            "reason": "currency: missing",
            "text": '{"shop_id": "x"}',
        },
        {"file": "b.ndjson", "line": 2, "kind": "shops", "reason": "not JSON", "text": "***"},
    ]


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_rows_of_an_unknown_shop_are_taken_once_it_is_known(jobs: Jobs, name: str) -> None:
    rows: dict[str, list[dict[str, Any]]] = {
        "forms": [form(**MINE) | {"schema": json.dumps({"steps": [1]})}],
        "events": [
            event(**MINE, email="Ann@Mail.example"),
            answer("secret", "text", event_id="e2", **MINE) | {"email": "Ann@Mail.example"},
            event(**MINE, email="Ann@Mail.example"),
        ],
        "orders": [order(**MINE)],
        "ad-spend": [spend(**MINE), spend(**MINE, spend="13.00")],
        "ad-accounts": [account(**MINE)],
    }
    for kind, of_kind in rows.items():
        jobs.take(kind, of_kind, name)
    still = jobs("rejects", "--retry", "--json")
    assert (still.exit_code, counts(still)) == (3, all_counts(read=8, rejected=8))
    jobs.take("shops", [NEW], "shops.ndjson")
    mended = jobs("rejects", "--retry", "--json")
    assert (mended.exit_code, counts(mended)) == (
        0,
        all_counts(read=8, new=6, duplicate=2),
    )
    assert jobs("rejects").stdout == ""
    for kind, of_kind in rows.items():
        again = counts(jobs.take(kind, of_kind, name))
        assert again == all_counts(read=len(of_kind), duplicate=len(of_kind)), kind
    (stored,) = jobs.warehouse.records("SELECT form_id, draft_schema FROM form")
    assert (stored["form_id"], json.loads(stored["draft_schema"])) == (FORM, {"steps": [1]})


def test_one_retry_mends_what_waits_for_a_shop_that_waited_too(jobs: Jobs) -> None:
    """Kinds are tried in the order in which they need each other."""
    jobs.take("events", [event(**MINE)], "a.ndjson")
    jobs.take("shops", [NEW | {"currency": "EURO"}], "b.ndjson")
    fix = "UPDATE reject SET text = REPLACE(text, 'EURO', 'EUR')"
    with open_engine(jobs.warehouse.url).begin() as connection:
        connection.exec_driver_sql(fix)
    mended = jobs("rejects", "--retry")
    assert (mended.exit_code, mended.stdout) == (
        0,
        "read 2  new 2  duplicate 0  replaced 0  rejected 0\n",
    )


def test_what_is_refused_again_stays_with_the_reason_of_now(jobs: Jobs) -> None:
    jobs.take("ad-spend", [spend(**MINE, spend="?"), spend(**MINE)], "a.ndjson")
    jobs.take("ad-spend", b"{broken\n", "b.ndjson")
    jobs.take("exchange-rates", ECB.replace(b"161.5", b"?"), "eurofxref-hist.csv")
    jobs.take("shops", [NEW], "shops.ndjson")
    tried = jobs("rejects", "--retry", "--json")
    assert (tried.exit_code, counts(tried)) == (3, all_counts(read=4, new=1, rejected=3))
    assert [line for line in jobs("rejects").stdout.splitlines() if line[0] != " "] == [
        "a.ndjson:1 ad-spend spend: '?' is not a number",
        "b.ndjson:1 ad-spend not JSON",
        "eurofxref-hist.csv:2 exchange-rates rate: '?' is not a number",
    ]


def test_records_that_are_no_rows_keep_their_reason(jobs: Jobs) -> None:
    jobs.take("shops", b"shop_id,currency\nn.example,EUR,more\n", "a.csv")
    assert jobs("rejects", "--retry").exit_code == 3
    assert jobs("rejects").stdout.splitlines() == [
        "a.csv:2 shops 3 cells, but the header has 2",
        "    ***",
    ]


@pytest.mark.parametrize("words", [("rejects",), ("import", "shops", "shops.ndjson")])
def test_old_rejects_are_purged(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("REJECTS_DAYS", "7")
    written(Path("shops.ndjson"), [NEW])
    monkeypatch.setattr("jobs.importing.kept_rejects.now_micros", lambda: 0)
    jobs.take("shops", b"{old\n", "old.ndjson")
    monkeypatch.undo()
    monkeypatch.setenv("WAREHOUSE_URL", jobs.warehouse.url)
    monkeypatch.chdir(jobs.warehouse.folder)
    jobs.take("shops", b"{young\n", "young.ndjson")
    jobs(*words)
    assert jobs.warehouse.records("SELECT file FROM reject") == [{"file": "young.ndjson"}]


def test_usage(jobs: Jobs) -> None:
    assert jobs("rejects", "--again").exit_code == 2
    assert jobs("import", "sales", "x.ndjson").exit_code == 2
    assert jobs("import", "shops", "gone.ndjson").exit_code == 1


def test_status(jobs: Jobs) -> None:
    jobs.take("events", [event(), event(event_id="e2"), event(event_id="")], "a.ndjson")
    jobs.take("orders", [order(), order(currency="USD"), order(currency="GBP")], "a.ndjson")
    with open_engine(jobs.warehouse.url).begin() as connection:
        keys = {
            row["shop_id"]: row["shop_key"]
            for row in jobs.warehouse.records("SELECT shop_id, shop_key FROM shop")
        }
        columns = {"timezone": "UTC", "window_days": 30, "logic_version": 0, "state": "building"}
        connection.execute(insert(tables.edition), columns | {"shop_key": keys["b.example"]})
    found = json.loads(jobs("status", "--json").stdout)
    newest = found["shops"][0].pop("newest_batch")
    for shop in found["shops"]:
        lag, at = shop.pop("lag_seconds"), shop.pop("newest_waiting_at")
        assert (lag >= 0, at is not None) == (True, shop["waiting_rows"] > 0)
    assert [shop.pop("waiting_batches") for shop in found["shops"]] == [2, 0]
    assert newest.pop("imported_at").startswith("20")
    assert newest == {"batch_id": 2, "kind": "orders", "rows": 1}
    nothing = {"timezone": "UTC", "last_rollup_at": None, "recomputing_since": None}
    assert found["shops"] == [
        nothing | {"shop_id": "a.example", "state": "none", "waiting_rows": 3},
        nothing
        | {"shop_id": "b.example", "state": "building", "waiting_rows": 0, "newest_batch": None},
    ]
    assert found["queued"] == {"rows": 3, "batches": 2}
    assert found["rejects"] == [
        {
            "kind": "orders",
            "code": "",
            "reason": "currency: … is not the shop's currency (EUR)",
            "rows": 2,
        },
        {"kind": "events", "code": "missing", "reason": "event_id: missing", "rows": 1},
    ]


def test_status_after_a_rollup(jobs: Jobs) -> None:
    jobs.take("events", [event()], "a.ndjson")
    assert jobs("rollup").exit_code == 0
    jobs.take("events", [event(event_id="e2"), event(event_id="")], "b.ndjson")
    shop = json.loads(jobs("status", "--json").stdout)["shops"][0]
    assert (shop["state"], shop["waiting_rows"]) == ("current", 1)
    named, *lines = jobs("status").stdout.splitlines()
    assert named.startswith("warehouse: sqlite:///")
    # A form that is not known, and one row of three rejected.
    assert [line[:11] for line in lines[:2]] == ["NEEDS YOU: "] * 2
    lines = lines[2:]
    waiting = lines.pop(2)
    assert re.fullmatch(r"  waiting rows  1 \(for \d+ s\)", waiting)
    assert lines[: lines.index("last runs:")] == [
        "a.example (UTC): current",
        f"  last rollup   {shop['last_rollup_at']}",
        f"  newest batch  1 events at {shop['newest_batch']['imported_at']} (batch 2)",
        "b.example (UTC): current",
        *lines[4:7],
        "queued: 1 rows in 1 batches",
        "rejects: 1",
        "  1 events event_id: missing",
    ]
    jobs.take(
        "shops", [{"shop_id": "a.example", "currency": "EUR", "timezone": "Asia/Tokyo"}], "s.csv"
    )
    states = [shop["state"] for shop in json.loads(jobs("status", "--json").stdout)["shops"]]
    assert states == ["outdated", "current"]
    jobs("rollup")
    shop = json.loads(jobs("status", "--json").stdout)["shops"][0]
    assert (shop["state"], shop["timezone"], shop["waiting_rows"]) == ("current", "Asia/Tokyo", 0)


def test_lines_of_which_nothing_is_kept_are_told_apart(jobs: Jobs) -> None:
    """A file of the same name comes again, broken in the same line for another reason."""
    for line in ("broken", "[1]", "[1]"):
        Path("x.ndjson").write_text(line + "\n")
        assert jobs("import", "orders", "x.ndjson").exit_code == 3
    listed = [json.loads(line) for line in jobs("rejects", "--json").stdout.splitlines()]
    assert sorted(each["reason"] for each in listed) == ["not JSON", "not a JSON object"]
