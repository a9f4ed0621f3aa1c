"""The answers to the questions of a form, and the orders that followed from each."""

from dataclasses import dataclass
from typing import Any

from web.dashboard.compared_rows import ComparedRow, compared_rows
from web.dashboard.comparison import Amount, Rate
from web.dashboard.page import View
from web.dashboard.sorting import sorted_table


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """An answer to a question; None stands for submissions without one. `per_submission` is net revenue in
    minor units, None without submissions."""

    question: str
    value: str | None
    submissions: int
    conversion: Rate
    net: int
    per_submission: Amount | None


def answers(view: View, form_id: str) -> dict[str, Any]:
    """`answers` as a table that the address sorts; `best_answer` is the most revenue per submission of its
    rows, in minor units, for their bars."""
    rows = compared_rows(view, "/forms/{id}/response-revenue", form_id, "fieldId", "value")
    table = sorted_table(
        "answers",
        [_answer(row) for row in rows],
        {
            "question": lambda answer: answer.question,
            "answer": lambda answer: answer.value,
            "submissions": lambda answer: answer.submissions,
            "bought": lambda answer: answer.conversion.value if answer.submissions else None,
            "net": lambda answer: answer.net,
            "per": lambda answer: answer.per_submission and answer.per_submission.now,
        },
        "question",
    )
    return {
        "answers": table,
        "best_answer": max(
            (answer.per_submission.now for answer in table.rows if answer.per_submission),
            default=0,
        ),
        "has_several_choices": any(row.row["multiSelect"] for row in rows),
    }


def _answer(figures: ComparedRow) -> AnswerLine:
    row, before = figures.row, figures.before
    per = "revenuePerSubmissionCents"
    return AnswerLine(
        question=row["fieldId"],
        value=row["value"],
        submissions=row["submissions"],
        conversion=figures.rate("convertedSubmissions", "submissions"),
        net=row["netRevenueCents"],
        per_submission=(
            # Without submissions before there is no revenue of one.
            Amount(row[per], before[per] if before and before["submissions"] else None)
            if row["submissions"]
            else None
        ),
    )
