"""A shop with a quiz whose second step came to lose more, and in which two questions go together."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.product import Product

SHOP = "quiz.example"
QUIZ = "8f0e0000-0000-4000-8000-000000000001"
EMPTY = "8f0e0000-0000-4000-8000-000000000002"

Rows = list[dict[str, Any]]

# The choices of each group of visitors of the quiz. Skin and serum go together; the more the skin is dry, the
# more often people buy.
SKINS = ("dry", "oily", "mixed")


def session(number: int, day: datetime, kind: str, *moments: dict[str, Any]) -> Rows:
    shared = {
        "shop_id": SHOP,
        "form_id": QUIZ,
        "form_session_id": f"{kind}{number}",
        # Every tenth visitor comes back.
        "visitor_id": f"{kind}{number - number % 10 // 9}",
        "device_type": "mobile" if number % 3 else "desktop",
    }
    return [
        {
            **shared,
            **moment,
            "event_id": f"{kind}{number}-{place}",
            "occurred_at": (day + timedelta(seconds=place * (1 + number % 41))).isoformat(),
        }
        for place, moment in enumerate(moments)
    ]


def answer(field: str, value: object, type: str = "choice") -> dict[str, Any]:
    return {"type": "answer", "field_id": field, "field_type": type, "value": value}


def step(index: int, kind: str = "step_view") -> dict[str, Any]:
    return {"type": kind, "step_id": f"s{index}", "step_index": index, "step_name": f"Step {index}"}


def quiz(day: datetime, kind: str, *, patience: int) -> tuple[Rows, Rows]:
    """Events and orders of 300 visitors, of whom 1 in `patience` leaves at the second step."""
    events: Rows = []
    orders: Rows = []
    for number in range(300):
        skin, hour = SKINS[number % 3], day + timedelta(minutes=number)
        # Four of five take the serum of their skin; there are 14 in all.
        serum = skin if number % 5 else f"serum {number % 11}"
        begin = [{"type": "view"}, {"type": "start"}, step(0), step(0, "step_complete")]
        if number % 7 == 0:
            events += session(number, hour, kind, {"type": "view"})
            continue
        if number % patience == 0:
            events += session(number, hour, kind, *begin, step(1))
            continue
        moments = [
            answer("skin", skin),
            answer("serum", serum),
            answer("effort", number % 4, "scale"),
            answer("concerns", ["lines", "spots"][: 1 + number % 2], "multi_choice"),
            step(1),
            step(1, "step_complete"),
            {"type": "complete"},
        ]
        events += session(number, hour, kind, *begin, *moments)
        if skin == "dry" and number % 2:
            orders.append(
                {
                    "order_id": f"{kind}{number}",
                    "shop_id": SHOP,
                    "created_at": (hour + timedelta(hours=1)).isoformat(),
                    "visitor_id": f"{kind}{number - number % 10 // 9}",
                    "total_cents": 1_000 + number,
                }
            )
    return events, orders


def load_quiz(product: Product) -> None:
    """The shop over today, the six days before it, and the seven before these; and a form without events."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0)
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    product.load(
        "forms",
        [
            {"form_id": QUIZ, "shop_id": SHOP, "name": "Quiz"},
            {"form_id": EMPTY, "shop_id": SHOP, "name": "Empty"},
        ],
    )
    for kind, ago, patience in (("now", 2, 4), ("then", 9, 20)):
        events, orders = quiz(today - timedelta(days=ago), kind, patience=patience)
        product.load("events", events)
        product.load("orders", orders)
    product.rollup()
