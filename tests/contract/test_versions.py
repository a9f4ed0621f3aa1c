"""Whatever changes an answer changes its tag: one tag never stands for two answers.

Every kind of change that reaches a warehouse is made in turn, by its own command, under an API that
goes on running with all that it remembers.
"""

from collections.abc import Callable
from datetime import date
from typing import Any

from tests.support.oracle.records import Row
from tests.support.product import Product

SHOP, OTHER = "one.example", "other.example"
FORM = "aaaaaaaa-0000-4000-8000-000000000000"
RANGE = "2026-01-01..2026-03-31"
_OF_FORM = f"/v1/forms/{FORM}"
QUESTIONS: list[tuple[str, str, dict[str, str]]] = [
    *((SHOP, path, {}) for path in ("/v1/forms", _OF_FORM)),
    *(
        (SHOP, path, {"range": RANGE})
        for path in (
            "/v1/forms/funnel",
            *(
                f"{_OF_FORM}/{name}"
                for name in (
                    "funnel",
                    "steps/dropoff",
                    "time-to-complete",
                    "devices",
                    "visitor-conversion",
                    "response-revenue",
                    "trends",
                )
            ),
            "/v1/attribution",
            "/v1/attribution/daily",
            "/v1/discounts/performance",
            "/v1/ads/spend",
        )
    ),
    (SHOP, f"{_OF_FORM}/cross-field", {"range": RANGE, "fieldA": "a", "fieldB": "b"}),
    (SHOP, "/v1/revenue/by-utm", {"range": RANGE, "dimension": "hierarchy"}),
    (SHOP, "/v1/customers/ltv", {"range": RANGE, "dimension": "form"}),
    (OTHER, "/v1/attribution", {"range": RANGE}),
    (OTHER, "/v1/ads/spend", {"range": RANGE}),
]


def shop(shop_id: str = SHOP, **fields: str) -> Row:
    return {"shop_id": shop_id, "currency": "USD", "timezone": "UTC"} | fields


def form(**fields: str) -> Row:
    return {"form_id": FORM, "shop_id": SHOP, "name": "A form", "created_at": "2026-01-01"} | fields


def session(name: str, at: str) -> list[Row]:
    """A visitor who answers two fields and completes the form, which issues a code."""
    step = {"step_id": "s", "step_index": 0, "step_name": "Step"}
    kinds: list[Row] = [
        {"type": "view", "device_type": "mobile", "utm_source": "fb", "utm_id": "c1"},
        {"type": "step_view", **step},
        {"type": "answer", "field_id": "a", "field_type": "choice", "value": f"of {name}"},
        {"type": "answer", "field_id": "b", "field_type": "choice", "value": "x"},
        {"type": "step_complete", **step},
        {"type": "complete", "discount_code": "CODE", "customer_id": name},
    ]
    return [
        {
            "event_id": f"{name}-{number}",
            "shop_id": SHOP,
            "form_id": FORM,
            "form_session_id": name,
            "visitor_id": name,
            "occurred_at": f"{at}:{number:02}",
            **kind,
        }
        for number, kind in enumerate(kinds)
    ]


def order(order_id: str, at: str, **fields: Any) -> Row:
    row = {"order_id": order_id, "shop_id": SHOP, "created_at": at, "total_cents": 1000}
    return row | {"customer_id": "v1", "discount_codes": [{"code": "CODE"}]} | fields


def spend(shop_id: str, amount: str) -> Row:
    row = {"shop_id": shop_id, "provider": "meta", "campaign_id": "c1", "campaign_name": "One"}
    return row | {
        "date": "2026-02-01",
        "currency": "EUR",
        "spend": amount,
        "impressions": 1,
        "clicks": 1,
    }


def account(status: str) -> Row:
    row = {"shop_id": SHOP, "provider": "meta", "account_id": "", "status": status}
    return row | {"synced_at": "2026-04-01"}


def rate(rate: float) -> Row:
    return {"date": "2026-01-01", "base": "USD", "quote": "EUR", "rate": rate}


class Watch:
    """Asks everything again after each change."""

    def __init__(self, product: Product) -> None:
        self._product = product
        self._bodies: dict[tuple[int, str], Any] = {}
        self._last: list[tuple[str, Any]] = []

    def look(self, when: str) -> tuple[int, int]:
        """How many tags and how many answers are others than before. Fails where one tag has stood
        for two answers."""
        found = []
        for place, (shop_id, path, query) in enumerate(QUESTIONS):
            answer = self._product.ask("GET", path, shop_id, query_string=query)
            body = answer.get_json()
            assert answer.status_code in (200, 404), (when, path, body)
            # All but what is of the request alone.
            body = body.get("data"), body.get("meta", {}).get("range")
            tag = answer.headers.get("ETag", "")
            assert self._bodies.setdefault((place, tag), body) == body, (when, path)
            found.append((tag, body))
        last, self._last = self._last or [("", None)] * len(found), found
        return (
            sum(a[0] != b[0] for a, b in zip(last, found, strict=True)),
            sum(a[1] != b[1] for a, b in zip(last, found, strict=True)),
        )


def test_one_tag_never_stands_for_two_answers(warehouse_url: str) -> None:
    product = Product(warehouse_url)
    watch = Watch(product)

    def load(kind: str, *rows: Row) -> Callable[[], object]:
        return lambda: product.load(kind, list(rows))

    def rolled_up(kind: str, *rows: Row) -> Callable[[], None]:
        def change() -> None:
            product.load(kind, list(rows))
            product.rollup()

        return change

    def write(method: str, path: str, body: Any) -> Callable[[], None]:
        def change() -> None:
            assert product.ask(method, path, SHOP, json=body).status_code in (200, 201)

        return change

    product.load("shops", [shop(), shop(OTHER)])
    watch.look("at first")
    order_one = order("o1", "2026-02-05T12:00:00")
    back = {"refund_id": "r", "created_at": "2026-02-06", "amount_cents": 400}
    refunded = {"updated_at": "2026-02-06", "refunds": [back]}
    product.load("orders", [order_one])
    changes: list[tuple[str, Callable[[], object]]] = [
        ("a form is imported", load("forms", form())),
        ("a first rollup", rolled_up("events", *session("v1", "2026-02-01T23:30"))),
        (
            "a refund",
            rolled_up("orders", order_one | refunded),
        ),
        ("ad spend", load("ad-spend", spend(SHOP, "10"), spend(OTHER, "10"))),
        ("other ad spend", load("ad-spend", spend(SHOP, "20"))),
        ("an account", load("ad-accounts", account("ok"))),
        ("an account that fails", load("ad-accounts", account("error"))),
        ("a rate", load("exchange-rates", rate(0.5))),
        ("another rate", load("exchange-rates", rate(0.25))),
        ("another timezone", rolled_up("shops", shop(timezone="Asia/Tokyo"))),
        ("a form is renamed", load("forms", form(name="B", updated_at="2026-03-01"))),
        ("a form is created", write("POST", "/v1/forms", {"name": "C", "schema": {}})),
        ("a draft is replaced", write("PUT", _OF_FORM, {"draft_schema": {"x": 1}})),
    ]
    for name, change in changes:
        change()
        tags, bodies = watch.look(name)
        assert bodies, f"{name}: no answer shows it"
        assert tags >= bodies, name

    # A command that computes anew may change tags; one that only looks, or says nothing new, keeps them.
    product.backfill(date(2026, 2, 1), date(2026, 2, 2))
    watch.look("a backfill")
    for name, idle in (
        ("the same order", load("orders", order_one)),
        ("the same rate", load("exchange-rates", rate(0.25))),
        ("the same shop", load("shops", shop(timezone="Asia/Tokyo"))),
        ("verify", product.verify_all),
        ("purge", product.purge),
    ):
        idle()
        assert watch.look(name) == (0, 0), name
    product.close()
