"""`/forms`: all forms of the shop, and two of them side by side. The table of forms, each with its funnel and
revenue, stands on the overview too. Revenue is on the clock of the address; its total is the card "Credited
to forms"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from flask import request

from warehouse.domain.hash_ids import text_id
from web.api.forms import list_forms, submissions_by_day
from web.dashboard import formatting, statistics
from web.dashboard.charts.bars import reaches
from web.dashboard.compare import ComparedRow, ComparedRows, number
from web.dashboard.daily_noise import daily_noise, summary
from web.dashboard.page import Page, View
from web.dashboard.statistics import FEW
from web.dashboard.table import Column, Filters, Sum, Table, columns_of, credited
from web.http.parameters import ORDER_CLOCK, SUBMISSION_CLOCK, quoted
from web.reports.form_analytics import FUNNEL_ROW, form_funnel
from web.reports.revenue_by_form import ROW, revenue_by_form

# Forms of one page of the list, and of the lists to choose two of.
_PAGE: Final = 50
_CHOICES: Final = 100
_rate = partial(columns_of(FUNNEL_ROW), compared=True)
_UPDATED: Final = Column(
    "updated",
    "Changed",
    "drawn",
    text=lambda row: f"{row['updated'] or ''}",
    key=lambda row: row["updated"],
    deep=True,
)
_column = columns_of(ROW)
# The attributes of a row's element.
MARKS: Final = {"form": "formId"}


def form_columns(view: View) -> list[Column]:
    return [
        _column("formName", "Form", unit="drawn", sort="name"),
        _column(
            "netRevenueCents",
            "Credited to forms",
            compared=True,
            main=True,
            sort="revenue",
            bar=0,
        ),
        _column("views"),
        _column("submissions", "Submissions", deep=True),
        _column("submissionRate", "Submitted", compared=True, sort="rate"),
        _column("conversionRate", "Bought", compared=True, sort="bought"),
        _column(
            "revenuePerSubmissionCents",
            f"per sign-up in {view.comparable.horizon}",
            compared=True,
            figure=lambda row: row["signUps"].quotient("netRevenueCents", "submissions").alone(),
            sort="each",
        ),
        Column("submissionsByDay", "by day", unit="drawn", sort=None, deep=True),
    ]


@dataclass(frozen=True)
class ShopForms:
    """The forms with any figure in these days, on the clock of the page, and in `sign_ups` those with what
    followed from the submissions of these days. `total` is that of all forms."""

    rows: ComparedRows
    sign_ups: ComparedRows
    by_day: Mapping[str, list[int]]
    clock: str

    @property
    def total(self) -> ComparedRow:
        return self.rows.total(ROW.total).plus(signUps=self.sign_ups.total(ROW.total))

    @property
    def names(self) -> dict[str, str]:
        """The names of the forms on the shop's list, by their id."""
        return {row["formId"]: row["formName"] for row in self.rows.now if row["formName"]}

    @property
    def all_names(self) -> dict[str, str]:
        """`names`, and those of forms that only events know."""
        return {
            row["formId"]: f"form {row['formId'][:6]}…, not named" for row in self.rows.now
        } | self.names

    def with_names(self, names: Mapping[str, str]) -> list[ComparedRow]:
        """The forms with these names by their id, in this order. A form without events has only zeros."""
        by_id = {row["formId"]: row for row in self.rows.now}
        sign_ups = {row["formId"]: row for row in self.sign_ups.now}
        return [
            self.rows.row({**by_id.get(form_id, {}), "formId": form_id}).plus(
                formName=name,
                isListed=form_id not in self.unlisted,
                submissionsByDay=self.by_day.get(form_id, []),
                signUps=self.sign_ups.row(sign_ups.get(form_id, {"formId": form_id})),
            )
            for form_id, name in names.items()
        ]

    @property
    def unlisted(self) -> set[str]:
        """The ids of the forms that only events know."""
        return {row["formId"] for row in self.rows.now if row["formName"] is None}

    def orders_of(self, row: ComparedRow, _: Column) -> list[Filters]:
        """The orders that the figures of a form are made of."""
        return [{"form_id": row["formId"]}] if self.clock == ORDER_CLOCK else []

    @property
    def all_orders(self) -> list[Filters]:
        """The orders of all forms."""
        return credited() if self.clock == ORDER_CLOCK else []

    @property
    def sums(self) -> list[Sum]:
        """The lines below the table: it adds up to the card."""
        sums = [Sum("All forms", self.total, orders=self.all_orders)]
        if self.clock == ORDER_CLOCK:
            parts = [row["fromEarlierSubmissions"] for row in self.rows.now]
            earlier = sum(part["netRevenueCents"] for part in parts if part)
            line = ComparedRow({"netRevenueCents": earlier})
            sums.append(Sum("of it from sign-ups before these days", line, key="earlier"))
        return sums


def shop_forms(view: View) -> ShopForms:
    clock = view.selection.clock
    noise = daily_noise(
        view,
        ROW,
        [summary(revenue_by_form, name, "form") for name in ("funnel", "form_orders")],
        lambda row: text_id(row["formId"]),
    )

    def rows(clock: str) -> ComparedRows:
        # Without the orders that no form brought.
        return view.compared(
            *(revenue_by_form, "formId"),
            lines=lambda data: [row for row in data if row["formId"]],
            noise=noise,
            clock=clock,
        )

    return ShopForms(
        rows(clock),
        rows(SUBMISSION_CLOCK),
        {row["formId"]: row["submissionsByDay"] for row in view.data(submissions_by_day)},
        clock,
    )


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
        forms=Table(
            view,
            "forms",
            [*form_columns(view), _UPDATED],
            matching,
            "-revenue",
            marks=MARKS,
            sums=of_shop.sums,
            orders=of_shop.orders_of,
            is_exact=False,
            empty=empty,
            first=list_page["first"] - 1,
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
    known = {row["id"]: row for row in view.answers.whole_list(list_forms, view.selection.window)}
    names = {form_id: row["name"] for form_id, row in known.items()}
    listed = []
    for row in of_shop.with_names(of_shop.all_names | names):
        status, updated = "", None
        if form := known.get(row["formId"]):
            status = form["status"]
            updated = view.local_time(form["updatedAt"]).date()
        listed.append(row.plus(status=status, updated=updated))
    return sorted(listed, key=lambda row: -row.now.get("views", 0))


def _list_page(rows: int) -> dict[str, Any]:
    """The page of the list that the address names, else the first: `number` of `pages`, with the rows from
    `first` to `last` of `all`, from 1. `problem` says what could not be read."""
    text, pages, problem = request.args.get("page", "1"), max(1, -(-rows // _PAGE)), ""
    numbers = {str(number): number for number in range(1, pages + 1)}
    if text not in numbers:
        problem = f"There is no page {quoted(text)} of this list. Choose one from 1 to {pages}."
    number = numbers.get(text, 1)
    first, last = (number - 1) * _PAGE + 1, min(number * _PAGE, rows)
    shown = {"number": number, "pages": pages, "first": first, "last": last, "all": rows}
    return shown | {"problem": problem}


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
    """The figures in which two forms are compared. Orders of their submissions are compared at equal age:
    one may have won its own last week."""
    ids = [form["formId"] for form in pair]
    funnels = [ComparedRow(view.data(form_funnel, form_id)) for form_id in ids]
    aged = [ComparedRow({}), ComparedRow({})]
    old_enough, horizon = view.comparable.old_enough(), ""
    if old_enough:
        window, within = old_enough
        read, horizon = view.answers.data, formatting.counted(within, "day")
        aged = [ComparedRow(read(form_funnel, window, each, within=within)) for each in ids]
    rates = (
        ("startRate", "Started, of those who saw it"),
        ("submissionRate", "Submitted, of those who saw it"),
        ("conversionRate", f"Bought{horizon and f' in {horizon}'}, of those who submitted"),
    )
    compared: list[dict[str, Any]] = []
    for name, label in rates:
        rate, both = _rate(name, label), aged if form_funnel.row().clock_of(name) else funnels
        counts = [rate.value(form).now for form in both]
        row: dict[str, Any] = {
            "label": label,
            "is_aged": both is aged,
            "counts": counts,
            "cells": [rate.cell(view, form) for form in both],
        }
        if all(trials for _, trials in counts):
            interval = statistics.of_difference(*counts[0], *counts[1])
            one, other = map(number, counts)
            row |= {"interval": interval, "difference": round(one - other, 2)}
            row["is_few"] = min(trials for _, trials in counts) < FEW
            if not interval.has_zero:
                row["winner"] = pair[0 if interval.low > 0 else 1]
        compared.append(row)
    known = [row for row in compared if "interval" in row]
    reached = reaches([(row["difference"] / 100, row["interval"]) for row in known])
    for row, reach in zip(known, reached, strict=True):
        row["reach"] = reach
    per_submission = _rate("revenuePerSubmissionCents")
    return {
        "compared": compared,
        "horizon": horizon,
        "per_submission": [per_submission.cell(view, form) for form in aged],
    }
