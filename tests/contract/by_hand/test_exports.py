"""The whole chain: what five systems export in, the nineteen answers out, every total worked out by hand.

Orders 1 and 3 are Ada's: the first by her code, the second as the visitor v1, and cancelled. Order 2 is
Tim's, by his customer id. Order 4 is no form's, but Google's by its own UTM parameters.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from jobs.cli import main as jobs_main
from tests.support import exports
from tests.support.exports import FORM
from tests.support.import_files import written
from tests.support.shop_builder import instant
from web.app import close_app, create_app
from web.cli import main as web_main

SHOP = "chain.example"
SCOPES = "analytics:read,customers:read,discounts:read,forms:write"
MARCH = "2026-03-01..2026-03-31"
NOTHING = {"orders": 0, "grossRevenueCents": 0, "totalRefundedCents": 0, "netRevenueCents": 0}


def money(orders: int, gross: int, refunded: int, net: int) -> dict[str, int]:
    return dict(zip(NOTHING, (orders, gross, refunded, net), strict=True))


class Chain:
    """The commands and the API over one warehouse."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.client: FlaskClient | None = None

    def run(self, *words: str, status: int = 0) -> str:
        program = web_main if words[0] == "keys" else jobs_main
        result = CliRunner().invoke(program, words, catch_exceptions=False)
        assert result.exit_code == status, (words, result.output)
        return result.stdout

    def take(self, kind: str, file: Path, status: int = 0) -> dict[str, int]:
        printed = self.run("import", kind, str(file), "--json", status=status)
        counts: dict[str, int] = json.loads(printed.splitlines()[-1])
        return {name: number for name, number in counts.items() if number}

    def serve(self) -> None:
        printed = self.run("keys", "mint", "--shop", SHOP, "--scopes", SCOPES)
        self.client = create_app(self.url, lambda: instant("2026-06-30T12:00:00")).test_client()
        self.client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {printed.splitlines()[-1]}"

    def ask(self, path: str, **query: str) -> Any:
        assert self.client
        is_ranged = path not in ("/v1/forms", f"/v1/forms/{FORM}")
        window = {"range": MARCH} if is_ranged else {}
        answer = self.client.get(path, query_string=window | query)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer.get_json()["data"]


@pytest.fixture
def chain(warehouse_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chain]:
    monkeypatch.setenv("WAREHOUSE_URL", warehouse_url)
    found = Chain(warehouse_url, tmp_path)
    yield found
    if found.client:
        close_app(found.client.application)


def test_from_exports_to_the_nineteen_answers(chain: Chain) -> None:
    folder = chain.folder
    shop = {"shop_id": SHOP, "currency": "EUR", "timezone": "UTC"}
    form = {"form_id": FORM, "shop_id": SHOP, "name": "Quiz", "created_at": "2026-02-01"}
    chain.take("shops", written(folder / "shops.ndjson", [shop]))
    chain.take("forms", written(folder / "forms.ndjson", [form]))
    assert chain.take("events", exports.segment(folder / "segment.json.gz")) == {
        "read": 23, "new": 23, "skipped": 2,
    }  # fmt: skip
    assert chain.take("orders", exports.shopify(folder / "orders.json"), status=3) == {
        "read": 6, "new": 5, "rejected": 1,
    }  # fmt: skip
    assert chain.take("ad-spend", exports.meta(folder / "meta.json", "10.10"))["new"] == 2
    restated = chain.take("ad-spend", exports.meta(folder / "meta.json", "12.10"))
    assert restated == {"read": 2, "duplicate": 1, "replaced": 1}
    assert chain.take("ad-spend", exports.google(folder / "google.json")) == {"read": 2, "new": 2}
    rates = chain.take("exchange-rates", exports.ecb(folder / "eurofxref-hist.zip"))
    assert rates == {"read": 5, "new": 5}
    chain.run("rollup")
    chain.serve()
    of_forms(chain)
    of_one_form(chain)
    of_answers(chain)
    of_the_shop(chain)
    of_ads_and_customers(chain)


def of_forms(chain: Chain) -> None:
    (listed,) = chain.ask("/v1/forms")
    assert (listed["id"], listed["name"]) == (FORM, "Quiz")
    assert chain.ask(f"/v1/forms/{FORM}").items() > listed.items()
    assert chain.client
    changed = chain.client.put(f"/v1/forms/{FORM}", json={"draft_schema": {"steps": 2}})
    assert changed.get_json()["data"]["id"] == FORM
    created = chain.client.post("/v1/forms", json={"name": "Another", "schema": {}})
    assert created.status_code == 201
    assert chain.ask("/v1/forms/funnel") == [
        {"formId": FORM, "formName": "Quiz", "views": 4, "subscriptions": 1, "completions": 2}
    ]


def of_one_form(chain: Chain) -> None:
    base = f"/v1/forms/{FORM}"
    assert chain.ask(f"{base}/funnel") == {
        "formId": FORM,
        "formName": "Quiz",
        "views": 4,
        "starts": 3,
        "subscriptions": 1,
        "completions": 2,
        "submissions": 2,
        "convertedSubmissions": 2,
        **money(3, 20000, 6550, 13450),
        "startRate": 75.0,
        "subscriptionRate": 25.0,
        "completionRate": 50.0,
        "submissionRate": 50.0,
        "conversionRate": 100.0,
        "stages": [
            {"stage": "view", "count": 4, "rateFromPrevious": 100.0, "rateFromFirst": 100.0},
            {"stage": "start", "count": 3, "rateFromPrevious": 75.0, "rateFromFirst": 75.0},
            {"stage": "submit", "count": 2, "rateFromPrevious": 66.67, "rateFromFirst": 50.0},
            {"stage": "convert", "count": 2, "rateFromPrevious": 100.0, "rateFromFirst": 50.0},
        ],
    }
    steps = [tuple(row.values()) for row in chain.ask(f"{base}/steps/dropoff")]
    assert steps == [
        ("step-0", 0, "Skin", 3, 2, 1, 66.67, 33.33, 100.0),
        ("step-1", 1, "Mail", 2, 2, 0, 100.0, 0, 0),
    ]
    times = chain.ask(f"{base}/time-to-complete")
    assert [(row["deviceType"], row["completions"], row["averageMs"]) for row in times] == [
        ("all", 2, 25000),
        ("desktop", 1, 20000),
        ("mobile", 1, 30000),
    ]
    devices = [tuple(row.values()) for row in chain.ask(f"{base}/devices")]
    assert devices == [
        ("desktop", 2, 1, 1, 1, 1, 1, 2, 14000, 6550, 7450, 50.0, 100.0, 50.0),
        ("mobile", 2, 2, 0, 1, 1, 1, 1, 6000, 0, 6000, 50.0, 100.0, 50.0),
    ]
    visitors = [tuple(row.values()) for row in chain.ask(f"{base}/visitor-conversion")]
    assert visitors == [
        ("all", 3, 2, 2, 66.67, 66.67, 100.0),
        ("new", 3, 2, 2, 66.67, 66.67, 100.0),
        ("returning", 1, 0, 0, 0, 0, 0),
    ]
    trends = [tuple(row.values()) for row in chain.ask(f"{base}/trends")]
    assert len(trends) == 31
    assert trends[:4] == [
        ("2026-03-01", 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 50.0, 100.0),
        ("2026-03-02", 2, 1, 0, 1, 1, 1, 0, 0, 0, 0, 50.0, 100.0),
        ("2026-03-03", 0, 0, 0, 0, 0, 0, 2, 16000, 2550, 13450, 0, 0),
        ("2026-03-04", 0, 0, 0, 0, 0, 0, 1, 4000, 4000, 0, 0, 0),
    ]
    assert {row[1:] for row in trends[4:]} == {(0,) * 12}


def of_answers(chain: Chain) -> None:
    base = f"/v1/forms/{FORM}"
    cells = [
        tuple(row.values())
        for row in chain.ask(f"{base}/cross-field", fieldA="skin", fieldB="goal")
    ]
    assert cells == [
        ("dry", "glow", 1, 1.0, 1.0, 100.0, 50.0, 50.0, 1, 100.0, 0),
        ("oily", "glow", 1, 1.0, 1.0, 100.0, 50.0, 50.0, 1, 100.0, 0),
    ]
    values = [tuple(row.values()) for row in chain.ask(f"{base}/response-revenue")]
    assert values == [
        ("goal", "glow", 2, 2, 3, 20000, 6550, 13450, 100.0, 6725, 6667, False),
        ("skin", "dry", 1, 1, 2, 14000, 6550, 7450, 100.0, 7450, 7000, False),
        ("skin", "oily", 1, 1, 1, 6000, 0, 6000, 100.0, 6000, 6000, False),
    ]


def of_the_shop(chain: Chain) -> None:
    total = [tuple(row.values()) for row in chain.ask("/v1/attribution")]
    assert total == [
        ("discount_code", 1, 10000, 2550, 7450, 10000, 48.22),
        ("customer", 1, 6000, 0, 6000, 6000, 38.83),
        ("visitor", 1, 4000, 4000, 0, 4000, 0),
        ("unattributed", 1, 2000, 0, 2000, 2000, 12.94),
    ]
    daily = [tuple(row.values()) for row in chain.ask("/v1/attribution/daily")]
    assert len(daily) == 4 * 31
    assert [row for row in daily if row[2]] == [
        ("2026-03-03", "discount_code", 1, 10000, 2550, 7450, 10000, 55.39),
        ("2026-03-03", "customer", 1, 6000, 0, 6000, 6000, 44.61),
        ("2026-03-04", "visitor", 1, 4000, 4000, 0, 4000, 0),
        ("2026-03-05", "unattributed", 1, 2000, 0, 2000, 2000, 100.0),
    ]
    (discount,) = chain.ask("/v1/discounts/performance")
    assert tuple(discount.values()) == (
        f"form:{FORM}", "GLOW-1", 1, 1, 1, 100.0, 1000, 10000, 2550, 7450, 10000,
    )  # fmt: skip
    campaigns = chain.ask("/v1/revenue/by-utm", dimension="campaign")["rows"]
    assert [tuple(row.values()) for row in campaigns] == [
        ("facebook", "spring", 1, 1, 2, 14000, 100.0, 14000, 6550, 7450),
        ("google", "brand", 1, 1, 1, 6000, 100.0, 6000, 0, 6000),
    ]
    types = chain.ask("/v1/revenue/by-utm", dimension="attribution")["rows"]
    assert [tuple(row.values()) for row in types] == [
        ("discount_code", "facebook", "spring", 1, 10000, 2550, 7450),
        ("customer", "google", "brand", 1, 6000, 0, 6000),
        ("unattributed", "google", "brand", 1, 2000, 0, 2000),
        ("visitor", "facebook", "spring", 1, 4000, 4000, 0),
    ]
    tree = chain.ask("/v1/revenue/by-utm", dimension="hierarchy")["rows"]
    assert [tuple(row.values()) for row in tree] == [
        ("google", "brand", "cpc", "", "", 2, 8000, 0, 8000),
        ("facebook", "spring", "paid_social", "", "", 2, 14000, 6550, 7450),
    ]


def of_ads_and_customers(chain: Chain) -> None:
    ads = chain.ask("/v1/ads/spend")
    # 74.50 EUR at the 1.25 of 3 March are 93.125 USD, over 17.25 USD; the cancelled order brings 0.
    assert [tuple(row.values()) for row in ads["rows"]] == [
        ("meta", "100", "spring", "USD", 17.25, 1500, 15, 1, 2, 7450, "EUR", 17.25, 8.63, 5.3986),
        ("google", "200", "brand", "EUR", 10.0, 400, 25, 1, 2, 8000, "EUR", 10.0, 5.0, 8.0),
    ]
    assert ads["attributionCoverage"] == {"google": 100.0, "meta": 100.0}
    assert ads["unavailableProviders"] == []
    by_form = chain.ask("/v1/customers/ltv", dimension="form")["rows"]
    assert by_form == [
        {
            "formId": FORM,
            "formName": "Quiz",
            "customers": 2,
            "purchasers": 2,
            **money(2, 16000, 2550, 13450),
            "ltvCents": 6725,
            "averageOrderValueCents": 8000,
            "ordersPerCustomer": 1.0,
            "repeatRate": 0,
            "horizons": [
                {"days": 30, "customers": 2, "netRevenueCents": 13450, "ltvCents": 6725},
                {"days": 60, "customers": 2, "netRevenueCents": 13450, "ltvCents": 6725},
                {"days": 90, "customers": 2, "netRevenueCents": 13450, "ltvCents": 6725},
                {"days": 180, "customers": 0, "netRevenueCents": 0, "ltvCents": 0},
                {"days": 365, "customers": 0, "netRevenueCents": 0, "ltvCents": 0},
            ],
        }
    ]
    by_segment = chain.ask("/v1/customers/ltv", dimension="segment")["rows"]
    assert [tuple(row.values())[:-1] for row in by_segment] == [
        ("goal", "glow", 2, 2, 2, 16000, 2550, 13450, 6725, 8000, 1.0, 0),
        ("skin", "dry", 1, 1, 1, 10000, 2550, 7450, 7450, 10000, 1.0, 0),
        ("skin", "oily", 1, 1, 1, 6000, 0, 6000, 6000, 6000, 1.0, 0),
    ]
    of_ninety_days = [row["horizons"][2] for row in by_segment]
    assert [tuple(horizon.values()) for horizon in of_ninety_days] == [
        (90, 2, 13450, 6725),
        (90, 1, 7450, 7450),
        (90, 1, 6000, 6000),
    ]
