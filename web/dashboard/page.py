"""START HERE: the parts of every page: the member's shop, the days of its address, answers for both.

Everything is in the address, so that a page can be sent, kept and printed. A page is a GET: nothing on it
changes anything. All of it is from one snapshot: the one in which the member was found, or, for figures and
where there is one, one of the read replica.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from flask import render_template, request, url_for

from warehouse import settings
from warehouse.domain.time import from_micros, local_day
from warehouse.operations import shop_state
from warehouse.operations.shop_state import ShopState, needs, read_state
from web.api.endpoint import Endpoint
from web.api.forms import get_form
from web.api.forms_table import form_names
from web.dashboard.answers import Answers
from web.dashboard.selection import COMPARISONS, RANGES, Selection, day_links, select
from web.http.current_request import Shop
from web.http.date_range import parse_range
from web.http.parameters import UUID_TEXT
from web.pages.page_request import MemberRequest, read_figures

# The sentence on what needs a person, by the name of the condition, which is also its place on the Data page.
_ATTENTION: Final = {
    shop_state.SET_ASIDE: "Some imports fail and are in no figure.",
    shop_state.DIFFERENCES: "Some figures differ from the imported rows.",
    shop_state.NO_REFRESH: "The figures are not refreshed any more.",
    shop_state.BACKLOG: "Imported rows have waited too long to be in the figures.",
    shop_state.REJECTS: "Some rows could not be imported.",
    shop_state.PULLS: "Some data are not pulled any more.",
}


@dataclass(frozen=True)
class View:
    """One page of one member: `data()` over the days that are shown, `before()` over those that they are
    compared with."""

    member: MemberRequest
    shop: Shop
    selection: Selection
    answers: Answers

    def data(self, report: Endpoint, form_id: str = "", **parameters: str) -> Any:
        """`data` of a report (a function of `web/reports/`). Raises NotAllowed where the member lacks the
        permission that the report needs."""
        return self.answers.data(report, self.selection.window, form_id, **parameters)

    def before(self, report: Endpoint, form_id: str = "", **parameters: str) -> Any:
        """None where nothing is compared."""
        if self.selection.before is None:
            return None
        return self.answers.data(report, self.selection.before, form_id, **parameters)

    def may_see(self, report: Endpoint) -> bool:
        """Whether the member has the permission that the report needs."""
        return not report.member_needs or report.member_needs[0] in self.answers.permissions

    def on(self, report: Endpoint, day: str, form_id: str = "", **parameters: str) -> Any:
        """The same on one day (`2026-01-31`)."""
        window = parse_range(day, self.answers.today, self.shop.timezone)
        return self.answers.data(report, window, form_id, **parameters)

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
        return f"{url_for('dashboard.csv')}?{urlencode(asked | dict(parameters))}"

    @cached_property
    def data_through(self) -> datetime | None:
        """In the shop's time."""
        text = self.answers.data_through(self.selection.window)
        return (
            datetime.fromisoformat(text).astimezone(ZoneInfo(self.shop.timezone)) if text else None
        )

    @cached_property
    def state(self) -> ShopState:
        return read_state(self.answers.connection, self.shop.key, self.shop.edition)

    @property
    def local_now(self) -> datetime:
        return self.local(self.member.now)

    def local(self, instant: int) -> datetime:
        """An instant in the shop's time."""
        return from_micros(instant).astimezone(ZoneInfo(self.shop.timezone))

    @property
    def note(self) -> str:
        """Says which former figures stand below those of the days that are shown; "" where none do."""
        if self.selection.before is None:
            return ""
        return f"Below a figure: {COMPARISONS[self.selection.compare]}, and the change."

    def _attention(self) -> list[tuple[str, str]]:
        """(place on the Data page, sentence) of each condition."""
        names = needs(self.state, self.member.now, settings.REFRESH_MINUTES.get())
        return [(name, _ATTENTION[name]) for name in names]

    def render(self, template: str, **values: Any) -> str:
        return render_template(
            f"dashboard/{template}",
            view=self,
            selection=self.selection,
            currency=self.shop.currency,
            ranges=RANGES,
            comparisons=COMPARISONS,
            links=day_links(self.selection, self.answers.today, self.shop.timezone),
            attention=self._attention(),
            **values,
        )


def open_view(*, at_primary: bool = False) -> View:
    """The page of the request at hand; `at_primary` if it shows what members write."""
    member, shop = read_figures(at_primary=at_primary)
    today = local_day(member.now, shop.timezone)
    return View(
        member=member,
        shop=shop,
        selection=select(request.args, today, shop.timezone),
        answers=Answers(
            member.connection, shop, frozenset(member.member.permissions), member.now, today
        ),
    )
