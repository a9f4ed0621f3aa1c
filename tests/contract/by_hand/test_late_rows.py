"""A late row of any day is in the figures after the next refresh: there is no window to set."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.support.import_files import FORM, event, order
from tests.support.job_commands import SHOP, Commands
from tests.support.product import Product

TODAY = datetime.now(UTC).date()


def figures(product: Product, day: date) -> tuple[int, int, int]:
    """Views, submissions and credited orders of the form on a day."""
    status, body = product.get(f"/v1/forms/{FORM}/trends", {"range": f"{day}"}, SHOP["shop_id"])
    assert status == 200, body
    product.close()
    (row,) = body["data"]
    return row["views"], row["submissions"], row["orders"]


@pytest.mark.parametrize("days", [1, 45, 400, 3_000])
def test_a_late_row_of_any_day(commands: Commands, product: Product, days: int) -> None:
    day = TODAY - timedelta(days)
    commands.take("shops", [SHOP])
    commands.take("forms", [{"form_id": FORM, "shop_id": SHOP["shop_id"], "name": "Quiz"}])
    commands.take("events", [event(occurred_at=f"{TODAY}T00:00:01Z")])
    commands("run", "refresh")
    assert figures(product, day) == (0, 0, 0)
    # The order first, then the sign-up that it is credited to.
    commands.take("orders", [order(created_at=f"{day}T12:00:00Z", visitor_id="v2")])
    commands("run", "refresh")
    assert figures(product, day) == (0, 0, 0)
    late = {"form_session_id": "s2", "visitor_id": "v2", "occurred_at": f"{day}T11:00:00Z"}
    commands.take(
        "events",
        [event(event_id=f"late {name}", type=name, **late) for name in ("view", "subscribe")],
    )
    commands("run", "refresh")
    assert figures(product, day) == (1, 1, 1)
