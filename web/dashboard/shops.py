"""`/shops`: all shops of a member, and for an operator all of the service, each in its own days and its own
currency. Nobody enters a shop whose member they are not.

The figures are the API's, from the same daily rows: net revenue (14) on the order clock, submissions and
those that bought (26) on the submission clock. Three statements read them for all shops: answers of the API
would be hundreds.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, func, select

from warehouse.daily.reader import (
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
from web.dashboard.compare import EVENTS, ORDERS, ComparedRow, Line, Pair
from web.dashboard.page import Page, View, find_needs
from web.dashboard.selection import select as select_days
from web.dashboard.table import Column, Table, columns_of
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


def shops(view: View) -> Page:
    entered, person = {key for key, _ in view.member.shops}, view.member.member
    # The shops of a member; for an operator the others, too, by their ids as far as the page takes them.
    keys = [key for key, _ in view.member.shops]
    if person.adds_shops:
        others = select(shop_table.c.shop_key).where(shop_table.c.shop_key.not_in(keys))
        rest = others.order_by(shop_table.c.shop_id).limit(max(_MOST - len(keys), 0))
        keys += view.answers.connection.scalars(rest)
    known = find_shops(view.answers.connection, keys)
    editions = [shop.edition for shop in known if shop.edition]
    events, orders = (_days_of(view.answers.connection, name, editions) for name in _SUMMARIES)
    views = [_view_of(view, shop, events, orders) for shop in known]
    figures = _rows(view.answers.connection, editions, views)
    permissions = sessions.permissions_by_shop(view.answers.connection, person.member_key)
    found = find_needs(view.answers.connection, view.member.now, [one.shop.key for one in views])
    columns = shop_table.c
    named = select(columns.shop_key, columns.name)
    named = named.where(columns.shop_key.in_([shop.key for shop in known]))
    names = {row.shop_key: row.name for row in view.answers.connection.execute(named)}
    rows = []
    for one, row in zip(views, figures, strict=True):
        _, last = events.get(one.shop.edition, (None, None))
        needs = [sentence for _, sentence in one.sentences(found[one.shop.key])]
        manages = person.adds_shops or MANAGE_CONNECTIONS in permissions.get(one.shop.key, ())
        if needs and not manages:
            needs = [_MISSING]
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
        shops=Table(view, "shops", _COLUMNS, rows, "-revenue", marks={"row": "shopId"}),
        has_others=any(not row["isEntered"] for row in rows),
        most=_MOST if len(rows) == _MOST and person.adds_shops else 0,
    )


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
    answers = replace(view.answers, shop=shop, today=today, first_days=first_days)
    return replace(view, selection=selection, answers=answers)


def _pair_of(view: View, *names: str) -> Pair | None:
    if "convertedSubmissions" in names:
        return view.comparable.equal_age(EVENTS, ORDERS)
    return view.comparable.whole_days(ORDERS if "netRevenueCents" in names else EVENTS)


def _rows(
    connection: Connection, editions: Collection[int], views: list[View]
) -> list[ComparedRow]:
    """The figures of each shop, from the daily rows of all over the days that any of them needs."""
    windows = [view.selection.window for view in views]
    for view in views:
        for name in ("netRevenueCents", "submissions", "convertedSubmissions"):
            if pair := _pair_of(view, name):
                windows += [pair.days, pair.before]
    first, last = min(days.first for days in windows), max(days.last for days in windows)
    orders = read_editions(connection, "attribution", editions, first, last, by=("day",))
    submissions = read_submissions(connection, editions, first, last)

    def line(view: View, days: Window, within: int | None = None) -> dict[str, Any]:
        """The figures of a shop. With `within`, what sign-ups bought is at equal age."""
        edition = view.shop.edition
        is_shown = orders["edition"] == edition
        is_shown &= (days.first <= orders["day"]) & (orders["day"] <= days.last)
        last = days.last
        if within is not None:
            last = last_mature_day(days.last, view.answers.today, within)
        submitted = submissions.total(edition, days.first, last, within=within)
        return {
            "shopId": view.shop.shop_id,
            "currency": view.shop.currency,
            "netRevenueCents": int((orders["gross"] - orders["refunded"])[is_shown].sum()),
            "submissions": submitted["submissions"],
            "convertedSubmissions": submitted["converted"],
        }

    def sides(view: View, pair: Pair) -> tuple[Line, Line]:
        return line(view, pair.days, pair.within), line(view, pair.before, pair.within)

    return [
        ComparedRow(
            line(view, view.selection.window), partial(_pair_of, view), partial(sides, view)
        )
        for view in views
    ]
