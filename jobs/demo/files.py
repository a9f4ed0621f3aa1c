"""The demo's input files, one or more for each kind that `python -m jobs import` takes."""

import csv
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from jobs.demo.cast import DAYS, FORMS, SHOP, SHOP_ID, ZONE, Form
from jobs.demo.purchases import Order
from jobs.demo.spending import ad_accounts, ad_spend, exchange_rates
from jobs.demo.story import days_until, tell
from jobs.demo.visits import Event

Files = dict[str, list[Path]]


def write(folder: Path, now: datetime, days: int = DAYS) -> Files:
    """Write `days` days up to `now`, the last one as far as it has come.

    Returns the files by kind, in the order in which a newcomer would import them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    today = now.astimezone(ZONE).date()
    told = days_until(today, days)
    midnight = datetime.combine(today, datetime.min.time(), ZONE)
    elapsed = (now - midnight) / timedelta(days=1)

    events: dict[str, list[Event]] = {}
    orders: list[Order] = []
    for day, of_day, bought in tell(told, now):
        events.setdefault(f"{day:%Y-%m}", []).extend(of_day)
        orders += bought
    spend = [row for day in told for row in ad_spend(day, elapsed if day == today else 1.0)]
    return {
        "shops": [_ndjson(folder / "shops.ndjson", [SHOP])],
        "forms": [_ndjson(folder / "forms.ndjson", [_form(form) for form in FORMS])],
        "exchange-rates": [
            # The days before the first are for a first day on a weekend.
            _csv(folder / "eurofxref-hist.csv", exchange_rates(told[0] - timedelta(days=7), today))
        ],
        "ad-accounts": [_ndjson(folder / "ad-accounts.ndjson", ad_accounts(now))],
        "ad-spend": [
            _csv(folder / "ad-spend.csv", [list(spend[0]), *(list(row.values()) for row in spend)])
        ],
        "events": [
            _ndjson(folder / f"events-{month}.ndjson", of_month)
            for month, of_month in events.items()
        ],
        "orders": [_ndjson(folder / "orders.ndjson", orders)],
    }


def _form(form: Form) -> dict[str, Any]:
    # Older than any event; the same at each run, so that an edit made through the API stays.
    created = datetime(2024, 10, 1 + FORMS.index(form), 9, tzinfo=ZONE)
    return {
        "form_id": form.id,
        "shop_id": SHOP_ID,
        "name": form.name,
        "status": form.status,
        "schema": form.schema,
        "created_at": created,
        "updated_at": created,
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
