"""Ad spend and ad accounts: exact amounts, finer rows beside each other, the last import wins."""

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from tests.support.commands import start_job
from tests.support.import_files import account, spend, written
from tests.support.warehouse import Warehouse

SPEND = "SELECT * FROM ad_spend ORDER BY shop_key, provider, account_id, campaign_id, day, segment"


def versions(warehouse: Warehouse) -> list[int]:
    """The data versions of both shops."""
    return [
        row["v"] for row in warehouse.records("SELECT data_version AS v FROM shop ORDER BY shop_id")
    ]


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_what_is_stored(warehouse: Warehouse, name: str) -> None:
    row = spend(
        provider="Meta",
        account_id="A1",
        segment="Mobile",
        campaign_name="S" * 1001,
        currency="usd",
        spend="0012.340",
        impressions=3.0,
        reported_conversions=2.3333333333333335,
        reported_value="-0129.9000000000000000000000001",
    )
    assert warehouse.take("ad-spend", [row], name)["new"] == 1
    (stored,) = warehouse.records(SPEND)
    stored.pop("shop_key")
    assert stored == {
        "provider": "meta",
        "account_id": "A1",
        "campaign_id": "c1",
        "day": 20455,
        "segment": "Mobile",
        "campaign_name": "S" * 1000,
        "currency": "USD",
        "spend": "12.34",
        "impressions": 3,
        "clicks": 7,
        "reported_conversions": "2.3333333333333335",
        "reported_value": "-129.9000000000000000000000001",
    }
    assert versions(warehouse) == [1, 0]
    assert warehouse.take("ad-spend", [row], name)["duplicate"] == 1
    assert versions(warehouse) == [1, 0]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("12.30", "12.3"),
        ("7", "7"),
        ("7.0", "7"),
        ("-3.50", "-3.5"),
        ("-0.00", "0"),
        ("1e2", "100"),
        ("1.5E-3", "0.0015"),
        ("100", "100"),
        ("12345678901234567.123456789", "12345678901234567.123456789"),
        ("0.1000000000000000055511", "0.1000000000000000055511"),
    ],
)
def test_amounts_are_exact_as_text_and_as_number(
    sqlite_warehouse: Warehouse, given: str, stored: str
) -> None:
    line = json.dumps(spend(spend="?"))
    for text in (line.replace('"?"', given), line.replace("?", given)):
        sqlite_warehouse.take("ad-spend", text.encode())
        assert [row["spend"] for row in sqlite_warehouse.records(SPEND)] == [stored]
    assert versions(sqlite_warehouse) == [1, 0]


@pytest.mark.parametrize(
    ("given", "stored"), [(Decimal("1.100"), "1.1"), (0.1, "0.1"), (5, "5"), (1e-7, "0.0000001")]
)
def test_amounts_of_parquet(sqlite_warehouse: Warehouse, given: Any, stored: str) -> None:
    row = spend(spend=given, date=date(2026, 1, 2))
    sqlite_warehouse.take("ad-spend", [row], "in.parquet")
    assert [row["spend"] for row in sqlite_warehouse.records(SPEND)] == [stored]


def test_finer_rows_stand_beside_each_other(warehouse: Warehouse) -> None:
    rows = [
        spend(),
        spend(segment="mobile"),
        spend(account_id="A2"),
        spend(campaign_id="c2"),
        spend(provider="google"),
        spend(date="2026-01-03"),
        spend(shop_id="b.example"),
        spend(campaign_id=12),
    ]
    assert warehouse.take("ad-spend", rows)["new"] == 8
    assert versions(warehouse) == [1, 1]


def test_the_last_import_wins_between_and_within_files(warehouse: Warehouse) -> None:
    assert warehouse.take("ad-spend", [spend(), spend(segment="s")])["new"] == 2
    counts = warehouse.take(
        "ad-spend", [spend(spend="1"), spend(provider="META", spend="2"), spend(segment="s")]
    )
    assert (counts["replaced"], counts["duplicate"]) == (1, 2)
    assert [row["spend"] for row in warehouse.records(SPEND)] == ["2", "12.34"]
    assert versions(warehouse) == [2, 0]


def test_the_last_import_wins_of_what_a_platform_claims(warehouse: Warehouse) -> None:
    """No claim is not a claim of none, and takes the place of an earlier claim."""
    claims = ("1", "1.0", "0", None)
    counts = [warehouse.take("ad-spend", [spend(reported_value=claim)]) for claim in claims]
    assert [(one["new"], one["replaced"]) for one in counts] == [(1, 0), (0, 0), (0, 1), (0, 1)]
    assert [row["reported_value"] for row in warehouse.records(SPEND)] == [""]


def test_a_claim_that_is_no_number_costs_itself_alone(sqlite_warehouse: Warehouse) -> None:
    counts = sqlite_warehouse.take("ad-spend", [spend(reported_conversions="many")])
    assert (counts["new"], counts["incomplete"]) == (1, 1)
    reason = "kept without reported_conversions: 'many' is not a number"
    assert sqlite_warehouse.reasons() == [(1, reason)]


def test_a_file_that_restates_itself_changes_nothing_the_second_time(warehouse: Warehouse) -> None:
    rows = [spend(spend="1"), spend(spend="2"), spend(spend="2"), spend(spend="1.0")]
    counts = warehouse.take("ad-spend", rows)
    assert (counts["new"], counts["duplicate"], counts["replaced"]) == (1, 3, 0)
    counts = warehouse.take("ad-spend", rows)
    assert (counts["new"], counts["duplicate"], counts["replaced"]) == (0, 4, 0)
    assert versions(warehouse) == [1, 0]


def test_two_imports_at_once(warehouse: Warehouse) -> None:
    """Both do all that they are asked; of each row one of them says that it is new."""
    rows = [
        spend(segment=str(n), shop_id=("a", "b")[n % 2] + ".example", spend=str(n))
        for n in range(5000)
    ]
    paths = [
        str(written(warehouse.folder / f"{name}.ndjson", some))
        for name, some in (("up", rows), ("down", rows[::-1]))
    ]
    running = [start_job(warehouse.url, "import", "ad-spend", path, "--json") for path in paths]
    assert [(one.wait(), one.errors) for one in running] == [(0, ""), (0, "")]
    counts = [json.loads(one.output) for one in running]
    assert sum(count["new"] for count in counts) == 5000
    assert sum(count["duplicate"] for count in counts) == 5000
    assert versions(warehouse) == [1, 1]


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_accounts(warehouse: Warehouse, name: str) -> None:
    failed = account(provider="Meta", status="ERROR", message="m" * 1001, synced_at="2026-01-03")
    rows = [account(account_id=""), account(account_id="A2")]
    assert warehouse.take("ad-accounts", rows, name)["new"] == 2
    assert warehouse.take("ad-accounts", [failed], name)["replaced"] == 1
    assert warehouse.take("ad-accounts", [failed], name)["duplicate"] == 1
    stored = warehouse.records(
        "SELECT provider, account_id, status, synced_at, message FROM ad_account ORDER BY account_id"
    )
    assert stored[0] == {
        "provider": "meta",
        "account_id": "",
        "status": "error",
        "synced_at": 1_767_398_400_000_000,
        "message": "m" * 1000,
    }
    assert versions(warehouse) == [2, 0]
