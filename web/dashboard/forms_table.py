"""The forms of a shop, each with its funnel and revenue: the table on the overview and on the page of all
forms. Revenue is on the clock of the address; its total is the card "Credited to forms"."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from warehouse.domain.hash_ids import text_id
from web.api.forms import submissions_by_day
from web.dashboard.compare import ComparedRow, ComparedRows
from web.dashboard.daily_noise import daily_noise, summary
from web.dashboard.page import View
from web.dashboard.table import Column, Filters, Sum, columns_of, credited
from web.http.parameters import ORDER_CLOCK, SUBMISSION_CLOCK
from web.reports.revenue_by_form import ROW, revenue_by_form

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
