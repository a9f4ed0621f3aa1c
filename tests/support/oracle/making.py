"""Literal raw records for the oracle's own tests, with what does not matter filled in."""

from datetime import UTC, date, datetime, time
from typing import Any

from tests.support.oracle import Oracle
from tests.support.oracle.records import Row

SHOP = "shop.example"
FORM = "00000000-0000-4000-8000-00000000000a"
OTHER_FORM = "00000000-0000-4000-8000-00000000000b"
MARCH = "2024-03-01..2024-03-31"
TODAY = date(2024, 3, 31)


def event(event_id: str, type: str, at: str, session: str = "s1", **more: Any) -> Row:
    """An event of March 2024; `at` is `DAY` or `DAY HH:MM[:SS]`."""
    return {
        "event_id": event_id,
        "shop_id": SHOP,
        "form_id": FORM,
        "form_session_id": session,
        "visitor_id": f"visitor of {session}",
        "type": type,
        "occurred_at": march(at),
        **more,
    }


def submission(session: str, at: str, **more: Any) -> Row:
    """The one event of a session that was submitted and nothing else."""
    return event(f"subscribe {session}", "subscribe", at, session, **more)


def answered(session: str, at: str, field: str, value: Any, type: str = "choice") -> Row:
    more = {"field_id": field, "field_type": type, "value": value}
    return event(f"answer {session} {field}", "answer", at, session, **more)


def order(order_id: str, at: str, cents: int, **more: Any) -> Row:
    return {
        "order_id": order_id,
        "shop_id": SHOP,
        "created_at": march(at),
        "total_cents": cents,
        **more,
    }


def spend(provider: str, campaign: str, day: int, amount: float, **more: Any) -> Row:
    return {
        "shop_id": SHOP,
        "provider": provider,
        "campaign_id": campaign,
        "campaign_name": f"{campaign} name",
        "date": f"2024-03-{day:02}",
        "currency": "EUR",
        "spend": amount,
        "impressions": 100,
        "clicks": 10,
        **more,
    }


def march(at: str) -> str:
    """`9 14:30` as `2024-03-09T14:30`."""
    day, _, clock = at.partition(" ")
    return f"2024-03-{int(day):02}T{clock or '00:00'}Z"


def ask(path: str, rows: list[Row], query: dict[str, str] | None = None, **settings: Any) -> Any:
    """The oracle's answer about March 2024 over rows of any kind; `{form}` in the path is FORM.

    Settings: `timezone`, `currency`, `today`, `accounts`, `rates`.
    """
    shop = {"shop_id": SHOP, "currency": settings.get("currency", "EUR")}
    if "timezone" in settings:
        shop["timezone"] = settings["timezone"]
    records = {
        "shops": [shop],
        "forms": [{"form_id": FORM, "shop_id": SHOP, "name": "Form"}],
        "events": [row for row in rows if "event_id" in row],
        "orders": [row for row in rows if "order_id" in row],
        "ad-spend": [row for row in rows if "spend" in row],
        "ad-accounts": settings.get("accounts", []),
        "exchange-rates": settings.get("rates", []),
    }
    today = settings.get("today", TODAY)
    now = datetime.combine(today, time(12), UTC)
    asked = {"range": MARCH, **(query or {})}
    return Oracle(records).answer(path.format(form=FORM), asked, SHOP, today, now)


def table(rows: list[Row], *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of some rows, to be read as a table."""
    return [tuple(row[column] for column in columns) for row in rows]
