"""The lines of `status`: on a screen for hundreds of shops, and of one shop."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from adbc_driver_manager.dbapi import Cursor

from tests.support.import_files import Row, as_ndjson, event, order
from tests.support.job_commands import Commands

SHOPS = 400
SCREEN = 40


def of_shop(number: int) -> str:
    return f"shop-{number:03}.example"


def many_shops(commands: Commands) -> None:
    """Shops with figures; every tenth has had no orders for days; all have forms that are not known, and two
    have rows that wait."""
    now = datetime.now(UTC)
    commands.take(
        "shops", [{"shop_id": of_shop(number), "currency": "EUR"} for number in range(SHOPS)]
    )
    orders: list[Row] = []
    events: list[Row] = []
    for number in range(SHOPS):
        shop = of_shop(number)
        newest = now - timedelta(days=3 if number % 10 == 0 else 0, hours=1)
        days = [(newest - timedelta(days=day)).isoformat() for day in range(10)]
        orders += [
            order(shop_id=shop, order_id=f"o{day}", created_at=at) for day, at in enumerate(days)
        ]
        form = f"0192a000-0000-7000-8000-{number:012}"
        events.append(event(shop_id=shop, form_id=form))
    commands.take("orders", orders)
    commands.take("events", events)
    commands("rollup")
    commands.take("orders", [order(shop_id=of_shop(number), order_id="late") for number in (7, 9)])


def test_hundreds_of_shops_fit_a_screen_and_one_is_shown_in_full(
    sqlite_commands: Commands,
) -> None:
    commands = sqlite_commands
    many_shops(commands)
    lines = commands("status", status=1).splitlines()
    assert len(lines) <= SCREEN, lines
    assert lines[0] == f"warehouse: {commands.url}"
    assert "NEEDS YOU: findings of no-orders: 38 more (--json has all)" in lines
    assert "NEEDS YOU: findings of unknown-forms: 398 more (--json has all)" in lines
    assert "shops: 400; 398 are up to date" in lines
    behind = lines[lines.index("shops: 400; 398 are up to date") + 1 :][:2]
    assert [line.partition(" wait ")[0] for line in behind] == [
        f"  {of_shop(number)}: current, 1 rows" for number in (7, 9)
    ]
    report = commands.status(1)
    assert len(report["shops"]) == SHOPS
    assert len(report["problems"]) == len(report["conditions"]) == 440
    one = commands("status", "--shop", of_shop(10), status=1).splitlines()
    assert [line.partition(" ")[0] for line in one[:3]] == ["warehouse:", "NEEDS", "NEEDS"]
    assert one[3] == f"{of_shop(10)} (UTC): current"
    assert len(one) == 7
    of_it = json.loads(commands("status", "--shop", of_shop(10), "--json", status=1))
    assert [finding["condition"] for finding in of_it["conditions"]] == [
        "no-orders",
        "unknown-forms",
    ]
    assert "no shop 'x.example'" in commands("status", "--shop", "x.example", status=1)


def test_the_address_of_the_warehouse_has_no_password(sqlite_commands: Commands) -> None:
    commands = sqlite_commands
    commands.settings["WAREHOUSE_URL"] = "postgresql://me:S3cret@127.0.0.1:1/w?password=S3cret"
    assert "S3cret" not in commands("status", status=1)


def test_a_landed_file_keeps_its_name_on_one_line(sqlite_commands: Commands) -> None:
    commands = sqlite_commands
    commands.land("orders", "a\n\x1b[31m.txt", as_ndjson([order()]))
    commands("landing", status=1)
    said = commands("status", status=1)
    assert "a\\n\\x1b[31m.txt could not be imported" in said


def test_more_shops_are_not_more_statements(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shops of every kind: with rows that wait, that are behind, and that have nothing."""
    sent: list[str] = []
    execute = Cursor.execute

    def counted(self: Cursor, statement: str, *values: object) -> None:
        sent.append(statement)
        execute(self, statement, *values)

    monkeypatch.setattr(Cursor, "execute", counted)
    numbers = []
    for first, last in ((0, 3), (3, 60)):
        shops = [of_shop(number) for number in range(first, last)]
        commands.take("shops", [{"shop_id": shop, "currency": "EUR"} for shop in shops])
        commands.take("orders", [order(shop_id=shop) for shop in shops[1:]])
        commands("rollup")
        commands.take("orders", [order(shop_id=shop, order_id="late") for shop in shops[2:]])
        sent.clear()
        assert len(commands.status()["shops"]) == last
        numbers.append(len(sent))
    assert numbers[0] == numbers[1]
