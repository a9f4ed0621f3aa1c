"""Answers: cross-field (11) and response revenue (12)."""

from typing import Any

from tests.support.stage import A, Stage, pick

REVENUE = f"/v1/forms/{A}/response-revenue"


def submit(stage: Stage, session: str, **answers: Any) -> None:
    for field, value in answers.items():
        kind = "multi_choice" if isinstance(value, list) else "choice"
        stage.answer("2026-01-01T00:00:00Z", session, field, value, kind)
    stage.event("complete", "2026-01-01T00:00:01Z", session, visitor_id=session)


def cross(stage: Stage, a: str, b: str) -> list[dict[str, Any]]:
    return stage.ask(f"/v1/forms/{A}/cross-field", fieldA=a, fieldB=b)


def test_a_table_of_two_fields(stage: Stage) -> None:
    for place, (a, b) in enumerate([*[("x", "p")] * 3, ("x", "q"), *[("y", "q")] * 2]):
        submit(stage, f"s{place}", a=a, b=b)
    submit(stage, "only a", a="x")
    stage.answer("2026-01-01T00:00:00Z", "no submission", "a", "x")
    stage.answer("2026-01-01T00:00:00Z", "no submission", "b", "p")
    stage.order("o", "2026-01-02T00:00:00Z", visitor_id="s2")
    names = ("valueA", "valueB", "count", "expectedCount", "lift")
    rates = ("rowPercent", "columnPercent", "totalPercent", "conversionRate")
    found = cross(stage, "a", "b")
    assert pick(found, *names, *rates) == [
        ("x", "p", 3, 2, 1.5, 75, 100, 50, 33.33),
        ("y", "q", 2, 1, 2, 100, 66.67, 33.33, 0),
        ("x", "q", 1, 2, 0.5, 25, 33.33, 16.67, 0),
    ]
    # chi squared is 1/2 + 1/2 + 1 + 1 = 3, of 6.
    assert {one["cramersV"] for one in found} == {0.7071}
    turned = cross(stage, "b", "a")
    assert pick(turned, "valueA", "valueB", "rowPercent", "cramersV") == [
        ("p", "x", 100, 0.7071),
        ("q", "y", 66.67, 0.7071),
        ("q", "x", 33.33, 0.7071),
    ]


def test_several_choices_each_count(stage: Stage) -> None:
    submit(stage, "1", a=["x", "y", "x"], b="p")
    submit(stage, "2", a=["x"], b="p")
    found = cross(stage, "a", "b")
    assert pick(found, "valueA", "count", "expectedCount", "rowPercent", "totalPercent") == [
        ("x", 2, 2, 100, 66.67),
        ("y", 1, 1, 100, 33.33),
    ]
    assert {one["cramersV"] for one in found} == {0}  # one column


def test_the_latest_answer_counts_with_its_type(stage: Stage) -> None:
    submit(stage, "1", a="x", b="p")
    submit(stage, "2", a="x", b="p")
    stage.answer("2026-01-03T00:00:00Z", "2", "b", "free", "text")
    submit(stage, "3", a="x", b="p")
    stage.answer("2026-01-03T00:00:00Z", "3", "b", "q")
    stage.answer("2026-01-02T00:00:00Z", "3", "b", "r")
    stage.answer("2026-01-04T00:00:00Z", "3", "b", [], "multi_choice")  # no answer
    assert pick(cross(stage, "a", "b"), "valueA", "valueB", "count") == [
        ("x", "p", 1),
        ("x", "q", 1),
    ]
    assert cross(stage, "a", "unknown") == []


def test_values_compare_as_text(stage: Stage) -> None:
    for place, value in enumerate((3, 3.0, "3", 3.5, True, "true", -0.0)):
        stage.answer("2026-01-01T00:00:00Z", f"s{place}", "f", value, "scale")
        stage.event("complete", "2026-01-01T00:00:01Z", f"s{place}")
    assert pick(stage.ask(REVENUE), "value", "submissions") == [
        ("0", 1),
        ("3", 3),
        ("3.5", 1),
        ("true", 2),
    ]


def test_response_revenue(stage: Stage) -> None:
    submit(stage, "bought", f="x", free="...")
    submit(stage, "did not", f="y")
    submit(stage, "free", g="z")
    stage.answer("2026-01-01T00:00:00Z", "free", "f", "my own words", "text")
    submit(stage, "silent")
    stage.order("1", "2026-02-05T00:00:00Z", 999, visitor_id="bought")  # out of the window
    stage.order("2", "2026-01-05T00:00:00Z", 1000, visitor_id="did not")
    stage.order("3", "2026-01-05T00:00:00Z", 501, visitor_id="did not")
    stage.order(
        "4", "2026-01-05T00:00:00Z", 500, visitor_id="silent", cancelled_at="2026-01-06T00:00:00Z"
    )
    names = ("fieldId", "value", "submissions", "convertedSubmissions", "orders")
    money = ("netRevenueCents", "revenuePerSubmissionCents", "averageOrderValueCents")
    rows = [one for one in stage.ask(REVENUE, "2026-01-01") if one["fieldId"] != "free"]
    # "free" answered f, in words that are not kept: it is in no row of f.
    assert pick(rows, *names, *money) == [
        ("f", "y", 1, 1, 2, 1501, 1501, 751),
        ("f", "x", 1, 0, 0, 0, 0, 0),
        ("f", None, 1, 1, 1, 0, 0, 500),
        ("g", None, 3, 2, 3, 1501, 500, 667),
        ("g", "z", 1, 0, 0, 0, 0, 0),
    ]
    assert {one["multiSelect"] for one in rows} == {False}


def test_lists_are_said_of_the_whole_field_in_the_range(stage: Stage) -> None:
    submit(stage, "1", f=["x", "y"])
    submit(stage, "2", f="x")
    stage.answer("2026-02-01T00:00:00Z", "3", "f", "x")
    stage.event("complete", "2026-02-01T00:00:01Z", "3")
    names = ("value", "submissions", "multiSelect")
    assert pick(stage.ask(REVENUE, "2026-01-01"), *names) == [("x", 2, True), ("y", 1, True)]
    assert pick(stage.ask(REVENUE, "2026-02-01"), *names) == [("x", 1, False)]
