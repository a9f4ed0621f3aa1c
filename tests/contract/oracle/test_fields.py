"""Hand-computed answers of endpoints 11 and 12."""

from tests.support.oracle.making import answered, ask, order, submission, table

AB = {"fieldA": "a", "fieldB": "b"}


def test_cross_field_of_a_full_association() -> None:
    rows = []
    for n, (a, b) in enumerate([("x", "1"), ("x", "1"), ("y", "2"), ("x", "1")]):
        rows += [answered(f"s{n}", "1", "a", a), answered(f"s{n}", "1", "b", b)]
        rows.append(submission(f"s{n}", "2"))
    rows.append(order("o1", "3", 100, visitor_id="visitor of s0"))
    assert ask("/v1/forms/{form}/cross-field", rows, AB) == [
        {
            "valueA": "x",
            "valueB": "1",
            "count": 3,
            "expectedCount": 2.25,
            "lift": 1.3333,
            "rowPercent": 100.0,
            "columnPercent": 100.0,
            "totalPercent": 75.0,
            "convertedSubmissions": 1,
            "conversionRate": 33.33,
            "cramersV": 1.0,
        },
        {
            "valueA": "y",
            "valueB": "2",
            "count": 1,
            "expectedCount": 0.25,
            "lift": 4.0,
            "rowPercent": 100.0,
            "columnPercent": 100.0,
            "totalPercent": 25.0,
            "convertedSubmissions": 0,
            "conversionRate": 0.0,
            "cramersV": 1.0,
        },
    ]


def test_cross_field_of_several_choices() -> None:
    rows = [
        answered("s1", "1", "a", ["x", "y"]),
        answered("s1", "1", "b", "1"),
        submission("s1", "2"),
        answered("s2", "1", "a", ["x"]),
        answered("s2", "1", "b", "2"),
        submission("s2", "2"),
        answered("s3", "1", "a", "x"),
        submission("s3", "2"),
        answered("s4", "1", "a", "x"),
        answered("s4", "1", "b", "1"),
    ]
    found = ask("/v1/forms/{form}/cross-field", rows, AB)
    # The 3 cells: x 2, y 1; "1" 2, "2" 1. Expected of (x, 1) 4/3, (x, 2) 2/3, (y, 1) 2/3, and of
    # (y, 2), which has none, 1/3: chi squared 1/12 + 1/6 + 1/6 + 1/3 = 3/4, V = root of 1/4.
    columns = ("valueA", "valueB", "count", "expectedCount", "lift", "rowPercent", "cramersV")
    assert table(found, *columns) == [
        ("x", "1", 1, 1.3333, 0.75, 50.0, 0.5),
        ("x", "2", 1, 0.6667, 1.5, 50.0, 0.5),
        ("y", "1", 1, 0.6667, 1.5, 100.0, 0.5),
    ]


def test_cross_field_without_an_association_to_speak_of() -> None:
    rows = [answered("s1", "1", "a", "x"), answered("s1", "1", "b", True), submission("s1", "1")]
    [cell] = ask("/v1/forms/{form}/cross-field", rows, AB)
    assert (cell["valueB"], cell["cramersV"]) == ("true", 0)
    rows[1]["field_type"] = "text"
    assert ask("/v1/forms/{form}/cross-field", rows, AB) == []


def test_response_revenue() -> None:
    rows = [
        answered("s1", "1", "tags", ["p", "q"]),
        submission("s1", "2"),
        answered("s2", "1", "tags", "q"),
        answered("s2", "1", "note", "hello", "text"),
        submission("s2", "2"),
        submission("s3", "2"),
        answered("s4", "1", "tags", "words", "text"),
        submission("s4", "2"),
        order("o1", "3", 1001, visitor_id="visitor of s1"),
        order("o2", "3", 1000, visitor_id="visitor of s2"),
        order("o3", "3", 500, visitor_id="visitor of s2", cancelled_at="2024-03-04T00:00Z"),
    ]
    found = ask("/v1/forms/{form}/response-revenue", rows)
    assert found == [
        {
            "fieldId": "tags",
            "value": "q",
            "submissions": 2,
            "convertedSubmissions": 2,
            "orders": 3,
            "grossRevenueCents": 2501,
            "totalRefundedCents": 500,
            "netRevenueCents": 2001,
            "conversionRate": 100.0,
            "revenuePerSubmissionCents": 1001,
            "averageOrderValueCents": 834,
            "multiSelect": True,
        },
        {
            "fieldId": "tags",
            "value": "p",
            "submissions": 1,
            "convertedSubmissions": 1,
            "orders": 1,
            "grossRevenueCents": 1001,
            "totalRefundedCents": 0,
            "netRevenueCents": 1001,
            "conversionRate": 100.0,
            "revenuePerSubmissionCents": 1001,
            "averageOrderValueCents": 1001,
            "multiSelect": True,
        },
        {
            "fieldId": "tags",
            "value": None,
            "submissions": 1,
            "convertedSubmissions": 0,
            "orders": 0,
            "grossRevenueCents": 0,
            "totalRefundedCents": 0,
            "netRevenueCents": 0,
            "conversionRate": 0.0,
            "revenuePerSubmissionCents": 0,
            "averageOrderValueCents": 0,
            "multiSelect": True,
        },
    ]


def test_response_revenue_of_a_field_that_all_answered_has_no_null_row() -> None:
    rows = [answered("s1", "1", "f", 3.0, "scale"), submission("s1", "1")]
    found = ask("/v1/forms/{form}/response-revenue", rows)
    assert table(found, "value", "multiSelect") == [("3", False)]
