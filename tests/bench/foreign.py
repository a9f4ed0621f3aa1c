"""The benchmark's files of other systems: its orders, events, ad spend and rates as those export them."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson

Row = dict[str, Any]

# Events, and days of rates, that are written at most.
_EVENTS: Final = 100_000
_DAYS: Final = 7_000
_CURRENCIES: Final = [f"{first}{second}Q" for first in "ABCDE" for second in "FGHIJK"]
_SEGMENTS: Final = 10
_EVENT_NAMES: Final = {
    "view": "Form Viewed",
    "start": "Form Started",
    "step_view": "Form Step Viewed",
    "step_complete": "Form Step Completed",
    "answer": "Form Question Answered",
    "subscribe": "Form Subscribed",
    "complete": "Form Completed",
}
_AGENT: Final = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)


def write(data: Path) -> None:
    """Beside the benchmark's own files, one of each format: FORMAT.json, .jsonl or .csv."""
    for name, (source, suffix, lines) in _WRITERS.items():
        with (data / f"{name}{suffix}").open("wb") as file:
            file.writelines(lines(_rows(data / source)))


def files(data: Path) -> Iterator[tuple[str, str, Path, int]]:
    """Format, kind, file and number of records of each."""
    for name, (source, suffix, _) in _WRITERS.items():
        kind = "events" if source.startswith("events") else source.removesuffix(".ndjson")
        yield name, kind, data / f"{name}{suffix}", _counted(data / source, name)


def _counted(source: Path, name: str) -> int:
    if name == "ecb":
        return _DAYS * len(_CURRENCIES)
    count = sum(1 for _ in _rows(source))
    return count * _SEGMENTS if name in ("meta", "google-ads", "tiktok") else count


def _rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        yield from map(orjson.loads, islice(file, _EVENTS))


def _lines(rows: Iterable[Any]) -> Iterator[bytes]:
    return (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


def _money(cents: int) -> Row:
    amount = {"amount": f"{cents // 100}.{cents % 100:02}", "currency_code": "USD"}
    return {"shop_money": amount, "presentment_money": amount}


_PERSON: Final = {
    "first_name": "Ada",
    "last_name": "Byron",
    "address1": "12 St James's Square",
    "city": "London",
    "zip": "SW1Y 4JH",
    "phone": "+44 20 7946 0958",
}


def _shopify(rows: Iterable[Row]) -> Iterator[bytes]:
    yield b'{"orders": ['
    for number, row in enumerate(rows):
        yield b"," if number else b""
        yield orjson.dumps(_shopify_order(number, row))
    yield b"]}"


def _shopify_order(number: int, row: Row) -> Row:
    item = {"title": "Serum", "quantity": 1, "price": "12.00", "price_set": _money(1200)}
    query = f"utm_source={row['utm_source']}&utm_campaign={row['utm_campaign'].replace(' ', '+')}"
    return {
        "id": number,
        "created_at": row["created_at"],
        "updated_at": row["created_at"],
        "currency": "USD",
        "total_price": _money(row["total_cents"])["shop_money"]["amount"],
        "total_price_set": _money(row["total_cents"]),
        "total_discounts_set": _money(row.get("discount_cents", 0)),
        "email": row.get("email"),
        "customer": {"id": row.get("customer_id"), "default_address": _PERSON},
        "billing_address": _PERSON,
        "shipping_address": _PERSON,
        "note_attributes": [{"name": "_visitor_id", "value": row.get("visitor_id")}],
        "discount_codes": [
            {"code": one["code"], "amount": "5.00"} for one in row.get("discount_codes", ())
        ],
        "line_items": [item] * 5,
        "refunds": [
            {
                "id": f"{number}-{place}",
                "created_at": one["created_at"],
                "transactions": [
                    {
                        "kind": "refund",
                        "status": "success",
                        "amount": _money(one["amount_cents"])["shop_money"]["amount"],
                        "currency": "USD",
                    }
                ],
            }
            for place, one in enumerate(row.get("refunds", ()))
        ],
        "landing_site": f"/products/serum?{query}",
    }


def _bulk(rows: Iterable[Row]) -> Iterator[bytes]:
    return _lines(line for number, row in enumerate(rows) for line in _bulk_lines(number, row))


def _bulk_lines(number: int, row: Row) -> Iterator[Row]:
    gid = f"gid://shopify/Order/{number}"
    codes = [one["code"] for one in row.get("discount_codes", ())]
    yield {
        "id": gid,
        "createdAt": row["created_at"],
        "updatedAt": row["created_at"],
        "totalPriceSet": _bag(row["total_cents"]),
        "totalDiscountsSet": _bag(row.get("discount_cents", 0)),
        "email": row.get("email"),
        "customAttributes": [{"key": "_visitor_id", "value": row.get("visitor_id")}],
        "discountCodes": codes,
        "refunds": [],
        "customerJourneySummary": {
            "lastVisit": {"landingPage": f"https://a.example/?utm_source={row['utm_source']}"}
        },
    }
    for line in range(3):
        allocations = [
            {"allocatedAmountSet": _bag(100), "discountApplication": {"code": code}}
            for code in codes
        ]
        yield {
            "id": f"gid://shopify/LineItem/{number}{line}",
            "discountAllocations": allocations,
            "__parentId": gid,
        }


def _bag(cents: int) -> Row:
    return {"shopMoney": {"amount": f"{cents / 100:.2f}", "currencyCode": "USD"}}


def _segment(rows: Iterable[Row]) -> Iterator[bytes]:
    return _lines(map(_call, rows))


def _call(row: Row) -> Row:
    names = ("form_id", "form_session_id", "step_id", "step_index", "step_name", "field_id",
             "field_type", "value", "email", "discount_code")  # fmt: skip
    campaign = {"source": row.get("utm_source"), "name": row.get("utm_campaign")}
    return {
        "anonymousId": row["visitor_id"],
        "context": {
            "campaign": campaign,
            "ip": "203.0.113.7",
            "library": {"name": "analytics.js", "version": "next-1.81.0"},
            "locale": "en-GB",
            "page": {"path": "/", "title": "Home", "url": "https://a.example/"},
            "userAgent": _AGENT,
        },
        "event": _EVENT_NAMES[row["type"]],
        "integrations": {},
        "messageId": row["event_id"],
        "properties": {name: row[name] for name in names if name in row},
        "receivedAt": row["occurred_at"],
        "timestamp": row["occurred_at"],
        "type": "track",
        "userId": row.get("customer_id"),
    }


def _meta(rows: Iterable[Row]) -> Iterator[bytes]:
    return _lines(
        {
            "account_id": "1",
            "account_currency": row["currency"],
            "campaign_id": row["campaign_id"],
            "campaign_name": row["campaign_name"],
            "ad_id": str(ad),
            "date_start": row["date"],
            "date_stop": row["date"],
            "spend": str(row["spend"]),
            "impressions": str(row["impressions"]),
            "clicks": str(row["clicks"]),
        }
        for row in rows
        for ad in range(_SEGMENTS)
    )


def _google(rows: Iterable[Row]) -> Iterator[bytes]:
    return _lines(
        {
            "customer": {"resourceName": "customers/1", "id": "1", "currencyCode": row["currency"]},
            "campaign": {"id": row["campaign_id"], "name": row["campaign_name"]},
            "adGroup": {"id": str(group)},
            "metrics": {
                "clicks": str(row["clicks"]),
                "impressions": str(row["impressions"]),
                "costMicros": str(round(row["spend"] * 1_000_000)),
            },
            "segments": {"date": row["date"], "device": "MOBILE"},
        }
        for row in rows
        for group in range(_SEGMENTS)
    )


def _tiktok(rows: Iterable[Row]) -> Iterator[bytes]:
    return _lines(
        {
            "dimensions": {
                "campaign_id": row["campaign_id"],
                "ad_id": str(ad),
                "stat_time_day": f"{row['date']} 00:00:00",
            },
            "metrics": {
                "campaign_name": row["campaign_name"],
                "currency": row["currency"],
                "spend": str(row["spend"]),
                "impressions": str(row["impressions"]),
                "clicks": str(row["clicks"]),
            },
        }
        for row in rows
        for ad in range(_SEGMENTS)
    )


def _ecb(_rows: Iterable[Row]) -> Iterator[bytes]:
    yield f"Date,{','.join(_CURRENCIES)},\n".encode()
    for day in range(_DAYS):
        rates = ",".join(f"1.{day % 1000:03}{place}" for place in range(len(_CURRENCIES)))
        yield f"{date(2026, 11, 1) - timedelta(days=day)},{rates},\n".encode()


# Format -> the benchmark's file that it is made of, the ending of its name, what writes it.
_WRITERS: Final[dict[str, tuple[str, str, Callable[[Iterable[Row]], Iterator[bytes]]]]] = {
    "shopify": ("orders.ndjson", ".json", _shopify),
    "shopify-bulk": ("orders.ndjson", ".jsonl", _bulk),
    "segment": ("events.ndjson", ".jsonl", _segment),
    "meta": ("ad-spend.ndjson", ".jsonl", _meta),
    "google-ads": ("ad-spend.ndjson", ".jsonl", _google),
    "tiktok": ("ad-spend.ndjson", ".jsonl", _tiktok),
    "ecb": ("exchange-rates.ndjson", ".csv", _ecb),
}
