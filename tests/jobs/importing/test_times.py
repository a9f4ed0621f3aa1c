"""Times as producers write them: every spelling of ISO 8601 that one meets, and what is none."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from jobs.importing.values.errors import InvalidValue
from jobs.importing.values.times import any_instant
from tests.support.import_files import account, event, form, order
from tests.support.warehouse import Warehouse
from warehouse.domain.time import from_micros

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("2026-01-02T12:00:00Z", NOON),
        ("2026-01-02t12:00:00z", NOON),
        ("2026-01-02 12:00:00 Z", NOON),
        ("  2026-01-02T12:00:00Z\n", NOON),
        ("2026-01-02T12:00:00", NOON),
        ("2026-01-02T12:00", NOON),
        ("2026-01-02T12", NOON),
        ("20260102T120000Z", NOON),
        ("2026-01-02", NOON - timedelta(hours=12)),
        ("2026-01-02T17:45:00+05:45", NOON),
        ("2026-01-02T17:45:00+0545", NOON),
        ("2026-01-02 14:00:00+02", NOON),
        ("2026-01-02T12:00:00-00:00", NOON),
        ("2026-01-02T12:00:00.5Z", NOON + timedelta(milliseconds=500)),
        ("2026-01-02T12:00:00,5Z", NOON + timedelta(milliseconds=500)),
        ("2026-01-02T12:00:00.123456789Z", NOON + timedelta(microseconds=123456)),
        ("2026-01-01T24:00:00Z", NOON - timedelta(hours=12)),
        ("20260101T2400+02", NOON - timedelta(hours=14)),
        ("2026-01-01T23:59:60Z", NOON - timedelta(hours=12)),
        ("2026-01-02T01:59:60+02:00", NOON - timedelta(hours=12)),
    ],
)
def test_a_time(text: str, means: datetime) -> None:
    assert from_micros(any_instant(text)) == means


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "1767355200",
        "2026-1-2",
        "2026-02-29",
        "2026-01-02T",
        "2026-01-02T3:04:05Z",
        "2026-01-02T12:60:00Z",
        "2026-01-02T12:00:60Z",
        "2026-01-02T23:59:61Z",
        "2026-01-02T24:00:01Z",
        "2026-01-02T24:30Z",
        "2026-01-02T25:00:00Z",
        "2026-01-02T12:00:00.Z",
        "2026-01-02T12:00:00 UTC",
        "2026-01-02T12:00:00+24:00",
        "2026-01-02T12:00:00Zulu",
        "+2026-01-02T12:00:00Z",
        "２０２６-01-02",
    ],
)
def test_no_time(text: str) -> None:
    with pytest.raises(InvalidValue, match="is not an ISO 8601 time"):
        any_instant(text)


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_spellings_side_by_side(sqlite_warehouse: Warehouse, name: str) -> None:
    texts = ["2026-01-02T12:00:00Z", "2026-01-02T14:00:00+02:00", " 2026-01-02T12:00", "noon"]
    rows = [event(event_id=f"{n}", occurred_at=text) for n, text in enumerate(texts)]
    assert sqlite_warehouse.take("events", rows, name)["rejected"] == 1
    found = sqlite_warehouse.records("SELECT DISTINCT occurred_at FROM raw_event")
    assert [from_micros(row["occurred_at"]) for row in found] == [NOON]


@pytest.mark.parametrize(
    ("value", "means"),
    [
        (NOON.replace(tzinfo=None), NOON),
        (datetime(2026, 1, 2, 14, tzinfo=timezone(timedelta(hours=2))), NOON),
        (date(2026, 1, 2), NOON - timedelta(hours=12)),
    ],
)
def test_times_typed_by_parquet(sqlite_warehouse: Warehouse, value: Any, means: datetime) -> None:
    sqlite_warehouse.take("events", [event(occurred_at=value)], "in.parquet")
    (row,) = sqlite_warehouse.records("SELECT occurred_at FROM raw_event")
    assert from_micros(row["occurred_at"]) == means


def test_the_first_and_the_last_instant(sqlite_warehouse: Warehouse) -> None:
    taken = ["2000-01-01T00:00:00Z", "1999-12-31T23:00:00-01:00"]
    refused = ["1999-12-31T23:59:59.999999Z", "2000-01-01T00:00:00+01:00", "2100-12-31T24:00:00Z"]
    rows = [event(event_id=f"{n}", occurred_at=text) for n, text in enumerate(taken + refused)]
    assert sqlite_warehouse.take("events", rows)["new"] == 2
    assert sqlite_warehouse.reasons() == [
        (line, f"occurred_at: '{text}' is before 2000 or after 2100")
        for line, text in enumerate(refused, 3)
    ]


# Far from the limit by more than a test takes.
SOON, TOO_LATE = timedelta(hours=23), timedelta(hours=25)


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_an_event_may_be_a_day_ahead(sqlite_warehouse: Warehouse, name: str) -> None:
    """Whether the column is clean or not."""
    soon, late = ((datetime.now(UTC) + ahead).isoformat() for ahead in (SOON, TOO_LATE))
    assert sqlite_warehouse.take("events", [event(occurred_at=soon)], name)["new"] == 1
    rows = [event(event_id="2", occurred_at=soon), event(event_id="3", occurred_at=late)]
    assert sqlite_warehouse.take("events", rows, name)["new"] == 1
    reason = f"occurred_at: '{late}' is more than a day ahead"
    assert [text for _, text in sqlite_warehouse.reasons()] == [reason]


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("orders", "created_at"),
        ("orders", "updated_at"),
        ("orders", "cancelled_at"),
        ("orders", "refunds"),
        ("forms", "created_at"),
        ("forms", "updated_at"),
        ("ad-accounts", "synced_at"),
    ],
)
def test_every_instant_is_at_most_a_day_ahead(
    sqlite_warehouse: Warehouse, kind: str, field: str
) -> None:
    make = {"orders": order, "forms": form, "ad-accounts": account}[kind]
    for ahead, taken in ((SOON, 1), (TOO_LATE, 0)):
        at: Any = (datetime.now(UTC) + ahead).isoformat()
        if field == "refunds":
            at = [{"refund_id": "r", "created_at": at, "amount_cents": 1}]
        counts = sqlite_warehouse.take(kind, [make(**{field: at})])
        assert "incomplete" not in counts or taken == 0
        needs = kind == "ad-accounts" or (kind, field) == ("orders", "created_at")
        assert counts["rejected"] == (needs and not taken)
    ((_, reason),) = sqlite_warehouse.reasons()
    assert reason.removeprefix("kept without ").startswith(f"{field}: ")
    assert reason.endswith(" is more than a day ahead")
