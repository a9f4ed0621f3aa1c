"""`/forms`: all forms of the shop, and two of them side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from flask import request

from warehouse.domain.zones import zone
from web.api.forms import list_forms
from web.dashboard import statistics
from web.dashboard.changes import Cell
from web.dashboard.charts.bars import reaches
from web.dashboard.compare import ComparedRow, Rate
from web.dashboard.forms_table import COLUMNS, MARKS, ShopForms, share_bars, shop_forms
from web.dashboard.page import Page, View
from web.dashboard.statistics import Interval
from web.dashboard.table import Column, table
from web.http.parameters import quoted
from web.reports.form_analytics import form_funnel

# Forms of one page of the list, and of the lists to choose two of.
_PAGE: Final = 50
_CHOICES: Final = 100
# The rates in which two forms are compared: its name in answers, name, hits, trials.
_RATES: Final = (
    ("startRate", "Started, of those who saw it", "starts", "views"),
    ("submissionRate", "Submitted, of those who saw it", "submissions", "views"),
    ("conversionRate", "Bought, of those who submitted", "convertedSubmissions", "submissions"),
)
_COLUMNS: Final = (
    *COLUMNS,
    Column(
        "updated",
        "Changed",
        "drawn",
        text=lambda row: f"{row['updated'] or ''}",
        key=lambda row: row["updated"],
        deep=True,
    ),
)


@dataclass(frozen=True)
class ListPage:
    """Page `number` of `pages`, with the rows from `first` to `last` of `all`, from 1. `problem` says what
    could not be read."""

    number: int
    pages: int
    first: int
    last: int
    all: int
    problem: str


@dataclass(frozen=True)
class TwoRates:
    """A rate of two forms, with its name in answers and its `cells`; `interval` is that of their difference,
    None where one has no trials; `reach` is drawn of it."""

    name: str
    rates: tuple[Rate, Rate]
    cells: list[Cell]
    interval: Interval | None
    reach: tuple[float, float, float] | None = None

    @property
    def difference(self) -> float:
        """In points."""
        return round((self.rates[0].now or 0) - (self.rates[1].now or 0), 2)

    @property
    def winner(self) -> int | None:
        """The place of the form whose rate is higher beyond chance."""
        if self.interval is None or self.interval.has_zero:
            return None
        return 0 if self.interval.low > 0 else 1


def forms(view: View) -> Page:
    of_shop = shop_forms(view)
    listed = _listed(view, of_shop)
    statuses = sorted({form["status"] for form in listed if form["status"]}, key=str.casefold)
    search, status = request.args.get("q", "").strip(), request.args.get("status", "")
    status_problem = ""
    if status and status not in statuses:
        status_problem = f"No form has the status {quoted(status)}. Choose one of the list."
        status = ""
    matching = [
        form
        for form in listed
        if search.casefold() in f"{form['formName']} {form['formId']}".casefold()
        and status in ("", form["status"])
    ]
    empty = (
        "No form of the shop matches this search."
        if listed
        else "The shop has no forms yet. Set up has a line for your pages that finds them; or import them."
    )
    list_page = _list_page(len(matching))
    return view.page(
        "forms.html",
        statuses=statuses,
        search=search,
        status=status,
        status_problem=status_problem,
        forms=table(
            view,
            "forms",
            _COLUMNS,
            share_bars(matching),
            "-revenue",
            marks=MARKS,
            sums=of_shop.sums,
            orders=of_shop.orders_of,
            is_exact=False,
            empty=empty,
            first=list_page.first - 1,
            most=_PAGE,
            noun="",
        ),
        list_page=list_page,
        has_unlisted=any(not form["isListed"] for form in listed),
        **_pair(
            view,
            *([form for form in some if form["isListed"]] for some in (listed, matching)),
        ),
    )


def _listed(view: View, of_shop: ShopForms) -> list[ComparedRow]:
    """All forms of the shop, most views first, each with its status and the shop's day on which it last
    changed; and those that only events of these days know."""
    rules = zone(view.shop.timezone)
    known = {row["id"]: row for row in view.answers.whole_list(list_forms, view.selection.window)}
    names = {form_id: row["name"] for form_id, row in known.items()}
    listed = []
    for row in of_shop.with_names(of_shop.all_names | names):
        status, updated = "", None
        if form := known.get(row["formId"]):
            status = form["status"]
            updated = datetime.fromisoformat(form["updatedAt"]).astimezone(rules).date()
        listed.append(row.plus(status=status, updated=updated))
    return sorted(listed, key=lambda row: -row.now.get("views", 0))


def _list_page(rows: int) -> ListPage:
    """The page of the list that the address names, else the first."""
    text, pages, problem = request.args.get("page", "1"), max(1, -(-rows // _PAGE)), ""
    numbers = {str(number): number for number in range(1, pages + 1)}
    if text not in numbers:
        problem = f"There is no page {quoted(text)} of this list. Choose one from 1 to {pages}."
    number = numbers.get(text, 1)
    return ListPage(
        number, pages, (number - 1) * _PAGE + 1, min(number * _PAGE, rows), rows, problem
    )


def _pair(
    view: View, listed: Sequence[ComparedRow], matching: Sequence[ComparedRow]
) -> dict[str, Any]:
    """The two forms that the address names, else the two with most views, and their comparison."""
    by_id = {form["formId"]: form for form in listed}
    asked = [request.args.get(name, "") for name in ("one", "other")]
    pair = [by_id[form_id] for form_id in asked if form_id in by_id]
    problem = ""
    if not any(asked):
        pair = [form for form in listed[:2] if form.now.get("views")]
    elif len(pair) < 2:
        problem = "One of these forms is not in the shop's list. Choose two of the list."
    elif asked[0] == asked[1]:
        problem = "These are the same form. Choose two different ones."
    choices = {form["formId"]: form for form in [*matching[:_CHOICES], *pair]}
    return {
        "choices": sorted(choices.values(), key=lambda form: form["formName"].casefold()),
        "has_more_choices": len(matching) > _CHOICES,
        "pair": pair,
        "pair_problem": problem,
        **(_compared(view, pair) if len(pair) == 2 and not problem else {}),
    }


def _compared(view: View, pair: Sequence[ComparedRow]) -> dict[str, Any]:
    """What two forms are compared in. What their submissions bought is compared at equal age: one may have
    won its own last week."""
    ids = [form["formId"] for form in pair]
    funnels = [ComparedRow(view.data(form_funnel, form_id)) for form_id in ids]
    aged = [ComparedRow({}), ComparedRow({})]
    old_enough = view.comparable.old_enough()
    if old_enough:
        window, within = old_enough
        read = view.answers.data
        aged = [ComparedRow(read(form_funnel, window, each, within=within)) for each in ids]
    compared, cell = [], view.changes.cell
    for figure, name, hits, trials in _RATES:
        one, other = aged if form_funnel.row().clock_of(figure) else funnels
        rates = one.rate(hits, trials), other.rate(hits, trials)
        interval = None
        if all(rate.trials for rate in rates):
            counts = (count for rate in rates for count in (rate.hits, rate.trials))
            interval = statistics.of_difference(*counts)
        cells = [cell(rate, "percent", name=figure) for rate in rates]
        compared.append(TwoRates(name, rates, cells, interval))
    known = [(row.difference / 100, row.interval) for row in compared if row.interval]
    drawn = iter(reaches(known))
    return {
        "compared": [replace(row, reach=next(drawn)) if row.interval else row for row in compared],
        "aged": aged,
        "old_enough": old_enough,
        "per_submission": [
            cell(
                form.quotient("netRevenueCents", "submissions"),
                "money",
                view.shop.currency,
                "no submissions",
                name="revenuePerSubmissionCents",
            )
            for form in aged
        ],
    }
