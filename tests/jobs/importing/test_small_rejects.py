"""Every reason for which a row of a small kind is not taken."""

# ruff: noqa: E501 (one case a line)

import json
from typing import Any

import pytest

from tests.support.import_files import FORM, NO_UUID, Row, account, form, rate, spend, told
from tests.support.warehouse import Warehouse
from warehouse.domain.vocabulary import KEPT_WITHOUT

LONG = "x" * 256
SHOP = {"shop_id": "n.example", "currency": "EUR"}

Case = tuple[Row, str]

SHOPS: list[Case] = [
    (SHOP | {"shop_id": ""}, "shop_id: missing"),
    (
        SHOP | {"shop_id": LONG},
        "shop_id: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 characters",
    ),
    (SHOP | {"shop_id": "a\0"}, "shop_id: has a NUL character"),
    (SHOP | {"shop_id": True}, "shop_id: true is not a text"),
    (SHOP | {"currency": None}, "currency: missing"),
    (SHOP | {"currency": "EURO"}, "currency: 'EURO' is not a currency code of three letters"),
    (SHOP | {"currency": "XQX"}, "currency: 'XQX' is not a currency of ISO 4217"),
    (
        SHOP | {"timezone": "Mars/Olympus"},
        "timezone: 'Mars/Olympus' is not an IANA time zone; an example is Europe/Berlin",
    ),
    (
        SHOP | {"timezone": "../etc/passwd"},
        "timezone: '../etc/passwd' is not an IANA time zone; an example is Europe/Berlin",
    ),
    (SHOP | {"timezone": 2}, "timezone: 2 is not an IANA time zone; an example is Europe/Berlin"),
    (
        SHOP | {"timezone": "localtime"},
        "timezone: 'localtime' is not an IANA time zone; an example is Europe/Berlin",
    ),
    (SHOP | {"name": ["N"]}, "name: a list is not a text"),
]
FORMS: list[Case] = [
    (
        form(shop_id="nobody.example"),
        "shop_id: 'nobody.example' is not an imported shop; import it first (kind shops)",
    ),
    (form(form_id=""), "form_id: missing"),
    (form(form_id=FORM[:-1]), "form_id: '0190c4a2-5b7e-7c3d-8f1a-2b3c4d5e6f7'" + NO_UUID),
    (
        form(form_id=FORM.replace("-", "")),
        "form_id: '0190c4a25b7e7c3d8f1a2b3c4d5e6f70'" + NO_UUID,
    ),
    (form(name=""), "name: missing"),
    (form(name="a\0"), "name: has a NUL character"),
    (
        form(status=LONG),
        "status: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 characters",
    ),
    (form(schema=[1]), "schema: a list is not a JSON object"),
    (form(schema="steps"), "schema: 'steps' is not a JSON object"),
    (form(schema="[1]"), "schema: '[1]' is not a JSON object"),
    (form(schema={"a": ["\0"]}), "schema: has a NUL character"),
    (
        form(created_at="soon"),
        "created_at: 'soon' is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z",
    ),
    (
        form(created_at=1_700_000_000),
        "created_at: 1700000000 is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z",
    ),
    (
        form(updated_at="2025-02-30"),
        "updated_at: '2025-02-30' is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z",
    ),
    (
        form(updated_at="0001-01-01T00:00:00Z"),
        "updated_at: '0001-01-01T00:00:00Z' is before 1970 or after 2100",
    ),
    (
        form(updated_at="2101-01-01T00:00:00Z"),
        "updated_at: '2101-01-01T00:00:00Z' is before 1970 or after 2100",
    ),
]
AD_SPEND: list[Case] = [
    (spend(shop_id=None), "shop_id: missing"),
    (
        spend(shop_id="nobody.example"),
        "shop_id: 'nobody.example' is not an imported shop; import it first (kind shops)",
    ),
    (spend(provider=None), "provider: missing"),
    (
        spend(account_id=LONG),
        "account_id: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 characters",
    ),
    (spend(campaign_id=None), "campaign_id: missing"),
    (spend(campaign_id=5.5), "campaign_id: 5.5 is not a whole number"),
    (spend(campaign_name=None), "campaign_name: missing"),
    (spend(campaign_name=2**64), "campaign_name: 18446744073709551616 is beyond 64 bits"),
    (
        spend(segment=LONG),
        "segment: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 characters",
    ),
    (spend(date=None), "date: missing"),
    (spend(date="2026-02-30"), "date: '2026-02-30' is not a date; write it as 2026-01-31"),
    (spend(date="20260102"), "date: '20260102' is not a date; write it as 2026-01-31"),
    (
        spend(date="2026-01-02T13:00:00Z"),
        "date: '2026-01-02T13:00:00Z' is not a date; write it as 2026-01-31",
    ),
    (spend(currency=None), "currency: missing"),
    (spend(currency="EU"), "currency: 'EU' is not a currency code of three letters"),
    (spend(currency="QQQ"), "currency: 'QQQ' is not a currency of ISO 4217"),
    (spend(spend=None), "spend: missing"),
    (spend(spend="12,34"), "spend: '12,34' is not a number; write a decimal point, not a comma"),
    (spend(spend="NaN"), "spend: 'NaN' is not a number"),
    (spend(spend=True), "spend: true is not a number"),
    (spend(spend=[1]), "spend: a list is not a number"),
    (spend(spend="9223372036854775808"), "spend: '9223372036854775808' is beyond 64 bits"),
    (spend(spend="1e99"), "spend: '1e99' is beyond 64 bits"),
    (
        spend(spend="0." + "1" * 31),
        "spend: '0.1111111111111111111111111111111' has more than 30 decimals",
    ),
    (spend(spend="1e-9999"), "spend: '1e-9999' has more than 30 decimals"),
    (spend(impressions=None), "impressions: missing"),
    (spend(impressions=-1), "impressions: -1 is negative"),
    (spend(impressions=1.5), "impressions: 1.5 is not a whole number"),
    (spend(clicks="many"), "clicks: 'many' is not a number"),
    (spend(clicks=2**63), "clicks: 9223372036854775808 is beyond 64 bits"),
]
AD_ACCOUNTS: list[Case] = [
    (
        account(shop_id="nobody.example"),
        "shop_id: 'nobody.example' is not an imported shop; import it first (kind shops)",
    ),
    (account(provider=None), "provider: missing"),
    (
        account(provider=LONG),
        "provider: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is longer than 255 characters",
    ),
    (account(status=None), "status: missing"),
    (account(status="fine"), "status: 'fine' is none of ok, error"),
    (account(synced_at=None), "synced_at: missing"),
    (
        account(synced_at="soon"),
        "synced_at: 'soon' is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z",
    ),
    (account(message={}), "message: an object is not a text"),
]
EXCHANGE_RATES: list[Case] = [
    (rate(base=""), "base: missing"),
    (rate(base="EURO"), "base: 'EURO' is not a currency code of three letters"),
    (rate(quote="U1D"), "quote: 'U1D' is not a currency code of three letters"),
    (rate(date="today"), "date: 'today' is not a date; write it as 2026-01-31"),
    (rate(rate=""), "rate: missing"),
    (rate(rate="0.000"), "rate: '0.000' is not greater than 0"),
    (rate(rate=-1), "rate: -1 is not greater than 0"),
    (rate(rate="N/A"), "rate: 'N/A' is not a number"),
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
    reasons = [told(kind, *case) for case in cases]
    assert warehouse.reasons() == list(enumerate(reasons, 2))
    incomplete = sum(reason.startswith(KEPT_WITHOUT) for reason in reasons)
    assert (counts["read"], counts["rejected"]) == (len(rows), len(cases) - incomplete)
    assert counts.get("incomplete", 0) == incomplete
    texts = warehouse.records("SELECT text FROM reject ORDER BY line")
    kept = [json.loads(row["text"]) for row in texts]
    assert kept == [row for row, _ in cases]


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
def test_a_row_of_any_format_is_kept_as_an_object(sqlite_warehouse: Warehouse, name: str) -> None:
    row: dict[str, Any] = spend(shop_id="nobody.example")
    sqlite_warehouse.take("ad-spend", [row], name)
    (kept,) = sqlite_warehouse.records("SELECT text FROM reject")
    numbers = row if name == "in.parquet" else {key: str(value) for key, value in row.items()}
    assert json.loads(kept["text"]) == numbers
