"""Small batches of imports that are forgotten are joined; figures, undos and rebuilds do not notice."""

import pytest

from tests.support.import_files import event, order
from tests.support.job_commands import Commands
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.editions import pending_batches

SHOPS = [{"shop_id": name, "currency": "EUR"} for name in ("a.example", "b.example")]


def test_batches_of_forgotten_imports_are_joined(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_batches, "_MIN_COMPACTED", 1)
    commands.take("shops", SHOPS)
    for number in range(4):
        commands.take("events", [event(event_id=f"e{number}")])
        commands.take("orders", [order(order_id=f"o{number}")])
        if number in (0, 3):
            commands("rollup")
    age = f"UPDATE import_file SET ended_at = ended_at - {31 * MICROS_PER_DAY}"
    commands.change(f"{age} WHERE import_id < 9")
    commands("purge")
    batches = "SELECT kind || ' ' || rows FROM import_batch ORDER BY batch_id"
    assert commands.rows(batches) == ["events 3", "orders 3", "events 1", "orders 1"]
    assert "no differences" in commands("verify", "--all")
    commands.take("events", [event(event_id="e4")])
    commands("rollup")
    commands("rebuild")
    assert commands.rows("SELECT SUM(orders) FROM daily_attribution") == [4]
    (newest,) = commands.rows("SELECT MAX(import_id) FROM import_file")
    commands("imports", "undo", str(newest))
    assert commands.rows("SELECT event_id FROM raw_event ORDER BY event_id") == [
        "e0",
        "e1",
        "e2",
        "e3",
    ]
    # The batch went with its rows.
    assert commands.rows("SELECT COUNT(*) FROM import_batch WHERE rows = 0") == [0]


def test_what_an_edition_lacks_is_not_joined(commands: Commands) -> None:
    commands.take("shops", SHOPS)
    for number in range(4):
        commands.take("orders", [order(order_id=f"o{number}")])
    commands.change(f"UPDATE import_file SET ended_at = ended_at - {31 * MICROS_PER_DAY}")
    commands("purge")
    assert commands.rows("SELECT rows FROM import_batch") == [1, 1, 1, 1]
    commands("rollup")
    assert commands.rows("SELECT SUM(orders) FROM daily_attribution") == [4]
