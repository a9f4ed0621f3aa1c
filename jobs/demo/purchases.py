"""The orders: some follow a visit to a form, others do not; some are cancelled or refunded later."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from jobs.demo.cast import CAMPAIGNS, EXIT, SHOP, SHOP_ID
from jobs.demo.people import randomness
from jobs.demo.visits import Visit

Order = dict[str, Any]

_ORDERS_WITHOUT_A_FORM = 7
# The discount, by the beginning of a code.
_OFF = {"WELCOME": 0.10, "QUIZ15": 0.15, "STAY10": 0.10}
_BASKET = {"under 30": 0.5, "30 to 60": 0.9, "over 60": 1.8}


def orders_after(visit: Visit, chance: Random) -> Iterator[Order]:
    """The orders of a visitor, if any. A submission makes them far more likely."""
    likelihood = visit.form.buys * visit.appeal * (1.0 if visit.submitted_at else 0.07)
    number = 0
    at = visit.submitted_at or visit.at
    while number < 4 and chance.random() < min(likelihood, 0.8):
        # The first order comes within days (some after weeks), each further one after three weeks on average.
        mean_days = 21 if number else chance.choice((0.1, 0.1, 2, 7))
        at += timedelta(days=chance.expovariate(1 / mean_days), minutes=chance.uniform(3, 40))
        basket = _BASKET.get(visit.answers.get("budget", ""), 1.0)
        order = _order(f"o_{visit.id[2:]}{'abcd'[number]}", at, basket, chance)
        order |= {"customer_id": visit.visitor.customer_id, "email": visit.visitor.email}
        if chance.random() < 0.85:
            order["visitor_id"] = visit.visitor.id
        if number == 0:
            order |= visit.campaign.utm
            if visit.code and chance.random() < 0.6:
                _redeem(order, *visit.code)
        yield order
        number += 1
        likelihood = 0.28


def orders_without_form(day: date, midnight: datetime) -> Iterator[Order]:
    """Orders of people who saw no form; a few use the exit form's code all the same."""
    chance = randomness("orders", day)
    running = [campaign for campaign in CAMPAIGNS if campaign.runs(day)]
    for number in range(round(_ORDERS_WITHOUT_A_FORM * chance.uniform(0.6, 1.4))):
        at = midnight + timedelta(hours=min(23.9, max(0, chance.gauss(15, 5))))
        order = _order(f"o_{day:%y%m%d}x{number:02d}", at, 1.0, chance)
        name = f"{day:%y%m%d}x{number:02d}"
        order |= {"customer_id": f"cus_{name}", "email": f"walk.in.{name}@example.com"}
        order |= chance.choices(running, [campaign.weight for campaign in running])[0].utm
        if chance.random() < 0.08 and EXIT.code:
            _redeem(order, *EXIT.code)
        yield order


def _order(order_id: str, at: datetime, basket: float, chance: Random) -> Order:
    order: Order = {
        "order_id": order_id,
        "shop_id": SHOP_ID,
        "created_at": at,
        "currency": SHOP["currency"],
        "total_cents": max(900, round(6400 * basket * chance.lognormvariate(0, 0.45))),
    }
    fate = chance.random()
    later = at + timedelta(days=chance.uniform(2, 14))
    if fate < 0.02:
        order["cancelled_at"] = at + timedelta(hours=chance.uniform(0.2, 20))
    elif fate < 0.09:
        part = 1.0 if fate < 0.05 else round(chance.uniform(0.2, 0.6), 1)
        refund = {"refund_id": f"r_{order_id[2:]}", "created_at": later}
        order["refunds"] = [refund | {"amount_cents": round(order["total_cents"] * part)}]
    elif fate < 0.095:
        order["test"] = True
    return order


def _redeem(order: Order, code: str, discount_id: str) -> None:
    amount = round(order["total_cents"] * _OFF[code.partition("-")[0]])
    order["total_cents"] -= amount
    order["discount_cents"] = amount
    # Some people type codes in lower case.
    used = {"code": code.lower() if amount % 5 == 0 else code, "amount_cents": amount}
    order["discount_codes"] = [used | ({"discount_id": discount_id} if discount_id else {})]
    for refund in order.get("refunds", ()):
        refund["amount_cents"] = min(refund["amount_cents"], order["total_cents"])


def as_exported(order: Order, now: datetime) -> Order | None:
    """The order as the shop would export it `now`, without later refunds or cancellation; None before
    the order."""
    if order["created_at"] > now:
        return None
    known = order | {
        "refunds": [refund for refund in order.get("refunds", ()) if refund["created_at"] <= now]
    }
    if known.get("cancelled_at", now) > now:
        del known["cancelled_at"]
    moments = [known["created_at"], known.get("cancelled_at", known["created_at"])]
    moments += [refund["created_at"] for refund in known["refunds"]]
    known["updated_at"] = max(moments)
    if not known["refunds"]:
        del known["refunds"]
    return known
