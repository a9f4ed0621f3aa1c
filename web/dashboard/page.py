"""START HERE: the parts of every page: the member's shop, the days of its address, answers for both, each
figure beside its former one where the two can be compared (`compare.py`).

Everything is in the address, so that a page can be sent, kept and printed. A page is a GET: nothing on it
changes anything. All of it is from one snapshot: the one in which the member was found, or, for figures and
where there is one, one of the read replica.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode

from flask import render_template, request, url_for
from sqlalchemy import Connection

from warehouse import settings
from warehouse.domain.time import day_date, local_day, local_time, zone
from warehouse.operations import conditions
from warehouse.shops import notes, shop_state
from warehouse.shops.shop_inputs import RowsToCome, rows_to_come
from warehouse.shops.shop_state import ShopState, needs, read_state
from web.api.endpoint import Endpoint
from web.api.equal_age import window_days
from web.api.filters import NAMES, NONE, UTM_FILTERS
from web.api.forms import get_form
from web.api.forms_table import form_names
from web.api.row_limit import OTHER
from web.api.rows import TO_DATE, Row
from web.dashboard.answers import Answers
from web.dashboard.changes import PageChanges
from web.dashboard.compare import EVENTS, Comparable, ComparedRows, Line, Pair, Rows
from web.dashboard.selection import (
    CLOCKS,
    COMPARISONS,
    KEYS,
    RANGES,
    Selection,
    as_many_days,
    chips,
    choices,
    days_to_buy,
    others,
    range_address,
    read_against,
    read_filters,
    select,
)
from web.dashboard.statistics import Noise
from web.db.database import query_of
from web.http.current_request import Shop
from web.http.date_range import Window
from web.http.parameters import SUBMISSION_CLOCK, UUID_TEXT
from web.pages.page_request import MemberRequest, read_figures
from web.reports import discount_performance, receipts

# By the name of what needs a person, its place on the Data page, and the sentence on it.
_ATTENTION: Final = {
    conditions.SET_ASIDE: ("set-aside", "Some imports fail and are in no figure."),
    conditions.REMOVAL_FAILED: ("imports", "Rows that are to go could not be removed."),
    conditions.VERIFY_FAILED: ("differences", "Some figures differ from the imported rows."),
    shop_state.NO_REFRESH: ("no-refresh", "The figures are not refreshed any more."),
    conditions.BACKLOG: ("backlog", "Imported rows have waited too long to be in the figures."),
    shop_state.REJECTS: ("rejects", "Some rows could not be imported, or lack a field."),
    conditions.MANY_REJECTS: ("rejects", "Many rows of the last day could not be imported."),
    conditions.PULL_FAILED: ("pulls", "Some data are not fetched any more."),
    conditions.NO_EVENTS: ("sources", "Forms were viewed on most days, and now no events come in."),
    conditions.NO_ORDERS: ("sources", "There were orders on most days, and now none come in."),
    conditions.UNKNOWN_FORMS: (
        "unknown-forms",
        "Events name forms that the shop's list does not have.",
    ),
    conditions.COLLECT_LIMIT: ("sources", "Some events were refused: too many came."),
}


# The pages on which a control acts, by their templates: elsewhere it does not stand. Every page has days.
_ACTS: Final = {
    "comparison": {
        *("overview.html", "forms.html", "one_form.html", "revenue.html", "discounts.html"),
        *("ads.html", "customers.html", "shops.html"),
    },
    "clock": {"overview.html", "forms.html", "one_form.html"},
    "within": {"overview.html", "forms.html", "one_form.html", "revenue.html", "shops.html"},
    "filters": {"overview.html", "forms.html", "one_form.html"},
}


def find_needs(connection: Connection, now: int, shops: Collection[int]) -> dict[int, list[str]]:
    """The names of the conditions of these shops, by their keys."""
    found: dict[int, list[str]] = {key: [] for key in shops}
    query, refresh_minutes = query_of(connection), settings.REFRESH_MINUTES.get()
    for finding in conditions.find_of_shops(query, now, refresh_minutes, shops):
        if finding.condition not in found[finding.shop_key]:
            found[finding.shop_key].append(finding.condition)
    return found


@dataclass(frozen=True)
class View:
    """One page of one member: `data()` of a report over the days that are shown, or its rows `compared()`
    with those of former days."""

    member: MemberRequest
    selection: Selection
    answers: Answers
    changes: PageChanges = field(default_factory=PageChanges)

    @property
    def shop(self) -> Shop:
        return self.answers.shop

    @cached_property
    def comparable(self) -> Comparable:
        answers = self.answers
        return Comparable(
            *(answers.connection, answers.shop, self.selection, answers.today, answers.first_days)
        )

    @cached_property
    def whole(self) -> "View":
        """The same page without filters: for cards that cannot be filtered."""
        return replace(self.alone, answers=self.answers.under({})) if self.answers.filters else self

    @cached_property
    def alone(self) -> "View":
        """The same page beside former days, not beside another filter."""
        if not self.selection.against:
            return self
        return replace(self, selection=replace(self.selection, against=""))

    @cached_property
    def beside(self) -> Answers | None:
        """The answers under the other filter; None where no filter stands beside the page's."""
        name, _, value = self.selection.against.partition(":")
        filters = {**self.answers.filters, name: value}
        return self.answers.under(filters) if name else None

    def data(self, report: Endpoint, form_id: str = "", **parameters: str) -> Any:
        """`data` of a report (a function of `web/reports/`). Raises NotAllowed where the member lacks the
        permission that the report needs."""
        return self.answers.data(report, self.selection.window, form_id, parameters)

    def compared(
        self,
        report: Endpoint,
        *keys: str,
        form_id: str = "",
        made_of: tuple[str, ...] = (),
        ages: Mapping[str, int] = MappingProxyType({}),
        lines: Callable[[Any], Rows] | None = None,
        noise: Callable[[Line | None, str], Noise | None] = lambda *_: None,
        **parameters: str,
    ) -> ComparedRows:
        """The rows of a report, those with the same `keys` beside each other. Each figure is compared over
        the days that its clock allows. `lines` makes the rows of the report's data, where they are not its
        own; `made_of` are the data that must have begun, if not events and orders; `ages` are the days
        that figures of the page's own need behind them; `noise` is that of the daily values of a figure of a
        row, or of all rows (None)."""
        row = report.row(parameters.get("dimension", ""))

        def read(answers: Answers, window: Window, within: int | None = None) -> Rows:
            data = answers.data(report, window, form_id, parameters, within=within)
            if lines:
                return lines(data)
            if report.single:
                return [data]
            rows: Rows = data if isinstance(data, list) else data["rows"]
            return rows

        # Hundreds of figures have one of a few names.
        @cache
        def pair_of(*names: str) -> Pair | None:
            if age := ages.get(names[0]):
                return self.comparable.equal_age(*made_of, within=age)
            clocks = {row.clock_of(name, parameters.get("clock", "")) for name in names}
            if TO_DATE in clocks:
                return None
            if SUBMISSION_CLOCK in clocks:
                return self.comparable.equal_age(*made_of)
            # Figures that no order is behind, in rows whose orders follow from submissions.
            is_of_events = clocks == {""} and row.clock == SUBMISSION_CLOCK
            return self.comparable.whole_days(*(made_of or ((EVENTS,) if is_of_events else ())))

        now, others = read(self.answers, self.selection.window), None
        if self.beside:
            others = read(self.beside, self.selection.window)
            now = [*now, *_missing(row, keys, now, others)]
        return ComparedRows(
            now,
            keys,
            pair_of,
            lambda pair: (
                read(self.answers, pair.days, pair.within),
                read(self.beside or self.answers, pair.before, pair.within),
            ),
            noise,
            others,
        )

    def may_see(self, report: Endpoint) -> bool:
        """Whether the member has the permission that the report needs."""
        return not report.member_needs or report.member_needs[0] in self.answers.permissions

    def form(self, form_id: str) -> dict[str, Any] | None:
        """A form of the shop; None where the id is none of them."""
        if not UUID_TEXT.fullmatch(form_id):
            return None
        known = form_names(self.answers.connection, self.shop.key, [form_id])
        form: dict[str, Any] | None = self.data(get_form, form_id) if known else None
        return form

    def csv_address(self, report: Endpoint, form_id: str, parameters: Mapping[str, str]) -> str:
        """The address of an answer as CSV, over the days that are shown."""
        asked = {
            "path": report.path,
            "range": f"{self.selection.first}..{self.selection.last}",
        }
        if form_id:
            asked["form"] = form_id
        if report.filters:
            asked |= self.answers.filters
        return f"{url_for('dashboard.csv')}?{urlencode(asked | dict(parameters))}"

    def orders_address(self, **filters: str) -> str:
        """The address of the orders behind a figure of the order clock; "" for members who may not see
        them, and where no filter can choose them. The filters are those of `GET /v1/orders`; an empty value
        stands for itself, and may be none but of a UTM field. `range` is given for other days. They are
        besides those of the page: there is no address where these name a UTM value, since orders may have one
        of their own."""
        shows_codes = self.may_see(discount_performance)
        if not self.may_see(receipts.orders) or ("discount_id" in filters and not shows_codes):
            return ""
        if not {NONE, OTHER}.isdisjoint(filters.values()):
            return ""
        if any(name in UTM_FILTERS for name in self.answers.filters):
            return ""
        asked = {"range": f"{self.selection.first}..{self.selection.last}"}
        asked |= {**self.answers.filters, **{name: text or NONE for name, text in filters.items()}}
        return f"{url_for('dashboard.orders')}?{urlencode(asked)}"

    @cached_property
    def data_through(self) -> datetime | None:
        """The instant before which everything that was imported is in the figures, in the shop's time."""
        text = self.answers.data_through(self.selection.window)
        return self.local_time(text) if text else None

    @cached_property
    def notes(self) -> Mapping[date, str]:
        """The notes of each shown day that has some, in one text."""
        window = self.selection.window
        found = notes.by_day(self.answers.connection, self.shop.key, window.first, window.last)
        return {day_date(day): text for day, text in found.items()}

    @cached_property
    def state(self) -> ShopState:
        return read_state(self.answers.connection, self.shop.key, self.shop.edition)

    @cached_property
    def rows_to_come(self) -> RowsToCome | None:
        """The rows that wait to be in the figures; None where none do."""
        if not self.state.waiting_since:
            return None
        shop, now = self.shop, self.member.now
        return rows_to_come(self.answers.connection, shop.key, now)

    @property
    def local_now(self) -> datetime:
        return self.local(self.member.now)

    def local(self, instant: int) -> datetime:
        """An instant in the shop's time."""
        return local_time(instant, self.shop.timezone)

    def local_time(self, text: str) -> datetime:
        """An instant of an answer in the shop's time."""
        return datetime.fromisoformat(text).astimezone(zone(self.shop.timezone))

    @property
    def attention(self) -> list[tuple[str, str]]:
        """(place on the Data page, sentence) of each condition."""
        key, now = self.shop.key, self.member.now
        return self.sentences(find_needs(self.answers.connection, now, [key])[key])

    def sentences(self, found: Collection[str]) -> list[tuple[str, str]]:
        """Like `attention`, of the conditions that were found of the shop."""
        refresh_minutes = settings.REFRESH_MINUTES.get()
        names = needs(found, self.state, self.member.now, refresh_minutes)
        return [_ATTENTION[name] for name in names]

    def page(self, template: str, **values: Any) -> "Page":
        return Page(self, template, values)


def _missing(row: Row, keys: tuple[str, ...], now: Rows, others: Rows) -> Rows:
    """The rows that only the other filter has, with zeros."""
    known = {tuple(line[key] for key in keys) for line in now}
    return [
        row.filled([line[name] for name in row.given], defaultdict(int))
        for line in others
        if tuple(line[key] for key in keys) not in known
    ]


@dataclass(frozen=True)
class Page:
    """The content of a page: a template, and `values` for it."""

    view: View
    template: str
    values: Mapping[str, Any]

    def html(self) -> str:
        view, selection = self.view, self.view.selection
        earlier, later = as_many_days(selection, view.answers.today, view.shop.timezone)
        acts = {control for control, pages in _ACTS.items() if self.template in pages}
        form_id = (request.view_args or {}).get("form_id", "").lower()
        filter_choices = []
        if "filters" in acts:
            filter_choices = choices(view.answers, selection.window, form_id)
        return render_template(
            f"dashboard/{self.template}",
            view=view,
            selection=selection,
            currency=view.shop.currency,
            ranges=RANGES,
            comparisons=COMPARISONS,
            clocks=CLOCKS,
            keys=KEYS,
            range_address=range_address,
            earlier=earlier,
            later=later,
            days_to_buy=days_to_buy(view.comparable.window_days),
            attention=view.attention,
            acts=acts,
            chips=chips(selection),
            filter_choices=filter_choices,
            other_values=others(selection.filters, filter_choices),
            has_unused_filters=not selection.filters and any(map(request.args.get, NAMES)),
            **self.values,
        )


def open_view(
    *,
    at_primary: bool = False,
    default_range: Callable[[int], str] | None = None,
    takes_filters: bool = False,
) -> View:
    """The page of the request at hand; `at_primary` if it shows what members write. `default_range` makes the
    days of an address that names none from the shop's day. Raises the 400 for a filter that cannot be."""
    member, shop = read_figures(at_primary=at_primary)
    today, zone, window = local_day(member.now, shop.timezone), shop.timezone, window_days(shop)
    default = {"default_range": default_range(today)} if default_range else {}
    filters = read_filters(request.args) if takes_filters else {}
    permissions = frozenset(member.member.permissions)
    selection = replace(
        select(request.args, today, zone, window, **default),
        filters=filters,
        against=read_against(request.args, filters) if takes_filters else "",
    )
    return View(
        member,
        selection,
        Answers(member.connection, shop, permissions, member.now, today, filters),
        PageChanges(selection.against),
    )
