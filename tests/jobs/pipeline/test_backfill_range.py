"""A backfill of more days than there are does what one of exactly the days with data does."""

from typing import Any

from tests.support.import_files import event, order
from tests.support.job_commands import Commands
from warehouse.catalogue import SUMMARIES

# A day begins there 14 hours before, and 8 hours after UTC's.
SHOPS = {"early.example": "Pacific/Kiritimati", "late.example": "America/Los_Angeles"}


def stored(commands: Commands) -> list[list[Any]]:
    return [
        commands.rows(f"SELECT * FROM {summary.table} ORDER BY 1, 2, 3") for summary in SUMMARIES
    ]


def test_a_range_beyond_all_days_is_that_of_the_days_with_data(commands: Commands) -> None:
    shops = [{"shop_id": name, "currency": "EUR", "timezone": zone} for name, zone in SHOPS.items()]
    commands.take("shops", [*shops, {"shop_id": "empty.example", "currency": "EUR"}])
    for name in SHOPS:
        whose = {"shop_id": name, "visitor_id": "v1"}
        commands.take(
            "events",
            [
                event(**whose, event_id="1", occurred_at="2026-01-02T11:00:00Z"),
                event(**whose, event_id="2", occurred_at="2026-01-02T12:00:00Z", type="complete"),
            ],
        )
        commands.take("orders", [order(**whose, created_at="2026-01-09T09:00:00Z")])
    commands("rollup")
    right = stored(commands)

    def break_rows() -> None:
        commands.change("UPDATE daily_all_forms SET day = day + 1")
        # Rows of days of which there are no raw rows.
        commands.change("UPDATE daily_attribution SET day = day + 100")

    break_rows()
    said = commands("backfill", "--from", "2026-01-01", "--to", "2026-04-20")
    assert stored(commands) == right
    assert said.splitlines()[-1] == "108 days computed again from 4 events"
    break_rows()
    assert stored(commands) != right
    said = commands("backfill", "--from", "0001-01-01", "--to", "9999-12-31")
    assert stored(commands) == right
    assert said.splitlines()[-1] == "108 days computed again from 4 events"


def test_days_without_data_are_none(commands: Commands) -> None:
    commands.take("shops", [{"shop_id": "a.example", "currency": "EUR", "timezone": "Asia/Tokyo"}])
    everything = ("backfill", "--from", "0001-01-01", "--to", "9999-12-31")
    assert commands(*everything) == "0 days computed again from 0 events\n"
    commands.take("events", [event()])
    outside = commands("backfill", "--from", "9999-12-31", "--to", "9999-12-31")
    assert outside.splitlines()[-1] == "0 days computed again from 0 events"
    assert commands(*everything).splitlines()[-1] == "1 days computed again from 1 events"
