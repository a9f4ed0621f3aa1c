"""Distinct visitors (endpoint 10)."""

from tests.support.stage import A, B, Stage, pick

NAMES = ("visitorType", "visitors", "submitters", "purchasers")


def conversion(stage: Stage, window: str, form: str = A) -> list[tuple[object, ...]]:
    return pick(stage.ask(f"/v1/forms/{form}/visitor-conversion", window), *NAMES)


def test_distinct_over_the_whole_range(stage: Stage) -> None:
    for day in (1, 2, 3):
        for visitor in ("v", "w"):
            stage.event("view", f"2026-01-0{day}T00:00:00Z", f"{visitor}{day}", visitor_id=visitor)
    stage.event("subscribe", "2026-01-04T00:00:00Z", "v2")
    stage.event("subscribe", "2026-01-03T00:00:00Z", "v3")
    stage.order("1", "2026-01-10T00:00:00Z", visitor_id="v")
    assert conversion(stage, "2026-01-01..2026-01-04") == [
        ("all", 2, 1, 1),
        ("new", 2, 0, 0),
        ("returning", 2, 1, 1),
    ]
    # The order went to the latest submission, of the 4th; on the 3rd nobody viewed for the first time.
    assert conversion(stage, "2026-01-03") == [
        ("all", 2, 1, 0),
        ("new", 0, 0, 0),
        ("returning", 2, 1, 0),
    ]
    assert conversion(stage, "2026-01-04") == [
        ("all", 0, 1, 1),
        ("new", 0, 0, 0),
        ("returning", 0, 1, 1),
    ]
    rates = stage.ask(f"/v1/forms/{A}/visitor-conversion", "2026-01-01..2026-01-04")
    assert pick(rates, "submissionRate", "purchaseRate", "conversionRate") == [
        (50, 50, 100),
        (0, 0, 0),
        (50, 50, 100),
    ]


def test_new_is_the_first_session_with_the_form_by_any_event(stage: Stage) -> None:
    # Both begin at one instant: the smaller id is the first. Views come later, in the other order.
    stage.event("start", "2026-01-01T00:00:00Z", "s9")
    stage.event("start", "2026-01-01T00:00:00Z", "s10")
    stage.event("view", "2026-01-02T00:00:00Z", "s9")
    stage.event("view", "2026-01-03T00:00:00Z", "s10")
    stage.event("view", "2026-01-02T00:00:00Z", "s1", form_id=B)
    assert conversion(stage, "2026-01-02") == [
        ("all", 1, 0, 0),
        ("new", 0, 0, 0),
        ("returning", 1, 0, 0),
    ]
    assert conversion(stage, "2026-01-03") == [
        ("all", 1, 0, 0),
        ("new", 1, 0, 0),
        ("returning", 0, 0, 0),
    ]
    assert conversion(stage, "2026-01-02", B)[1] == ("new", 1, 0, 0)


def test_the_visitor_of_a_session_is_that_of_its_earliest_event(stage: Stage) -> None:
    stage.event("view", "2026-01-01T00:00:01Z", "s1", visitor_id="late")
    stage.event("start", "2026-01-01T00:00:00Z", "s1", visitor_id="early")
    stage.event("view", "2026-01-02T00:00:00Z", "s2", visitor_id="late")
    stage.event("view", "2026-01-02T00:00:00Z", "s3", visitor_id="early")
    assert conversion(stage, "2026-01-02") == [
        ("all", 2, 0, 0),
        ("new", 1, 0, 0),
        ("returning", 1, 0, 0),
    ]
