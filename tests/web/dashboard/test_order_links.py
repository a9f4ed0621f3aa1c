"""Links from figures to orders: the listed orders add up to the figure, to the cent."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from html.parser import HTMLParser
from typing import Any, Final

import pytest

from tests.support.people import Browser, add_member
from tests.support.shop_builder import known_shop
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.written import shop_of
from warehouse.connections.engine import open_engine
from warehouse.domain.vocabulary import minor_units
from web.app import close_app, create_app
from web.dashboard.table import SUMS_OF_ORDERS

HTML: Final = {"Accept": "text/html", "Accept-Language": "en"}
_VOID: Final = frozenset(("meta", "link", "input", "br", "img", "hr"))
# Each page, and where figures have links: a card, or a table and its figure.
PLACES: Final = {
    "/": {
        "Net revenue",
        "Credited to forms",
        "days.netRevenueCents",
        "forms.netRevenueCents",
        "campaigns.netRevenueCents",
        "customers.orders",
        "customers.netRevenueCents",
    },
    "/forms": {"forms.netRevenueCents"},
    "/revenue": {
        "parts.orders",
        "parts.grossRevenueCents",
        "parts.totalRefundedCents",
        "parts.netRevenueCents",
        "days.netRevenueCents",
        "tree.netRevenueCents",
        "campaigns.netRevenueCents",
    },
    "/discounts": {"codes.netRevenueCents"},
    "/ads": {"campaigns.attributedOrders", "campaigns.attributedNetRevenueCents"},
    "one form": {"Net revenue", "days.orders", "days.netRevenueCents"},
}
NUMBERS: Final = "forms,campaigns,customers,parts,days,codes"


@dataclass
class Linked:
    place: str
    name: str
    value: int
    links: list[str] = field(default_factory=list)


class _Parser(HTMLParser):
    """Each shown figure with the links to its orders, which stand in it or in what opens beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Linked] = []
        self._open: list[tuple[str, str]] = []
        self._table = self._card = ""
        self._in_heading = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: text or "" for name, text in attributes}
        kind = values.get("class", "")
        if tag == "a" and kind in ("orders", "behind"):
            self.found[-1].links.append(values["href"])
        is_deep = any("deep" in each.split() for _, each in self._open)
        if "data-figure" in values and not is_deep:
            place = self._card or f"{self._table}.{values['data-figure']}"
            value = float(values["data-value"])
            self.found.append(Linked(place, values["data-figure"], int(value)))
        if tag == "li" and "card-of" in kind:
            self._card = "?"
        if tag == "ul" and kind == "tree":
            self._table = "tree"
        if tag == "table":
            self._table = values.get("data-table", "")
        self._in_heading = self._in_heading or (tag == "h2" and self._card == "?")
        if tag not in _VOID:
            self._open.append((tag, kind))

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        pass

    def handle_data(self, data: str) -> None:
        if self._in_heading and self._card == "?":
            self._card = data.strip()

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        _, kind = self._open.pop()
        if tag == "h2":
            self._in_heading = False
        if tag == "li" and "card-of" in kind:
            self._card = ""


def figures(page: str) -> list[Linked]:
    parser = _Parser()
    parser.feed(page)
    return parser.found


def linked(page: str) -> list[Linked]:
    return [each for each in figures(page) if each.links]


@pytest.fixture(scope="module")
def sums_of(seen: Seen) -> Callable[[str], dict[str, int]]:
    """A function that adds up the orders of an address, by the names of the API. It checks that the cards of
    the page say the same."""
    units = minor_units(shop_of(seen, "90d")[0])

    @cache
    def sums_of(address: str) -> dict[str, int]:
        page = get(seen, address)
        rows = list(
            csv.DictReader(io.StringIO(get(seen, f"{address}&csv=orders").lstrip("\ufeff")))
        )

        def total(heading: str) -> int:
            return int(sum(Decimal(row[heading] or 0) for row in rows) * units)

        net, refunded = total("Net revenue"), total("Refunded")
        cards = page.partition('<ul class="card glance')[2].partition("</ul>")[0]
        said = re.findall(r'data-figure="(\w+)" data-value="(-?\d+)"', cards)
        assert dict(said) == {"orders": f"{len(rows)}", "netRevenueCents": f"{net}"}
        return {
            "orders": len(rows),
            "netRevenueCents": net,
            "totalRefundedCents": refunded,
            "grossRevenueCents": net + refunded,
        }

    return sums_of


def get(seen: Seen, address: str) -> str:
    answer = seen.browser.get(address, headers=HTML)
    assert answer.status_code == 200, address
    return answer.get_data(as_text=True)


def path_of(seen: Seen, name: str) -> str:
    if name != "one form":
        return name
    rows = seen.api("/revenue/by-form", clock="order", range="30d")
    return f"/forms/{next(row['formId'] for row in rows if row['formName'] and row['orders'])}"


def column_of(figure: Linked) -> str:
    """The figure of orders by its name in sums of them."""
    return figure.name.replace("attributedOrders", "orders").replace("attributedNet", "net")


@pytest.mark.parametrize("compare", ["previous", "none"])
@pytest.mark.parametrize("name", PLACES)
def test_the_listed_orders_add_up_to_the_figure(
    seen: Seen, name: str, compare: str, sums_of: Callable[[str], dict[str, int]]
) -> None:
    days = {"range": "30d", "compare": compare, "numbers": NUMBERS}
    shown = figures(seen.page(path_of(seen, name), **days))
    found = [each for each in shown if each.links]
    places = {each.place for each in found}
    assert len(places) > len(PLACES[name]) / 2
    assert places == PLACES[name] & {each.place for each in shown if each.value}
    for each in found:
        listed = sum(sums_of(address)[column_of(each)] for address in each.links)
        assert listed == each.value, (each, [sums_of(address) for address in each.links])


@pytest.mark.parametrize(
    "filter", [{"device": "mobile"}, {"visitor": "new"}, {"utm_source": "(none)"}]
)
@pytest.mark.parametrize("name", ["/", "/forms", "one form"])
def test_filtered_figures_lead_to_filtered_orders(
    seen: Seen, name: str, filter: dict[str, str], sums_of: Callable[[str], dict[str, int]]
) -> None:
    """Orders have UTM values of their own, so no address chooses those of sessions with one."""
    path, found = path_of(seen, name), 0
    for each in linked(seen.page(path, range="30d", numbers=NUMBERS, **filter)):
        listed = sum(sums_of(address)[column_of(each)] for address in each.links)
        assert listed == each.value, each
        found += each.place == "forms.netRevenueCents"
    if name != "one form":
        assert bool(found) == ("utm_source" not in filter)


def test_every_sum_of_orders_is_linked_but_those_that_no_filter_chooses(seen: Seen) -> None:
    """A figure that is not 0 on the page of revenue has a link, in each row."""
    page = seen.page("/revenue", range="30d", numbers="parts,days")
    shown = re.findall(
        r'<td[^>]*><span class="cell"><span data-figure="(\w+)" data-value="(-?\d+)"', page
    )
    not_null = [name for name, value in shown if name in SUMS_OF_ORDERS and int(value)]
    of_tables = [each for each in linked(page) if each.place.startswith(("parts", "days"))]
    assert len(of_tables) == len(not_null) > 10


def test_no_link_is_of_the_submission_clock(seen: Seen) -> None:
    for path in ("/", "/forms"):
        page = seen.page(path, range="30d", clock="submission", numbers="forms")
        places = {each.place for each in linked(page)}
        assert not places & {"forms.netRevenueCents", "Credited to forms"}
        assert "Credited to forms" in page


def test_members_without_the_permission_see_no_link(rolled_up: tuple[str, Any], seen: Seen) -> None:
    url, _ = rolled_up
    engine, app = open_engine(url), create_app(url)
    shop = known_shop(engine, seen.shop_id)
    allowed = ("discounts:view", "forms:edit", "connections:manage")
    email = add_member(engine, shop, "without@orders.example", allowed)
    without = Browser(app.test_client()).signed_in(email)
    for path in ("/", "/forms", "/revenue", "/discounts", "/ads"):
        answer = without.get(path, query_string={"range": "30d", "numbers": NUMBERS}, headers=HTML)
        assert answer.status_code == 200
        assert not re.search(r'href="/orders', answer.get_data(as_text=True))
    close_app(app)
    engine.dispose()
