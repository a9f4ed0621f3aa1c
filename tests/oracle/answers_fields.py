"""Answers about what was answered: contract section 4, endpoints 11 and 12."""

from fractions import Fraction
from itertools import product
from typing import Any

from tests.oracle.sessions import Session
from tests.oracle.state import Question, State
from tests.oracle.values import cents, divide, money, rate, square_root

Cells = dict[tuple[str, str], list[Session]]


def values(session: Session, field: str) -> tuple[str, ...]:
    """The values of an aggregatable answer of a session; empty without one."""
    answer = session.answers.get(field)
    return answer.values or () if answer else ()


def cross_field(state: State, question: Question) -> Any:
    """11: "for submissions in the range that answered both fields"; "Several choices: each
    counts; the margins are sums of the table's own cells"; "At most the first 1,000 cells are
    returned (figures over the whole table). Order: count descending, valueA, valueB." """
    field_a, field_b = question.params["fieldA"], question.params["fieldB"]
    cells: Cells = {}
    for session in state.submitted(state.of_form(question.form_id), question):
        for pair in product(values(session, field_a), values(session, field_b)):
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


def response_revenue(state: State, question: Question) -> Any:
    """12: "per field and value, and a row with `value: null` for submissions without an answer to
    that field"; "Fields: those that submissions in the range answered with an aggregatable type.
    Order: fieldId, netRevenueCents descending, value (null last)." """
    submissions = state.submitted(state.of_form(question.form_id), question)
    rows = []
    for field in {name for s in submissions for name in s.answers if values(s, name)}:
        with_value: dict[str | None, list[Session]] = {}
        for session in submissions:
            for given in values(session, field):
                with_value.setdefault(given, []).append(session)
        unanswered = [session for session in submissions if field not in session.answers]
        if unanswered:
            with_value[None] = unanswered
        has_list = any(s.answers[field].is_list for s in submissions if field in s.answers)
        for value, sessions in with_value.items():
            converted = len(state.converted(sessions))
            revenue = money(state.outcome(sessions))
            rows.append(
                {
                    "fieldId": field,
                    "value": value,
                    "submissions": len(sessions),
                    "convertedSubmissions": converted,
                    **revenue,
                    "conversionRate": rate(converted, len(sessions)),
                    "revenuePerSubmissionCents": cents(revenue["netRevenueCents"], len(sessions)),
                    "averageOrderValueCents": cents(
                        revenue["grossRevenueCents"], revenue["orders"]
                    ),
                    "multiSelect": has_list,
                }
            )
    return sorted(rows, key=_order)


def _order(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["fieldId"], -row["netRevenueCents"], row["value"] is None, row["value"] or ""
