"""A month beside the shop's own report: the causes that made it are found to the cent, the rest is named."""

import json
import re
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.support.import_files import Row, order
from tests.support.job_commands import Commands
from tests.tiers import thorough
from warehouse.shops.reconcile import amount_of, month_of

SHOP = "a.example"
MONTH = datetime(2026, 10, 1, tzinfo=UTC)
# How the reports of these shops can read their orders.
WAYS = ("time_zone", "test_orders", "paid", "left_out", "refund_days", "edited_orders")


def instant(rng: Random) -> datetime:
    """In the month, or about its edges."""
    at = MONTH + timedelta(minutes=rng.randrange(-3 * 1440, 34 * 1440))
    if rng.random() < 0.3:
        at = rng.choice([MONTH, MONTH + timedelta(days=31)])
        at += timedelta(minutes=rng.randrange(-120, 120))
    return at


def any_orders(rng: Random) -> list[list[Row]]:
    """The versions of each order; the last one stands."""
    orders = []
    for number in range(rng.randrange(15, 60)):
        created, total = instant(rng), rng.randrange(100, 20_000)
        refunds: list[Row] = [
            {
                "refund_id": f"r{n}",
                "created_at": (created + timedelta(days=rng.randrange(0, 40))).isoformat(),
                "amount_cents": rng.randrange(1, total // 3),
            }
            for n in range(rng.choice([0, 0, 0, 1, 2]))
        ]
        own = order(
            order_id=f"o{number}",
            shop_id=SHOP,
            created_at=created.isoformat(),
            updated_at=(created + timedelta(days=1)).isoformat(),
            total_cents=total,
            refunds=[r for r in refunds if r["created_at"] < "2026-11-25"],
            test=rng.random() < 0.1,
            cancelled_at="2026-11-20T00:00:00Z" if rng.random() < 0.1 else None,
        )
        versions = [own]
        if rng.random() < 0.15:
            placed = own | {"updated_at": created.isoformat(), "total_cents": total + 777}
            versions.insert(0, placed)
        orders.append(versions)
    return orders


def report(orders: list[list[Row]], ways: set[str], zone: str) -> tuple[int, int, int]:
    """The report of a shop that reads its orders so: plainly, from the rows."""
    tz = ZoneInfo("UTC" if "time_zone" in ways else zone)

    def is_in(text: str) -> bool:
        at = datetime.fromisoformat(text).astimezone(tz)
        return (at.year, at.month) == (2026, 10)

    count = gross = refunded = 0
    for versions in orders:
        first, last = versions[0], versions[-1]
        is_cancelled = "cancelled_at" in last
        if (last["test"] and "test_orders" not in ways) or (is_cancelled and "left_out" in ways):
            continue
        total = (first if "edited_orders" in ways else last)["total_cents"]
        given = sum(r["amount_cents"] for r in last["refunds"])
        rest = total - given if is_cancelled and "paid" not in ways else 0
        if "refund_days" in ways:
            refunded += sum(r["amount_cents"] for r in last["refunds"] if is_in(r["created_at"]))
        if is_in(last["created_at"]):
            count, gross, refunded = count + 1, gross + total, refunded + rest
            refunded += 0 if "refund_days" in ways else given
    return count, gross, refunded


def asked(jobs: Commands, numbers: tuple[int, int, int]) -> dict[str, Any]:
    orders, gross, refunded = numbers
    money = (f"{gross / 100:.2f}", f"{refunded / 100:.2f}")
    words = ("--orders", str(orders), "--gross", money[0], "--refunded", money[1])
    said = jobs("reconcile", "--shop", SHOP, "--month", "2026-10", *words, "--json")
    found: dict[str, Any] = json.loads(said)
    return found


NOTHING = {"orders": 0, "gross_cents": 0, "refunded_cents": 0, "net_cents": 0}


@pytest.mark.parametrize("seed", [1, *thorough(range(100))])
def test_the_causes_of_a_made_up_month_are_found(sqlite_commands: Commands, seed: int) -> None:
    rng, jobs = Random(seed), sqlite_commands
    zone = rng.choice(["UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland"])
    jobs.take("shops", [{"shop_id": SHOP, "currency": "EUR", "timezone": zone}])
    orders = any_orders(rng)
    jobs.take("orders", [version for versions in orders for version in versions])
    ways = set(rng.sample(WAYS, rng.randrange(len(WAYS))))
    if {"paid", "left_out"} <= ways:
        ways.remove("paid")
    stated = report(orders, ways, zone)
    found = asked(jobs, stated)
    assert found["here"]["gross_cents"] == report(orders, set(), zone)[1]
    assert found["unexplained"] == NOTHING, (ways, found)
    names = {cause["cause"] for cause in found["causes"]}
    of_way = {"paid": "cancelled_orders", "left_out": "cancelled_orders"}
    assert len(names) <= len(ways)
    # Where another set of as many gives the report too, it is said.
    true = {of_way.get(way, way) for way in ways}
    assert names <= true or found["alternatives"] or len(names) < len(true), (ways, found)
    for name in NOTHING:
        difference = found["report"][name] - found["here"][name]
        assert found["difference"][name] == difference
        assert sum(cause[name] for cause in found["causes"]) == difference


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        *(("1,234.50", 123450), ("1.234,50", 123450), ("1.234", 123400), ("12", 1200)),
        *(("-20.00", -2000), ("\u22125", -500), ("1'234'567.5", 123456750)),
        *(("0.123", None), ("0.500", None), ("1,234.567", None), ("1.2345", None), ("x", None)),
    ],
)
def test_amounts_of_reports(text: str, cents: int | None) -> None:
    if cents is None:
        with pytest.raises(ValueError, match=re.escape(repr(text))):
            amount_of(text, "EUR")
    else:
        assert amount_of(text, "EUR") == cents


@pytest.mark.parametrize("text", ["0001-01", "9999-12", "1999-12", "2101-01", "2026-13", "2026-1"])
def test_no_order_is_of_such_a_month(text: str) -> None:
    with pytest.raises(ValueError, match="is not a month; write it as 2026-10"):
        month_of(text)


@pytest.mark.parametrize("total", [10**23, -5, "1e400"])
def test_a_reject_that_is_no_money(sqlite_commands: Commands, total: Any) -> None:
    commands = sqlite_commands
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    row = order(order_id="o", shop_id=SHOP, created_at="2026-10-05T00:00:00Z", total_cents=total)
    file = commands.folder / "rejected.ndjson"
    file.write_text(json.dumps(row))
    commands("import", "orders", str(file), status=3)
    figures = ("--orders", "0", "--gross", "0", "--refunded", "0")
    assert "defect" not in commands("reconcile", "--shop", SHOP, "--month", "2026-10", *figures)
