"""Shop-wide revenue: contract section 4, endpoints 14 to 17, 22, and 26."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.oracle.attribution import TYPES
from tests.support.oracle.discounts import issued, used
from tests.support.oracle.orders import Order
from tests.support.oracle.records import UTM
from tests.support.oracle.row_limit import OTHER, Limited
from tests.support.oracle.sessions import Session
from tests.support.oracle.state import Question, State, answers
from tests.support.oracle.times import days_between
from tests.support.oracle.values import cents, money, rate


def shares(
    name: str, types: Iterable[str], orders: Sequence[Order], type_of: Callable[[Order], str]
) -> list[dict[str, Any]]:
    """The money of the orders of each type, as 14 and 22 have it, in the order of the types."""
    all_net = sum(order.net for order in orders)
    rows = []
    for type in types:
        revenue = money(order for order in orders if type_of(order) == type)
        rows.append(
            {
                name: type,
                **revenue,
                "averageOrderValueCents": cents(revenue["grossRevenueCents"], revenue["orders"]),
                "shareOfRevenue": rate(revenue["netRevenueCents"], all_net),
            }
        )
    return rows


@answers("/v1/attribution")
def attribution(state: State, question: Question) -> Any:
    """14: "always four rows"; "Order clock; the rows add up to the shop." """
    orders = state.ordered(question)
    return shares("attributionType", TYPES, orders, lambda order: state.credits[order.id].type)


@answers("/v1/attribution/daily")
def attribution_daily(state: State, question: Question) -> Any:
    """15: "the same four for every day of the range, `date` first"; shares are of the day."""
    rows = []
    for day in days_between(question.first, question.last):
        of_day = Question(day, day, question.today, question.now, {})
        rows += [{"date": day.isoformat(), **row} for row in attribution(state, of_day)]
    return rows


@answers("/v1/revenue/new-returning")
def new_returning(state: State, question: Question) -> Any:
    """22: "three rows, `customerType` `new`, `returning`, `unknown`"; "Order clock"."""
    types = ("new", "returning", "unknown")
    return shares("customerType", types, state.ordered(question), state.customer_type)


@answers("/v1/revenue/new-returning/daily")
def new_returning_daily(state: State, question: Question) -> Any:
    """22: "Daily: each day with `date` first." """
    rows = []
    for day in days_between(question.first, question.last):
        of_day = Question(day, day, question.today, question.now, {})
        rows += [{"date": day.isoformat(), **row} for row in new_returning(state, of_day)]
    return rows


@answers("/v1/revenue/by-form")
def by_form(state: State, question: Question) -> Any:
    """26: "Order: netRevenueCents descending, formId; the unattributed row last." """
    on_order_clock = question.params.get("clock", "submission") == "order"
    rows = []
    for form_id in {session.form_id for session in state.sessions}:
        sessions = state.of_form(form_id)
        submissions = state.submitted(sessions, question)
        orders, earlier = state.outcome(submissions), None
        if on_order_clock:
            orders = [order for order in state.ordered(question) if _form(state, order) == form_id]
            earlier = _from_earlier(state, question, orders)
        views = len(state.reached(sessions, "view", question))
        if views or submissions or orders:
            converted = len(state.converted(submissions))
            name = state.form_names.get(form_id)
            counts = (views, len(submissions), converted)
            rows.append(_of_form(form_id, name, counts, orders, earlier))
    rows.sort(key=lambda row: (-row["netRevenueCents"], row["formId"]))
    unattributed = [order for order in state.ordered(question) if not _form(state, order)]
    if on_order_clock and unattributed:
        rows.append(
            _of_form(None, None, (0, 0, 0), unattributed, _from_earlier(state, question, []))
        )
    return rows


def _form(state: State, order: Order) -> str | None:
    session = state.credits[order.id].session
    return session.form_id if session else None


def _from_earlier(state: State, question: Question, orders: list[Order]) -> dict[str, int]:
    """ "how much of them comes from submissions before the range"."""
    earlier = []
    for order in orders:
        session = state.credits[order.id].session
        if session and session.submitted_at and state.day(session.submitted_at) < question.first:
            earlier.append(order)
    figures = money(earlier)
    return {name: figures[name] for name in ("orders", "netRevenueCents")}


def _of_form(
    form_id: str | None,
    name: str | None,
    counts: tuple[int, int, int],
    orders: list[Order],
    earlier: dict[str, int] | None,
) -> dict[str, Any]:
    views, submissions, converted = counts
    revenue = money(orders)
    return {
        "formId": form_id,
        "formName": name,
        "views": views,
        "submissions": submissions,
        "convertedSubmissions": converted,
        **revenue,
        "submissionRate": rate(submissions, views),
        "conversionRate": rate(converted, submissions),
        "revenuePerSubmissionCents": cents(revenue["netRevenueCents"], submissions),
        "fromEarlierSubmissions": earlier,
    }


@answers("/v1/discounts/performance")
def discounts(state: State, question: Question) -> Limited:
    """16: per discount; "Order: orders descending, issued descending, discountId"."""
    by_code = state.discounts
    names = {name for s in state.submitted(state.sessions, question) for name in issued(s, by_code)}
    names |= {name for order in state.ordered(question) for name in used(order, by_code)}
    rows = {name: _discount(state, question, [name]) for name in names}
    ordered = sorted(names, key=lambda name: (-rows[name]["orders"], -rows[name]["issued"], name))
    first, others = ordered[: question.limits.rows], ordered[question.limits.rows :]
    data = []
    for name in first:
        codes = [code for code, discount in by_code.items() if discount == name]
        code = codes[0] if len(codes) == 1 else None
        data.append({"discountId": name, "code": code, **rows[name]})
    if others:
        of_others = _discount(state, question, others)
        data.append({"discountId": OTHER, "code": OTHER, **of_others})
    return Limited(data, len(others))


def _discount(state: State, question: Question, names: list[str]) -> dict[str, Any]:
    """The figures of discounts: an order that used two of them counts twice, as in two rows."""
    by_code = state.discounts
    submissions, orders = state.submitted(state.sessions, question), state.ordered(question)
    given = sum(name in issued(session, by_code) for session in submissions for name in names)
    uses = [(order, name) for order in orders for name in names if name in used(order, by_code)]
    revenue = money(order for order, _ in uses)
    return {
        "issued": given,
        **revenue,
        "attributedOrders": sum(
            state.credits[order.id].type == "discount_code" for order, _ in uses
        ),
        "redemptionRate": rate(len(uses), given),
        "discountCents": sum(used(order, by_code)[name] for order, name in uses),
        "averageOrderValueCents": cents(revenue["grossRevenueCents"], len(uses)),
    }


@dataclass
class Group:
    """The submissions and the orders with the same texts."""

    submissions: list[Session] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)


Groups = dict[tuple[str, ...], Group]


@answers("/v1/revenue/by-utm")
def by_utm(state: State, question: Question) -> Limited:
    """17: "Order: netRevenueCents descending, then the text columns." """
    dimension = question.params["dimension"]
    names, groups = {"campaign": _campaigns, "attribution": _types, "hierarchy": _hierarchy}[
        dimension
    ](state, question)
    ordered = sorted(
        groups, key=lambda texts: (-money(groups[texts].orders)["netRevenueCents"], texts)
    )
    first, others = ordered[: question.limits.rows], ordered[question.limits.rows :]
    shown = {texts: groups[texts] for texts in first}
    if others:
        shown[(OTHER,) * len(names)] = Group(
            [session for texts in others for session in groups[texts].submissions],
            [order for texts in others for order in groups[texts].orders],
        )
    rows = []
    for texts, group in shown.items():
        figures = money(group.orders)
        if dimension == "campaign":
            figures = _campaign(state, group)
        rows.append({**dict(zip(names, texts, strict=True)), **figures})
    return Limited({"dimension": dimension, "rows": rows}, len(others))


def _campaigns(state: State, question: Question) -> tuple[tuple[str, ...], Groups]:
    """Submissions by their own UTM on the submission clock; attributed orders by their effective
    UTM on the order clock."""
    groups: Groups = {}
    for session in state.submitted(state.sessions, question):
        key = session.utm[0], session.utm[2]
        groups.setdefault(key, Group()).submissions.append(session)
    for order in state.ordered(question):
        if state.credits[order.id].session:
            utm = state.utm(order)
            groups.setdefault((utm[0], utm[2]), Group()).orders.append(order)
    return ("utmSource", "utmCampaign"), groups


def _campaign(state: State, group: Group) -> dict[str, Any]:
    """ "`attributedRevenueCents` is gross"."""
    converted = len(state.converted(group.submissions))
    revenue: dict[str, Any] = money(group.orders)
    return {
        "submissionCount": len(group.submissions),
        "convertedSubmissions": converted,
        "attributedOrders": revenue.pop("orders"),
        "attributedRevenueCents": revenue["grossRevenueCents"],
        "conversionRate": rate(converted, len(group.submissions)),
        **revenue,
    }


def _types(state: State, question: Question) -> tuple[tuple[str, ...], Groups]:
    """Section 4: "over all orders by effective UTM"."""
    groups: Groups = {}
    for order in state.ordered(question):
        utm = state.utm(order)
        key = state.credits[order.id].type, utm[0], utm[2]
        groups.setdefault(key, Group()).orders.append(order)
    return ("attributionType", "utmSource", "utmCampaign"), groups


def _hierarchy(state: State, question: Question) -> tuple[tuple[str, ...], Groups]:
    names = ("utmSource", "utmCampaign", "utmMedium", "utmTerm", "utmContent")
    groups: Groups = {}
    for order in state.ordered(question):
        named = dict(zip(UTM, state.utm(order), strict=True))
        key = tuple(named["utm_" + name.removeprefix("utm").lower()] for name in names)
        groups.setdefault(key, Group()).orders.append(order)
    return names, groups
