"""`/shops`: all shops of a member, and for an operator all of the service, each in its own days and its own
currency. Nobody enters a shop whose member they are not.

The figures are the API's, from the same daily rows: net revenue (14) on the order clock, submissions and
those that bought (26) on the submission clock. Three statements read them for all shops: answers of the API
would be hundreds.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, func, select

from warehouse.daily.reader import (
    SubmissionsOfEditions,
    Sums,
    last_mature_day,
    read_editions,
    read_submissions,
)
from warehouse.domain.time import day_date, local_day
from warehouse.tables import DAILY
from warehouse.tables import shop as shop_table
from web.api.equal_age import window_days
from web.auth import sessions
from web.auth.permissions import MANAGE_CONNECTIONS
from web.dashboard import formatting
from web.dashboard.comparable import EVENTS, ORDERS, Comparable, Pair
from web.dashboard.compare import ComparedRow
from web.dashboard.page import Page, View, find_needs
from web.dashboard.selection import select as select_days
from web.dashboard.table import Column, columns_of, table
from web.http.api_key_auth import find_shops
from web.http.current_request import Shop
from web.http.date_range import Window
from web.reports.revenue_by_form import ROW

# The most shops of the service that an operator sees.
_MOST: Final = 500
# For members who may not see what it is.
_MISSING: Final = "Some data may be missing."

_column = columns_of(ROW)
_COLUMNS: Final = (
    Column(
        "shopId",
        "Shop",
        "drawn",
        text=lambda row: row["shopId"],
        sort="shop",
        key=lambda row: (row["name"] or row["shopId"]).casefold(),
    ),
    _column("netRevenueCents", compared=True, currency="currency", sort="revenue"),
    _column("submissions", "Submissions", compared=True),
    _column("conversionRate", "Sign-ups that bought", compared=True, sort="bought"),
    Column(
        "lastEvent",
        "Last event",
        "text",
        text=lambda row: formatting.day(row["lastEvent"]) if row["lastEvent"] else row["noEvent"],
        sort="event",
        key=lambda row: row["lastEvent"],
    ),
    Column(
        "needs",
        "Needs a look",
        "text",
        text=lambda row: " ".join(row["needs"]),
        absent="nothing",
        sort="needs",
        key=lambda row: len(row["needs"]),
    ),
)


@dataclass(frozen=True)
class _Figures:
    """The daily rows of several shops over all days that their rows on the page need."""

    orders: Sums
    submissions: SubmissionsOfEditions

    def line(self, edition: int, days: Window, today: int, within: int | None) -> dict[str, Any]:
        """The figures of a shop in some days; with `within`, what sign-ups bought is at equal age."""
        orders = self.orders
        is_shown = orders["edition"] == edition
        is_shown &= (days.first <= orders["day"]) & (orders["day"] <= days.last)
        last = days.last if within is None else last_mature_day(days.last, today, within)
        submitted = self.submissions.total(edition, days.first, last, within=within)
        return {
            "netRevenueCents": int((orders["gross"] - orders["refunded"])[is_shown].sum()),
            "submissions": submitted["submissions"],
            "convertedSubmissions": submitted["converted"],
        }


def shops(view: View) -> Page:
    entered, person = {key for key, _ in view.member.shops}, view.member.member
    known = find_shops(view.answers.connection, _keys(view))
    editions = [shop.edition for shop in known if shop.edition]
    events, orders = (_days_of(view.answers.connection, name, editions) for name in _SUMMARIES)
    views = [_view_of(view, shop, events, orders) for shop in known]
    figures = _read(view.answers.connection, editions, views)
    permissions = sessions.permissions_by_shop(view.answers.connection, person.member_key)
    found = find_needs(view.answers.connection, view.member.now, [one.shop.key for one in views])
    names = _names(view.answers.connection, [shop.key for shop in known])
    rows = []
    for one in views:
        _, last = events.get(one.shop.edition, (None, None))
        needs = [sentence for _, sentence in one.sentences(found[one.shop.key])]
        manages = person.adds_shops or MANAGE_CONNECTIONS in permissions.get(one.shop.key, ())
        if needs and not manages:
            needs = [_MISSING]
        row = _row(one, figures)
        rows.append(
            row.plus(
                name=names[one.shop.key],
                isEntered=one.shop.key in entered,
                lastEvent=last and day_date(last),
                # Rows that wait for a refresh may have the first ones.
                noEvent="not in the figures yet" if one.state.waiting_since else "never sent",
                needs=needs,
            )
        )
    return view.page(
        "shops.html",
        shops=table(view, "shops", _COLUMNS, rows, "-revenue", marks={"row": "shopId"}),
        has_others=any(not row["isEntered"] for row in rows),
        most=_MOST if len(rows) == _MOST and person.adds_shops else 0,
    )


def _keys(view: View) -> list[int]:
    """Those of a member, and of an operator the others, too, by their ids as far as the page takes them."""
    keys = [key for key, _ in view.member.shops]
    if not view.member.member.adds_shops:
        return keys
    others = select(shop_table.c.shop_key).where(shop_table.c.shop_key.not_in(keys))
    rest = others.order_by(shop_table.c.shop_id).limit(max(_MOST - len(keys), 0))
    return [*keys, *view.answers.connection.scalars(rest)]


def _names(connection: Connection, shops: Collection[int]) -> dict[int, str]:
    """By key; "" for a shop without a name."""
    named = select(shop_table.c.shop_key, shop_table.c.name)
    rows = connection.execute(named.where(shop_table.c.shop_key.in_(shops)))
    return {row.shop_key: row.name for row in rows}


_SUMMARIES: Final = ("all_forms", "attribution")


def _days_of(
    connection: Connection, summary: str, editions: Collection[int]
) -> dict[int, tuple[int, int]]:
    """The first and the last day with rows of a summary, by edition."""
    columns = DAILY[summary].c
    statement = select(columns.edition, func.min(columns.day), func.max(columns.day))
    of_shops = statement.where(columns.edition.in_(editions)).group_by(columns.edition)
    return {edition: (first, last) for edition, first, last in connection.execute(of_shops)}


def _view_of(
    view: View,
    shop: Shop,
    events: Mapping[int, tuple[int, int]],
    orders: Mapping[int, tuple[int, int]],
) -> View:
    """The same page for another shop, whose calendar may be in another day."""
    today, window = local_day(view.member.now, shop.timezone), window_days(shop)
    days = {"range": view.selection.range, "compare": view.selection.compare}
    if view.selection.within:
        days["within"] = f"{view.selection.within}"
    selection = select_days(days, today, shop.timezone, window)
    first_days = {
        name: by_shop.get(shop.edition, (None, None))[0]
        for name, by_shop in ((EVENTS, events), (ORDERS, orders))
    }
    comparable = Comparable(
        view.answers.connection,
        shop.key,
        shop.edition,
        selection,
        today,
        shop.timezone,
        window,
        first_days,
    )
    answers = replace(view.answers, shop=shop, today=today)
    return replace(view, shop=shop, selection=selection, comparable=comparable, answers=answers)


def _pair_of(view: View, *names: str) -> Pair | None:
    if "convertedSubmissions" in names:
        return view.comparable.equal_age(EVENTS, ORDERS)
    return view.comparable.whole_days(ORDERS if "netRevenueCents" in names else EVENTS)


def _read(connection: Connection, editions: Collection[int], views: list[View]) -> _Figures:
    windows = [view.selection.window for view in views]
    for view in views:
        for name in ("netRevenueCents", "submissions", "convertedSubmissions"):
            if pair := _pair_of(view, name):
                windows += [pair.days, pair.before]
    first, last = min(days.first for days in windows), max(days.last for days in windows)
    return _Figures(
        read_editions(connection, "attribution", editions, first, last, by=("day",)),
        read_submissions(connection, editions, first, last),
    )


def _row(view: View, figures: _Figures) -> ComparedRow:
    shop, today = view.shop, view.answers.today

    def line(days: Window, within: int | None = None) -> dict[str, Any]:
        return figures.line(shop.edition, days, today, within)

    now = line(view.selection.window) | {"shopId": shop.shop_id, "currency": shop.currency}
    return ComparedRow(
        now,
        partial(_pair_of, view),
        lambda pair: (line(pair.days, pair.within), line(pair.before, pair.within)),
    )
