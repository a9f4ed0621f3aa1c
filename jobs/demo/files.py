"""The demo's input files: one or more for each kind that `python -m jobs import` takes."""

import csv
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from jobs.demo.cast import FORMS, SHOP, SHOP_ID, ZONE
from jobs.demo.purchases import Order
from jobs.demo.spending import ad_accounts, ad_spend, exchange_rates
from jobs.demo.story import days_until, events_and_orders
from jobs.demo.visits import Event

Files = dict[str, list[Path]]


def write(folder: Path, now: datetime, days: int) -> Files:
    """Write `days` days of data, the last of which ends `now`.

    Returns the files by kind, in the order in which they are to be imported.
    """
    folder.mkdir(parents=True, exist_ok=True)
    today = now.astimezone(ZONE).date()
    all_days = days_until(today, days)
    midnight = datetime.combine(today, datetime.min.time(), ZONE)
    elapsed = (now - midnight) / timedelta(days=1)

    events: dict[str, list[Event]] = {}
    orders: list[Order] = []
    for day, day_events, day_orders in events_and_orders(all_days, now):
        events.setdefault(f"{day:%Y-%m}", []).extend(day_events)
        orders += day_orders
    spend = [row for day in all_days for row in ad_spend(day, elapsed if day == today else 1.0)]
    forms = []
    for number, form in enumerate(FORMS):
        # Before any event. The same at each run, so that an import does not undo a change by the API.
        created = datetime(2024, 10, 1 + number, 9, tzinfo=ZONE)
        own = {"form_id": form.id, "shop_id": SHOP_ID, "name": form.name, "status": form.status}
        times = {"created_at": created, "updated_at": created}
        forms.append(own | {"schema": form.schema} | times)
    return {
        "shops": [_ndjson(folder / "shops.ndjson", [SHOP])],
        "forms": [_ndjson(folder / "forms.ndjson", forms)],
        "exchange-rates": [
            # From a week before, since there are no rates for a first day on a weekend.
            _csv(
                folder / "eurofxref-hist.csv",
                exchange_rates(all_days[0] - timedelta(days=7), today),
            )
        ],
        "ad-accounts": [_ndjson(folder / "ad-accounts.ndjson", ad_accounts(now))],
        "ad-spend": [
            _csv(folder / "ad-spend.csv", [list(spend[0]), *(list(row.values()) for row in spend)])
        ],
        "events": [
            _ndjson(folder / f"events-{month}.ndjson", month_events)
            for month, month_events in events.items()
        ],
        "orders": [_ndjson(folder / "orders.ndjson", orders)],
    }


def _ndjson(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_bytes(
        b"".join(
            orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z) for row in rows
        )
    )
    return path


def _csv(path: Path, rows: Iterable[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return path
