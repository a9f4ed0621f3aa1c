"""`/orders`: the orders behind a figure (endpoint 20), a page at a time; `/orders/ID`: why one is credited as
it is (endpoint 21).

The filters are in the address, by their names in the API. `page` is the cursor of a page; a link to other
days drops it. A sentence on an order is a list of parts: (kind, text), where the kind is `text`, `name` (of a
form) or `code`. Names and codes come from outside, so the template isolates them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, Final
from urllib.parse import quote

from flask import current_app, request, url_for

from warehouse.domain.figures import REVENUE
from warehouse.domain.time import zone
from web.api.endpoint import ROW_LIMITS
from web.api.equal_age import window_days
from web.api.filters import NONE
from web.api.forms_table import form_names
from web.dashboard import formatting
from web.dashboard.compare import ComparedRow
from web.dashboard.page import Page, View
from web.dashboard.selection import LABELS, address
from web.dashboard.table import CREDITED, Table, card, columns_of
from web.reports import discount_performance, receipts
from web.reports.order_candidates import MOST_CANDIDATES, strength

_PAGE: Final = 50
_CUSTOMERS: Final = {"new": "new", "returning": "returning", "unknown": "unknown"}
# The filters in words; those that are chosen from a list have its words.
_FILTERS: Final[dict[str, tuple[str, Mapping[str, str]]]] = {
    "type": ("Credited", CREDITED),
    "form_id": ("Form", {}),
    "customer": ("Customer", _CUSTOMERS),
    "discount_id": ("Discount", {}),
    **{name: (label, {}) for name, label in LABELS.items()},
}

_column = columns_of(receipts.ROW)
_COLUMNS: Final = (
    _column("orderId", unit="drawn"),
    # Second, so that a phone has it on its screen.
    _column("netRevenueCents"),
    _column("createdAt", unit="drawn"),
    _column("formName", "Credited to", unit="drawn"),
    _column("attributionType", "How", text=lambda row: CREDITED[row["attributionType"]]),
    _column("code", absent="—"),
    _column("customerType", text=lambda row: _CUSTOMERS[row["customerType"]]),
    _column("utmSource", absent="no source", filters=lambda row: {"utm_source": row["utmSource"]}),
    _column(
        "utmCampaign",
        absent="no campaign",
        filters=lambda row: {"utm_campaign": row["utmCampaign"]},
    ),
    _column("totalRefundedCents"),
)


def orders(view: View) -> Page:
    # As the API takes them. A filter without a value is none: a form sends it so.
    asked = ((each.name, request.args.get(each.name)) for each in receipts.first_orders.parameters)
    filters = {name: text for name, text in asked if text}
    window, answers = view.selection.window, view.answers
    listed = {"limit": f"{_PAGE}"}
    if "page" in request.args:
        listed["cursor"] = request.args["page"]
    rows, meta = answers.with_meta(receipts.orders, window, filters | listed)
    if request.args.get("csv"):
        # The file has all pages.
        rows, _ = answers.with_meta(receipts.first_orders, window, filters)
    # The name and the value of each filter, and the address without it.
    described = []
    for name, value in filters.items():
        label, words = _FILTERS[name]
        if name == "form_id":
            value = value.lower()
            words = form_names(answers.connection, view.shop.key, [value])
        text = "none" if value == NONE else words.get(value, value)
        described.append((label, text, address(**{name: ""})))
    sees_codes = view.may_see(discount_performance)
    all_of_them = ComparedRow({"orders": meta["total"], "netRevenueCents": meta["netRevenueCents"]})
    net = _column("netRevenueCents")
    return view.page(
        "orders.html",
        cards=[
            card(view, _column("orders"), all_of_them, "in these days"),
            card(view, net, all_of_them, "of these orders, after refunds"),
        ],
        orders=Table(
            view,
            "orders",
            [column for column in _COLUMNS if column.name != "code" or sees_codes],
            [ComparedRow(row) for row in rows],
            marks={"row": "orderId"},
            empty="No order of these days is among them.",
            most=_PAGE,
            noun="",
        ),
        most_in_file=current_app.config[ROW_LIMITS].rows,
        total=meta["total"],
        filters=described,
        asked=filters,
        choices={"type": CREDITED, "customer": _CUSTOMERS},
        is_first="page" not in request.args,
        next_page=meta["nextCursor"] and address(page=meta["nextCursor"]),
        report=receipts.orders,
        moment=view.local_time,
        # Slashes too: a browser takes `a/../b` for another path.
        path_of=lambda order_id: f"{url_for('dashboard.orders')}/{quote(order_id, safe='')}",
    )


def one_order(view: View, order_id: str) -> Page:
    story, _ = view.answers.with_meta(receipts.one_order, view.selection.window, order_id=order_id)
    window, timezone = window_days(view.shop), zone(view.shop.timezone)
    return view.page(
        "order.html",
        order=story,
        money=[
            (column.label, column.cell(view, ComparedRow(story), is_exact=True))
            for column in map(_column, REVENUE.split())
        ],
        verdict=verdict(story, window, timezone),
        others=others(story, window, timezone),
        is_cut=is_cut(story),
        moment=view.local_time,
    )


Sentence = list[tuple[str, str]]

# The grounds on which two submissions match, the strongest first: the ranks of `strength`.
_RANKS: Final = (
    "that was issued to the same customer",
    "that was issued to the same visitor",
    "that was issued to somebody else",
    "customer",
    "visitor",
)
_CODES: Final = 3
_MATCHED: Final = {
    "discount_code": "a code that the order used",
    "customer": "the customer",
    "visitor": "the visitor",
}
_MINUTES: Final = (("day", 24 * 60), ("hour", 60), ("minute", 1))


def verdict(order: Mapping[str, Any], window_days: int, timezone: tzinfo) -> Sentence:
    """The sentence on the submission that the order is credited to, or on that there is none."""
    if order["submittedAt"] is None:
        days = formatting.counted(window_days, "day")
        text = (
            f"Credited to no form: in the {days} before the order, neither its customer nor its visitor "
            "submitted one, and no submission was issued a code that the order used."
        )
        return [("text", text)]
    when = f"{_day(order, order['submittedAt'], timezone)}, {_gap(order['secondsToOrder'])} before."
    parts = [("text", "Credited to "), _name(order)]
    if order["attributionType"] != "discount_code":
        person = order["attributionType"]
        return [*parts, ("text", f": the same {person} submitted it on {when}")]
    code = [("text", ": a code that the order used")]
    if order["code"]:
        code = [("text", ": the code "), ("code", order["code"])]
    return [*parts, *code, ("text", f" was issued to its submission on {when}")]


def others(order: Mapping[str, Any], window_days: int, timezone: tzinfo) -> list[Sentence]:
    """A sentence on each other submission that matches, with the reason for which it is not credited; one on
    all submissions of a form that match by the same and lose for the same: hundreds can share a code. Where
    the answer is cut, each form may have more of them, and earlier ones."""
    candidates = order["candidates"]
    chosen = next((one for one in candidates if one["chosen"]), None)
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for one in candidates:
        if not one["chosen"]:
            key = one["formId"], *one["matches"], one["because"]
            groups.setdefault(key, []).append(one)

    def sentence(group: Sequence[Mapping[str, Any]]) -> Sentence:
        latest, is_one = group[0], len(group) == 1
        day = _day(order, latest["submittedAt"], timezone)
        if not is_one:
            first = _day(order, group[-1]["submittedAt"], timezone)
            span = day if first == day else f"{first} to {day}"
            counted = formatting.counted(len(group), "submission")
            day = f"at least {counted}, the latest {day}" if is_cut(order) else f"{counted}, {span}"
        verb = f"{'also ' if chosen else ''}{'matches' if is_one else 'match'}"
        *most, last = [_MATCHED[name] for name in latest["matches"]]
        matched = f"{', '.join(most)} and {last}" if most else last
        reason = _reason(latest, chosen, window_days, is_one=is_one)
        return [_name(latest), ("text", f" ({day}) {verb} {matched}: {reason}.")]

    return [sentence(group) for group in groups.values()]


def is_cut(order: Mapping[str, Any]) -> bool:
    """Whether more submissions may match than the answer has."""
    return len(order["candidates"]) == MOST_CANDIDATES


def _reason(
    latest: Mapping[str, Any],
    chosen: Mapping[str, Any] | None,
    window_days: int,
    *,
    is_one: bool,
) -> str:
    if latest["because"] == "outside_window" or chosen is None:
        gap = _gap(latest["secondsToOrder"])
        was = f"it was {gap}" if is_one else f"they were {gap} or more"
        return f"{was} before the order, and a submission counts for {formatting.counted(window_days, 'day')}"
    if latest["because"] == "weaker_match":
        stronger, weaker = _rank(chosen), _rank(latest)
        if stronger < _CODES <= weaker:
            return f"a code outranks a {_RANKS[weaker]}"
        if weaker < _CODES:
            return f"a code {_RANKS[stronger]} outranks one {_RANKS[weaker]}"
        return f"a {_RANKS[stronger]} outranks a {_RANKS[weaker]}"
    if latest["because"] == "earlier":
        which = "it is earlier" if is_one else "they are earlier"
        return f"{which}, and the latest of several counts"
    which = "both" if is_one else "all"
    return f"{which} are of the same moment, and a fixed rule chooses one"


def _rank(one: Mapping[str, Any]) -> int:
    return strength(tuple(name in one["matches"] for name in _MATCHED))


def _name(row: Mapping[str, Any]) -> tuple[str, str]:
    return "name", row["formName"] or f"form {row['formId']}, which has no name"


def _day(order: Mapping[str, Any], text: str, timezone: tzinfo) -> str:
    """The day of an instant in the shop's time; with its year where that is not the order's."""
    day, ordered = (
        datetime.fromisoformat(each).astimezone(timezone).date()
        for each in (text, order["createdAt"])
    )
    return formatting.short_day(day) if day.year == ordered.year else formatting.day(day)


def _gap(seconds: int) -> str:
    """A time in its two largest units: 2 days 4 hours."""
    minutes, words = seconds // 60, list[str]()
    for name, size in _MINUTES:
        number, minutes = divmod(minutes, size)
        if number:
            words.append(formatting.counted(number, name))
        elif words:
            # 2 days and 5 minutes are 2 days.
            break
    return " ".join(words[:2]) or "less than a minute"
