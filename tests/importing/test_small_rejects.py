"""Every reason for which a row of a small kind is not taken."""

import json
from typing import Any

import pytest

from tests.importing.conftest import Warehouse
from tests.importing.files import FORM, Row
from tests.importing.test_ads import account, spend
from tests.importing.test_exchange_rates import rate
from tests.importing.test_forms import form

LONG = "x" * 256
SHOP = {"shop_id": "n.example", "currency": "EUR"}

Case = tuple[Row, str]

SHOPS: list[Case] = [
    (SHOP | {"shop_id": ""}, "shop_id: missing"),
    (SHOP | {"shop_id": LONG}, "shop_id: longer than 255 characters"),
    (SHOP | {"shop_id": "a\0"}, "shop_id: has a NUL character"),
    (SHOP | {"shop_id": True}, "shop_id: not a text"),
    (SHOP | {"currency": None}, "currency: missing"),
    (SHOP | {"currency": "EURO"}, "currency: not a currency code of three letters"),
    (SHOP | {"currency": "XQX"}, "currency: not a currency of ISO 4217"),
    (SHOP | {"timezone": "Mars/Olympus"}, "timezone: not an IANA time zone"),
    (SHOP | {"timezone": "../etc/passwd"}, "timezone: not an IANA time zone"),
    (SHOP | {"timezone": 2}, "timezone: not an IANA time zone"),
    (SHOP | {"timezone": "localtime"}, "timezone: not an IANA time zone"),
    (SHOP | {"name": ["N"]}, "name: not a text"),
]
FORMS: list[Case] = [
    (form(shop_id="nobody.example"), "shop_id: unknown 'nobody.example'"),
    (form(form_id=""), "form_id: missing"),
    (form(form_id=FORM[:-1]), "form_id: not a UUID"),
    (form(form_id=FORM.replace("-", "")), "form_id: not a UUID"),
    (form(name=""), "name: missing"),
    (form(name="a\0"), "name: has a NUL character"),
    (form(status=LONG), "status: longer than 255 characters"),
    (form(schema=[1]), "schema: not a JSON object"),
    (form(schema="steps"), "schema: not a JSON object"),
    (form(schema="[1]"), "schema: not a JSON object"),
    (form(schema={"a": ["\0"]}), "schema: has a NUL character"),
    (form(created_at="soon"), "created_at: not an ISO 8601 time"),
    (form(created_at=1_700_000_000), "created_at: not an ISO 8601 time"),
    (form(updated_at="2025-02-30"), "updated_at: not an ISO 8601 time"),
    (form(updated_at="0001-01-01T00:00:00Z"), "updated_at: before 1970 or after 2100"),
    (form(updated_at="2101-01-01T00:00:00Z"), "updated_at: before 1970 or after 2100"),
]
AD_SPEND: list[Case] = [
    (spend(shop_id=None), "shop_id: missing"),
    (spend(shop_id="nobody.example"), "shop_id: unknown 'nobody.example'"),
    (spend(provider=None), "provider: missing"),
    (spend(account_id=LONG), "account_id: longer than 255 characters"),
    (spend(campaign_id=None), "campaign_id: missing"),
    (spend(campaign_id=5.5), "campaign_id: not a whole number"),
    (spend(campaign_id=1e30), "campaign_id: beyond 64 bits"),
    (spend(campaign_name=None), "campaign_name: missing"),
    (spend(campaign_name=2**64), "campaign_name: beyond 64 bits"),
    (spend(segment=LONG), "segment: longer than 255 characters"),
    (spend(date=None), "date: missing"),
    (spend(date="2026-02-30"), "date: not a date (YYYY-MM-DD)"),
    (spend(date="20260102"), "date: not a date (YYYY-MM-DD)"),
    (spend(date="2026-01-02T00:00:00Z"), "date: not a date (YYYY-MM-DD)"),
    (spend(currency=None), "currency: missing"),
    (spend(currency="EU"), "currency: not a currency code of three letters"),
    (spend(currency="QQQ"), "currency: not a currency of ISO 4217"),
    (spend(spend=None), "spend: missing"),
    (spend(spend="12,34"), "spend: not a number"),
    (spend(spend="NaN"), "spend: not a number"),
    (spend(spend=True), "spend: not a number"),
    (spend(spend=[1]), "spend: not a number"),
    (spend(spend="9223372036854775808"), "spend: beyond 64 bits"),
    (spend(spend="1e99"), "spend: beyond 64 bits"),
    (spend(spend="0." + "1" * 31), "spend: more than 30 decimals"),
    (spend(spend="1e-9999"), "spend: more than 30 decimals"),
    (spend(impressions=None), "impressions: missing"),
    (spend(impressions=-1), "impressions: negative"),
    (spend(impressions=1.5), "impressions: not a whole number"),
    (spend(clicks="many"), "clicks: not a number"),
    (spend(clicks=2**63), "clicks: beyond 64 bits"),
]
AD_ACCOUNTS: list[Case] = [
    (account(shop_id="nobody.example"), "shop_id: unknown 'nobody.example'"),
    (account(provider=None), "provider: missing"),
    (account(provider=LONG), "provider: longer than 255 characters"),
    (account(status=None), "status: missing"),
    (account(status="fine"), "status: neither ok nor error"),
    (account(synced_at=None), "synced_at: missing"),
    (account(synced_at="soon"), "synced_at: not an ISO 8601 time"),
    (account(message={}), "message: not a text"),
]
EXCHANGE_RATES: list[Case] = [
    (rate(base=""), "base: missing"),
    (rate(base="EURO"), "base: not a currency code of three letters"),
    (rate(quote="U1D"), "quote: not a currency code of three letters"),
    (rate(date="today"), "date: not a date (YYYY-MM-DD)"),
    (rate(rate=""), "rate: missing"),
    (rate(rate="0.000"), "rate: not positive"),
    (rate(rate=-1), "rate: not positive"),
    (rate(rate="N/A"), "rate: not a number"),
]


@pytest.mark.parametrize(
    ("kind", "good", "cases"),
    [
        ("shops", SHOP, SHOPS),
        ("forms", form(), FORMS),
        ("ad-spend", spend(), AD_SPEND),
        ("ad-accounts", account(), AD_ACCOUNTS),
        ("exchange-rates", rate(), EXCHANGE_RATES),
    ],
)
def test_each_reason_and_the_rest_is_taken(
    warehouse: Warehouse, kind: str, good: Row, cases: list[Case]
) -> None:
    rows = [good, *(row for row, _ in cases)]
    counts = warehouse.take(kind, rows)
    assert warehouse.reasons() == [(n, reason) for n, (_, reason) in enumerate(cases, 2)]
    assert counts == {
        "read": len(rows),
        "new": 1,
        "duplicate": 0,
        "replaced": 0,
        "rejected": len(cases),
    }
    texts = warehouse.rows("SELECT text FROM reject ORDER BY line")
    kept = [json.loads(row["text"]) for row in texts]
    assert kept == [row for row, _ in cases]


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
def test_a_row_of_any_format_is_kept_as_an_object(sqlite_warehouse: Warehouse, name: str) -> None:
    row: dict[str, Any] = spend(shop_id="nobody.example")
    sqlite_warehouse.take("ad-spend", [row], name)
    (kept,) = sqlite_warehouse.rows("SELECT text FROM reject")
    numbers = row if name == "in.parquet" else {key: str(value) for key, value in row.items()}
    assert json.loads(kept["text"]) == numbers
