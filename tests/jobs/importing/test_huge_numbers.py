"""A number of any size, in any place of a file, costs its own row at most: it ends neither the process nor
the import."""

import json
from typing import Any

import pytest

from jobs.importing.rejects import retry_rejects
from tests.jobs.importing.conftest import Warehouse
from tests.support.form_calls import call
from tests.support.import_files import Row, answer, event, form, order, rate, spend
from warehouse.connections.arrow import open_arrow

# Neither a float nor a Decimal holds the first three, and Python does not read the last as an integer.
NUMBERS = [
    "1e99999999999999999999",
    "-1e99999999999999999999",
    "0e-99999999999999999999",
    "9" * 5_000,
]
ROWS: list[tuple[str, Row]] = [
    ("events", event(event_id="@")),
    ("events", event(step_name="@")),
    ("events", event(type="step_view", step_id="s", step_index="@")),
    ("events", answer("@", "scale")),
    ("events", answer(["@"], "multi_choice")),
    ("events", event(occurred_at="@")),
    ("orders", order(total_cents="@")),
    ("orders", order(test="@")),
    ("orders", order(email="@")),
    ("orders", order(discount_codes=[{"code": "@"}])),
    ("forms", form(schema={"a": "@"})),
    ("ad-spend", spend(spend="@")),
    ("exchange-rates", rate(rate="@")),
    ("shops", {"shop_id": "n.example", "currency": "@"}),
]
GOOD = {
    "events": event(event_id="good"),
    "orders": order(order_id="good"),
    "forms": form(),
    "ad-spend": spend(),
    "exchange-rates": rate(),
    "shops": {"shop_id": "g.example", "currency": "EUR"},
}


def with_number(row: Any, number: str) -> bytes:
    return json.dumps(row).replace('"@"', number).encode()


@pytest.mark.parametrize("number", NUMBERS, ids=["large", "negative", "small", "long"])
def test_a_row_with_a_huge_number_is_a_reject(sqlite_warehouse: Warehouse, number: str) -> None:
    for kind, row in ROWS:
        lines = with_number(row, number) + b"\n" + json.dumps(GOOD[kind]).encode()
        counts = sqlite_warehouse.take(kind, lines)
        assert counts["rejected"] + counts.get("incomplete", 0) == 1, (kind, row)
        assert counts["read"] == 2, (kind, row)
    before = sqlite_warehouse.reasons()
    assert all("defect" not in reason for _, reason in before)
    with open_arrow(sqlite_warehouse.url) as connection:
        counted = retry_rejects(connection)
    assert counted.rejected + counted.more.get("incomplete", 0) == len(before)
    assert sqlite_warehouse.reasons() == before


@pytest.mark.parametrize("number", NUMBERS, ids=["large", "negative", "small", "long"])
@pytest.mark.parametrize(("document", "taken"), [("%s\n%s\n%s", 2), ("[%s,\n%s,%s]", 1)])
def test_a_file_of_another_system_too(
    sqlite_warehouse: Warehouse, number: str, document: str, taken: int
) -> None:
    """The integer ended the process with a segmentation fault in `ijson`."""
    calls = [call("a"), call("b"), call("c")]
    calls[1]["properties"]["step_index"] = "@"
    path = sqlite_warehouse.folder / "calls.json"
    path.write_text(document % tuple(with_number(one, number).decode() for one in calls))
    counts = sqlite_warehouse.take_file("events", path, "a.example", "segment")
    assert counts["new"] >= taken
    assert counts["rejected"] + counts.get("incomplete", 0) == 1
