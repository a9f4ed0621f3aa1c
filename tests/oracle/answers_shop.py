"""Shop-wide revenue: contract section 4, endpoints 14 to 17."""

from collections.abc import Iterable
from typing import Any

from tests.oracle.attribution import TYPES
from tests.oracle.discounts import issued, used
from tests.oracle.orders import Order
from tests.oracle.records import UTM
from tests.oracle.sessions import Session
from tests.oracle.state import Question, State
from tests.oracle.times import days_between
from tests.oracle.values import cents, money, rate

HIERARCHY = ("utmSource", "utmCampaign", "utmMedium", "utmTerm", "utmContent")


def attribution(state: State, question: Question) -> Any:
    """14: "always four rows"; "Order clock; the rows add up to the shop." """
    orders = state.ordered(question)
    all_net = sum(order.net for order in orders)
    rows = []
    for type in TYPES:
        revenue = money(order for order in orders if state.credits[order.id].type == type)
        rows.append(
            {
                "attributionType": type,
                **revenue,
                "averageOrderValueCents": cents(revenue["grossRevenueCents"], revenue["orders"]),
                "shareOfRevenue": rate(revenue["netRevenueCents"], all_net),
            }
        )
    return rows


def attribution_daily(state: State, question: Question) -> Any:
    """15: "the same four for every day of the range, `date` first"; shares are of the day."""
    rows = []
    for day in days_between(question.first, question.last):
        of_day = Question(day, day, question.today, question.now, {})
        rows += [{"date": day.isoformat(), **row} for row in attribution(state, of_day)]
    return rows


def discounts(state: State, question: Question) -> Any:
    """16: per discount; "Order: orders descending, issued descending, discountId"."""
    by_code = state.discounts
    submissions = state.submitted(state.sessions, question)
    orders = state.ordered(question)
    names = {name for session in submissions for name in issued(session, by_code)}
    names |= {name for order in orders for name in used(order, by_code)}
    rows = []
    for name in names:
        codes = [code for code, discount in by_code.items() if discount == name]
        given = sum(name in issued(session, by_code) for session in submissions)
        with_it = [order for order in orders if name in used(order, by_code)]
        revenue = money(with_it)
        rows.append(
            {
                "discountId": name,
                "code": codes[0] if len(codes) == 1 else None,
                "issued": given,
                **revenue,
                "attributedOrders": sum(
                    state.credits[order.id].type == "discount_code" for order in with_it
                ),
                "redemptionRate": rate(len(with_it), given),
                "discountCents": sum(used(order, by_code)[name] for order in with_it),
                "averageOrderValueCents": cents(revenue["grossRevenueCents"], len(with_it)),
            }
        )
    return sorted(rows, key=lambda row: (-row["orders"], -row["issued"], row["discountId"]))


def by_utm(state: State, question: Question) -> Any:
    """17: "Order: netRevenueCents descending, then the text columns." """
    dimension = question.params["dimension"]
    rows = {"campaign": _campaigns, "attribution": _types, "hierarchy": _hierarchy}[dimension](
        state, question
    )
    texts = ("attributionType", *HIERARCHY)
    return {
        "dimension": dimension,
        "rows": sorted(
            rows,
            key=lambda row: (-row["netRevenueCents"], *(row.get(text, "") for text in texts)),
        ),
    }


def columns(utm: tuple[str, ...], names: Iterable[str]) -> dict[str, str]:
    """Some of the UTM values under their camel-case names."""
    named = {
        "utm" + field.removeprefix("utm_").capitalize(): value
        for field, value in zip(UTM, utm, strict=True)
    }
    return {name: named[name] for name in names}


def _campaigns(state: State, question: Question) -> list[dict[str, Any]]:
    """Submissions by their own UTM on the submission clock; attributed orders by their effective
    UTM on the order clock; "`attributedRevenueCents` is gross"."""
    submissions = state.submitted(state.sessions, question)
    orders = [order for order in state.ordered(question) if state.credits[order.id].session]
    submitted: dict[tuple[str, str], list[Session]] = {}
    ordered: dict[tuple[str, str], list[Order]] = {}
    for session in submissions:
        submitted.setdefault((session.utm[0], session.utm[2]), []).append(session)
    for order in orders:
        utm = state.utm(order)
        ordered.setdefault((utm[0], utm[2]), []).append(order)
    rows = []
    for source, campaign in submitted.keys() | ordered.keys():
        of_it = submitted.get((source, campaign), [])
        converted = len(state.converted(of_it))
        revenue = money(ordered.get((source, campaign), []))
        rows.append(
            {
                "utmSource": source,
                "utmCampaign": campaign,
                "submissionCount": len(of_it),
                "convertedSubmissions": converted,
                "attributedOrders": revenue.pop("orders"),
                "attributedRevenueCents": revenue["grossRevenueCents"],
                "conversionRate": rate(converted, len(of_it)),
                **revenue,
            }
        )
    return rows


def _types(state: State, question: Question) -> list[dict[str, Any]]:
    """Section 4: "over all orders by effective UTM"."""
    groups: dict[tuple[str, str, str], list[Order]] = {}
    for order in state.ordered(question):
        utm = state.utm(order)
        groups.setdefault((state.credits[order.id].type, utm[0], utm[2]), []).append(order)
    return [
        {"attributionType": type, "utmSource": source, "utmCampaign": campaign, **money(orders)}
        for (type, source, campaign), orders in groups.items()
    ]


def _hierarchy(state: State, question: Question) -> list[dict[str, Any]]:
    groups: dict[tuple[str, ...], list[Order]] = {}
    for order in state.ordered(question):
        groups.setdefault(state.utm(order)[:5], []).append(order)
    return [{**columns((*utm, ""), HIERARCHY), **money(orders)} for utm, orders in groups.items()]
