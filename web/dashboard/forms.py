"""`/forms`: all forms of the shop, and two of them side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import request

from web.dashboard import statistics
from web.dashboard.charts.intervals import Reach, reaches
from web.dashboard.comparison import Rate
from web.dashboard.page import View
from web.dashboard.shop_forms import COLUMNS, FormLine, form_lines
from web.dashboard.sorting import sorted_table
from web.dashboard.statistics import Interval
from web.http.parameters import quoted

# Forms of one page of the list, and of the lists to choose two of.
_PAGE: Final = 50
_CHOICES: Final = 100
# The rates in which two forms are compared: name, hits, trials.
_RATES: Final = (
    ("Started, of those who saw it", "starts", "views"),
    ("Submitted, of those who saw it", "submissions", "views"),
    ("Bought, of those who submitted", "convertedSubmissions", "submissions"),
)


@dataclass(frozen=True)
class ListedForm(FormLine):
    """A form of the list. `updated` is the shop's day on which it last changed."""

    status: str
    updated: date


_COLUMNS: Final[dict[str, Callable[[Any], Any]]] = {
    **COLUMNS,
    "updated": lambda line: line.updated,
}


@dataclass(frozen=True)
class ListPage:
    """Page `number` of `pages`; `first` is the place of its first row in the list, from 1. `problem` says
    what could not be read."""

    number: int
    pages: int
    first: int
    rows: list[ListedForm]
    problem: str


@dataclass(frozen=True)
class Comparison:
    """A rate of two forms; `interval` is that of their difference, None where one has no trials."""

    name: str
    rates: tuple[Rate, Rate]
    interval: Interval | None

    @property
    def difference(self) -> float:
        """In points."""
        return round(self.rates[0].value - self.rates[1].value, 2)

    @property
    def winner(self) -> int | None:
        """The place of the form whose rate is higher beyond chance."""
        if self.interval is None or self.interval.has_zero:
            return None
        return 0 if self.interval.low > 0 else 1


def forms(view: View) -> str:
    listed = _listed(view)
    statuses = sorted({line.status for line in listed if line.status}, key=str.casefold)
    search, status = request.args.get("q", "").strip(), request.args.get("status", "")
    status_problem = ""
    if status and status not in statuses:
        status_problem = f"No form has the status {quoted(status)}. Choose one of the list."
        status = ""
    found = [
        line
        for line in listed
        if search.casefold() in line.name.casefold() and status in ("", line.status)
    ]
    table = sorted_table("forms", found, _COLUMNS, "-views")
    list_page = _list_page(table.rows)
    return view.render(
        "forms.html",
        listed=listed,
        statuses=statuses,
        search=search,
        status=status,
        status_problem=status_problem,
        forms=table,
        list_page=list_page,
        shown=list_page.rows,
        unknown=[row for row in view.data("/forms/funnel") if row["formName"] is None],
        **_pair(listed, found),
    )


def _listed(view: View) -> list[ListedForm]:
    """All forms of the shop, most views first."""
    zone = ZoneInfo(view.shop.timezone)
    rows = {row["id"]: row for row in view.answers.whole_list("/forms", view.selection.window)}
    lines = form_lines(view, {form_id: row["name"] for form_id, row in rows.items()})
    listed = [
        ListedForm(
            **vars(line),
            status=rows[line.form_id]["status"],
            updated=datetime.fromisoformat(rows[line.form_id]["updatedAt"]).astimezone(zone).date(),
        )
        for line in lines
    ]
    return sorted(listed, key=lambda line: -line.views.now)


def _list_page(rows: list[ListedForm]) -> ListPage:
    """The page of the list that the address names, else the first."""
    text, pages, problem = request.args.get("page", "1"), max(1, -(-len(rows) // _PAGE)), ""
    numbers = {str(number): number for number in range(1, pages + 1)}
    if text not in numbers:
        problem = f"There is no page {quoted(text)} of this list. Choose one from 1 to {pages}."
    number = numbers.get(text, 1)
    first = (number - 1) * _PAGE
    return ListPage(number, pages, first + 1, rows[first : first + _PAGE], problem)


def _pair(listed: Sequence[ListedForm], found: Sequence[ListedForm]) -> dict[str, Any]:
    """The two forms that the address names, else the two with most views, and their comparison."""
    by_id = {line.form_id: line for line in listed}
    asked = [request.args.get(name, "") for name in ("one", "other")]
    pair = [by_id[form_id] for form_id in asked if form_id in by_id]
    problem = ""
    if not any(asked):
        pair = [line for line in listed[:2] if line.views.now]
    elif len(pair) < 2:
        problem = "One of these forms is not in the shop's list. Choose two of the list."
    elif asked[0] == asked[1]:
        problem = "These are the same form. Choose two different ones."
    compared = [] if problem or len(pair) < 2 else _compared(*pair)
    choices = {line.form_id: line for line in [*found[:_CHOICES], *pair]}
    return {
        "choices": sorted(choices.values(), key=lambda line: line.name.casefold()),
        "has_more_choices": len(found) > _CHOICES,
        "pair": pair,
        "pair_problem": problem,
        "compared": list(zip(compared, _reaches(compared), strict=True)),
    }


def _compared(one: FormLine, other: FormLine) -> list[Comparison]:
    compared = []
    for name, hits, trials in _RATES:
        rates = one.rate(hits, trials), other.rate(hits, trials)
        interval = None
        if all(rate.trials for rate in rates):
            counts = (count for rate in rates for count in (rate.hits, rate.trials))
            interval = statistics.of_difference(*counts)
        compared.append(Comparison(name, rates, interval))
    return compared


def _reaches(compared: Sequence[Comparison]) -> list[Reach | None]:
    known = [(row.difference / 100, row.interval) for row in compared if row.interval]
    drawn = iter(reaches(known))
    return [next(drawn) if row.interval else None for row in compared]
