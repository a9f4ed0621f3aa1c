"""Answers about what was answered: contract section 4, endpoints 11 and 12."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from tests.support.oracle.row_limit import OTHER, Limited
from tests.support.oracle.sessions import Session
from tests.support.oracle.state import Question, State, answers
from tests.support.oracle.values import cents, divide, money, rate, square_root

Cells = dict[tuple[str, str], list[Session]]


def values(session: Session, field: str) -> tuple[str, ...]:
    """The values of an aggregatable answer of a session; empty without one."""
    answer = session.answers.get(field)
    return answer.values or () if answer else ()


def paired(session: Session) -> dict[str, tuple[str, ...]]:
    """11: "of a session only the first 20 questions with such answers count, of an answer its first 20
    values, and of all these the first 100: in the order of the field ids, then of the values, by code
    point"."""
    fields = [field for field in sorted(session.answers) if values(session, field)][:20]
    choices = [(field, value) for field in fields for value in sorted(values(session, field))[:20]]
    return {
        field: tuple(value for other, value in choices[:100] if other == field) for field in fields
    }


@answers("/v1/forms/{id}/cross-field")
def cross_field(state: State, question: Question) -> Any:
    """11: "for submissions in the range that answered both fields"; "Several choices: each
    counts; the margins are sums of the table's own cells"; "At most the first 1,000 cells are
    returned (figures over the whole table). Order: count descending, valueA, valueB." """
    field_a, field_b = question.params["fieldA"], question.params["fieldB"]
    cells: Cells = {}
    for session in state.submitted(state.of_form(question.form_id), question):
        choices = paired(session)
        for pair in product(choices.get(field_a, ()), choices.get(field_b, ())):
            cells.setdefault(pair, []).append(session)
    of_a: dict[str, int] = {}
    of_b: dict[str, int] = {}
    for (a, b), sessions in cells.items():
        of_a[a] = of_a.get(a, 0) + len(sessions)
        of_b[b] = of_b.get(b, 0) + len(sessions)
    total = sum(of_a.values())
    v = cramers_v(cells, of_a, of_b)
    rows: list[dict[str, Any]] = []
    for (value_a, value_b), sessions in cells.items():
        count, converted = len(sessions), len(state.converted(sessions))
        rows.append(
            {
                "valueA": value_a,
                "valueB": value_b,
                "count": count,
                "expectedCount": divide(of_a[value_a] * of_b[value_b], total, 4),
                "lift": divide(count * total, of_a[value_a] * of_b[value_b], 4),
                "rowPercent": rate(count, of_a[value_a]),
                "columnPercent": rate(count, of_b[value_b]),
                "totalPercent": rate(count, total),
                "convertedSubmissions": converted,
                "conversionRate": rate(converted, count),
                "cramersV": v,
            }
        )
    rows.sort(key=lambda row: (-row["count"], row["valueA"], row["valueB"]))
    return rows[:1000]


def cramers_v(cells: Cells, of_a: dict[str, int], of_b: dict[str, int]) -> float:
    """Section 4: "of the whole table ...; 0 where it is undefined; no bias correction; rounded
    to 4": the root of chi squared / (N x (the smaller of rows and columns - 1))."""
    total = sum(of_a.values())
    freedom = min(len(of_a), len(of_b)) - 1
    if freedom < 1:
        return 0.0
    chi_squared = Fraction(0)
    for a, b in product(of_a, of_b):
        expected = Fraction(of_a[a] * of_b[b], total)
        chi_squared += (len(cells.get((a, b), [])) - expected) ** 2 / expected
    return square_root(chi_squared / (total * freedom), 4)


@dataclass(frozen=True)
class Answered:
    """A row of response revenue: what it is about, its submissions, and how many rows it sums."""

    field: str
    value: str | None
    sessions: list[Session]
    has_list: bool
    sums: int = 0


@answers("/v1/forms/{id}/response-revenue")
def response_revenue(state: State, question: Question) -> Limited:
    """12: "per field and value, and a row with `value: null` for submissions without an answer to
    that field"; "Fields: those that submissions in the range answered with an aggregatable type.
    Order: fieldId, netRevenueCents descending, value (null last)." """
    submissions = state.submitted(state.of_form(question.form_id), question)
    rows: list[Answered] = []
    for field in sorted({name for s in submissions for name in s.answers if values(s, name)}):
        rows += of_field(state, question, submissions, field)
    first, others = rows[: question.limits.rows], rows[question.limits.rows :]
    if others:
        has_list = any(row.has_list for row in others)
        first.append(summed(OTHER, others, has_list))
    data = [response_row(state, row) for row in first]
    return Limited(data, sum(row.sums for row in first))


def of_field(
    state: State, question: Question, submissions: list[Session], field: str
) -> list[Answered]:
    """The rows of a field: "1,000 values per field: the others, in that order, are summed in one
    more row, before a `value: null`"."""
    with_value: dict[str, list[Session]] = {}
    for session in submissions:
        for given in values(session, field):
            with_value.setdefault(given, []).append(session)
    has_list = any(s.answers[field].is_list for s in submissions if field in s.answers)
    rows = [Answered(field, value, sessions, has_list) for value, sessions in with_value.items()]
    rows.sort(key=lambda row: (-net(state, row), row.value))
    unanswered = [session for session in submissions if field not in session.answers]
    null = [Answered(field, None, unanswered, has_list)] if unanswered else []
    first, others = rows[: question.limits.values], rows[question.limits.values :]
    if others:
        return [*first, summed(field, others, has_list), *null]
    return sorted(rows + null, key=lambda row: (-net(state, row), row.value is None, row.value))


def summed(field: str, rows: list[Answered], has_list: bool) -> Answered:
    """One row for several: all their submissions, as often as they are in them."""
    sessions = [session for row in rows for session in row.sessions]
    return Answered(field, OTHER, sessions, has_list, sum(row.sums or 1 for row in rows))


def net(state: State, row: Answered) -> int:
    return money(state.outcome(row.sessions))["netRevenueCents"]


def response_row(state: State, row: Answered) -> dict[str, Any]:
    submissions, converted = len(row.sessions), len(state.converted(row.sessions))
    revenue = money(state.outcome(row.sessions))
    return {
        "fieldId": row.field,
        "value": row.value,
        "submissions": submissions,
        "convertedSubmissions": converted,
        **revenue,
        "conversionRate": rate(converted, submissions),
        "revenuePerSubmissionCents": cents(revenue["netRevenueCents"], submissions),
        "averageOrderValueCents": cents(revenue["grossRevenueCents"], revenue["orders"]),
        "multiSelect": row.has_list,
    }
