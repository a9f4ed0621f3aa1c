"""Hand-computed answers of endpoints 3, 6, 7, 8, 9, 10, 13 and 25."""

from datetime import date

import pytest

from tests.support.oracle import Oracle, UnknownForm
from tests.support.oracle.making import (
    FORM,
    OTHER_FORM,
    SHOP,
    TODAY,
    ask,
    event,
    march,
    order,
    submission,
    table,
)
from tests.support.oracle.records import Row

MONEY = ("orders", "grossRevenueCents", "totalRefundedCents", "netRevenueCents")

# s1 goes all the way and buys twice, once in vain; s2 starts; s3 only views, twice; s4 subscribes
# on the next day and completes on the one after.
STORY = [
    event("e01", "view", "1 10:00", "s1", visitor_id="v1", device_type="mobile"),
    event("e02", "start", "1 10:01", "s1", visitor_id="v1"),
    event("e03", "subscribe", "1 10:02", "s1", visitor_id="v1"),
    event("e04", "complete", "1 10:04", "s1", visitor_id="v1"),
    event("e05", "view", "1 11:00", "s2", visitor_id="v2", device_type="desktop"),
    event("e06", "start", "1 11:00", "s2", visitor_id="v2"),
    event("e07", "view", "1 12:00", "s3", visitor_id="v1", device_type="mobile"),
    event("e08", "view", "5 12:00", "s3", visitor_id="v1"),
    event("e09", "view", "1 23:59", "s4", visitor_id="v4"),
    event("e10", "subscribe", "2 00:01", "s4", visitor_id="v4"),
    event("e11", "complete", "3 00:01", "s4", visitor_id="v4"),
    order("o1", "2", 1000, visitor_id="v1"),
    order("o2", "9", 500, visitor_id="v1", cancelled_at=march("10")),
    order("o3", "9", 700, visitor_id="nobody"),
]


def test_all_forms_funnel() -> None:
    rows = [*STORY, event("x1", "answer", "7", form_id=OTHER_FORM, value=1)]
    rows[-1].update(field_id="f", field_type="scale")
    columns = ("formId", "formName", "views", "subscriptions", "completions")
    every = [(FORM, "Form", 4, 2, 2), (OTHER_FORM, None, 0, 0, 0)]
    assert table(ask("/v1/forms/funnel", rows), *columns) == every
    # A repeated view is an event of the day, and no view of it.
    repeated = ask("/v1/forms/funnel", rows, {"range": "2024-03-05"})
    assert table(repeated, *columns) == [(FORM, "Form", 0, 0, 0)]
    asked = {"form_ids": f"{OTHER_FORM},{FORM.upper()},{FORM}", "range": "2024-03-20"}
    assert table(ask("/v1/forms/funnel", rows, asked), *columns) == [(FORM, "Form", 0, 0, 0)]


def test_funnel() -> None:
    assert ask("/v1/forms/{form}/funnel", STORY) == {
        "formId": FORM,
        "formName": "Form",
        "views": 4,
        "starts": 2,
        "subscriptions": 2,
        "completions": 2,
        "submissions": 2,
        "convertedSubmissions": 1,
        "orders": 2,
        "grossRevenueCents": 1500,
        "totalRefundedCents": 500,
        "netRevenueCents": 1000,
        "startRate": 50.0,
        "subscriptionRate": 50.0,
        "completionRate": 50.0,
        "submissionRate": 50.0,
        "conversionRate": 50.0,
        "stages": [
            {"stage": "view", "count": 4, "rateFromPrevious": 100.0, "rateFromFirst": 100.0},
            {"stage": "start", "count": 2, "rateFromPrevious": 50.0, "rateFromFirst": 50.0},
            {"stage": "submit", "count": 2, "rateFromPrevious": 100.0, "rateFromFirst": 50.0},
            {"stage": "convert", "count": 1, "rateFromPrevious": 50.0, "rateFromFirst": 25.0},
        ],
    }


def test_funnel_of_a_day_has_the_orders_of_its_submissions() -> None:
    data = ask("/v1/forms/{form}/funnel", STORY, {"range": "2024-03-02"})
    assert (data["views"], data["submissions"], data["completions"], data["orders"]) == (0, 1, 0, 0)
    assert data["stages"][0]["rateFromFirst"] == 0
    data = ask("/v1/forms/{form}/funnel", STORY, {"range": "2024-03-01"})
    assert [data[name] for name in MONEY] == [2, 1500, 500, 1000]


def test_days_are_the_shops() -> None:
    in_india = ask("/v1/forms/{form}/trends", STORY, timezone="Asia/Kolkata")
    assert table(in_india[:2], "date", "views") == [("2024-03-01", 3), ("2024-03-02", 1)]


def test_an_unknown_form_is_none() -> None:
    rows = [event("e1", "view", "1", form_id=OTHER_FORM)]
    oracle = Oracle({"shops": [{"shop_id": SHOP, "currency": "EUR"}], "events": rows})
    with pytest.raises(UnknownForm):
        oracle.answer(f"/v1/forms/{OTHER_FORM}/funnel", {}, SHOP, TODAY)


def test_dropoff() -> None:
    def step(id: str, type: str, at: str, session: str, step_id: str, **more: object) -> Row:
        return event(id, type, at, session, **{"step_id": step_id, "step_index": 0, **more})

    rows = [
        step("e01", "step_view", "1 10:00", "s1", "a", step_name="Old"),
        step("e02", "step_complete", "1 10:01", "s1", "a"),
        step("e03", "step_view", "1 10:02", "s1", "b", step_index=1),
        step("e04", "step_view", "1 10:00", "s2", "a", step_name="New"),
        step("e05", "step_view", "2 10:00", "s3", "a"),
        step("e06", "step_view", "2 10:01", "s3", "b", step_index=1),
        event("e07", "complete", "2 11:00", "s3"),
        step("e08", "step_complete", "4 10:01", "s4", "b", step_index=7),
    ]
    assert ask("/v1/forms/{form}/steps/dropoff", rows) == [
        {
            "stepId": "a",
            "stepIndex": 0,
            "stepName": "New",
            "views": 3,
            "completions": 1,
            "dropoffs": 1,
            "completionRate": 33.33,
            "dropoffRate": 33.33,
            "shareOfDropoffs": 50.0,
        },
        {
            "stepId": "b",
            "stepIndex": 7,
            "stepName": None,
            "views": 2,
            "completions": 0,
            "dropoffs": 1,
            "completionRate": 0.0,
            "dropoffRate": 50.0,
            "shareOfDropoffs": 50.0,
        },
    ]


def test_time_to_complete() -> None:
    rows = [*STORY, event("e12", "complete", "4", "s5", device_type="mobile")]
    every, mobile, other = ask("/v1/forms/{form}/time-to-complete", rows)
    # s1: 3 min from its start; s4: 24 h 2 min from its view; s5: nothing before its completion.
    assert every == {
        "deviceType": "all",
        "completions": 3,
        "averageMs": (180_000 + 86_520_000) / 3,
        "minMs": 0,
        "p25Ms": 0,
        "p50Ms": 180_000,
        "p75Ms": 86_520_000,
        "p90Ms": 86_520_000,
        "p95Ms": 86_520_000,
        "p99Ms": 86_520_000,
        "maxMs": 86_520_000,
    }
    columns = ("deviceType", "completions", "averageMs", "p50Ms", "p75Ms")
    assert table([mobile, other], *columns) == [
        ("mobile", 2, 90_000, 0, 180_000),
        ("other", 1, 86_520_000, 86_520_000, 86_520_000),
    ]
    assert ask("/v1/forms/{form}/time-to-complete", rows, {"range": "2024-03-02"}) == []


def test_a_start_after_the_completion_takes_no_time() -> None:
    rows = [event("e1", "view", "1"), event("e2", "complete", "2"), event("e3", "start", "3")]
    assert ask("/v1/forms/{form}/time-to-complete", rows)[0]["maxMs"] == 0


def test_half_a_microsecond_is_rounded_up() -> None:
    rows = []
    for session, micros in (("s1", 1), ("s2", 2)):
        rows.append(event(f"{session} start", "start", "1 10:00", session))
        rows.append(event(f"{session} end", "complete", f"1 10:00:00.00000{micros}", session))
    [every, _] = ask("/v1/forms/{form}/time-to-complete", rows)
    assert every["averageMs"] == 0.002


def test_devices() -> None:
    columns = ("deviceType", "views", "starts", "completions", "submissions", *MONEY)
    rows = ask("/v1/forms/{form}/devices", STORY)
    assert table(rows, *columns) == [
        ("mobile", 2, 1, 1, 1, 2, 1500, 500, 1000),
        ("desktop", 1, 1, 0, 0, 0, 0, 0, 0),
        ("other", 1, 0, 1, 1, 0, 0, 0, 0),
    ]
    assert table(rows, "submissionRate", "conversionRate", "shareOfViews") == [
        (50.0, 100.0, 50.0),
        (0.0, 0.0, 25.0),
        (100.0, 0.0, 25.0),
    ]


def test_visitor_conversion() -> None:
    rows = ask("/v1/forms/{form}/visitor-conversion", STORY)
    counts = ("visitorType", "visitors", "submitters", "purchasers")
    # v1 is new in s1 and returns in s3.
    assert table(rows, *counts) == [("all", 3, 2, 1), ("new", 3, 2, 1), ("returning", 1, 0, 0)]
    rates = ("submissionRate", "purchaseRate", "conversionRate")
    assert table(rows, *rates) == [(66.67, 33.33, 50.0), (66.67, 33.33, 50.0), (0.0, 0.0, 0.0)]


def test_of_two_first_sessions_the_smaller_id_is_new() -> None:
    rows = [event("e1", "view", "1", "s2"), event("e2", "view", "1", "s1"), submission("s2", "2")]
    rows = [{**row, "visitor_id": "v"} for row in rows]
    found = ask("/v1/forms/{form}/visitor-conversion", rows)
    assert table(found, "visitors", "submitters") == [(1, 1), (1, 0), (1, 1)]


def test_trends() -> None:
    rows = ask("/v1/forms/{form}/trends", STORY, {"range": "2024-03-01..2024-03-09"})
    assert len(rows) == 9
    columns = ("date", "views", "starts", "completions", "submissions", "convertedSubmissions")
    busy = [rows[n] for n in (0, 1, 2, 8)]
    assert table(busy, *columns, *MONEY) == [
        ("2024-03-01", 4, 2, 1, 1, 1, 0, 0, 0, 0),
        ("2024-03-02", 0, 0, 0, 1, 0, 1, 1000, 0, 1000),
        ("2024-03-03", 0, 0, 1, 0, 0, 0, 0, 0, 0),
        ("2024-03-09", 0, 0, 0, 0, 0, 1, 500, 500, 0),
    ]
    assert table(busy[:2], "submissionRate", "conversionRate") == [(25.0, 100.0), (0.0, 0.0)]


def test_trends_on_the_submission_clock() -> None:
    asked = {"range": "2024-03-01..2024-03-09", "clock": "submission"}
    rows = ask("/v1/forms/{form}/trends", STORY, asked)
    assert table(rows[:2], "date", "submissions", "convertedSubmissions", *MONEY) == [
        ("2024-03-01", 1, 1, 2, 1500, 500, 1000),
        ("2024-03-02", 1, 0, 0, 0, 0, 0),
    ]
    assert not any(row["orders"] for row in rows[2:])


# Submitted on days 1, 2 and 3, each with an order exactly 24 h later; the first also buys just before.
AGES = [
    *(event(f"view {day}", "view", f"{day} 12:00", f"s{day}") for day in (1, 2, 3)),
    *(submission(f"s{day}", f"{day} 12:00") for day in (1, 2, 3)),
    order("o0", "2 11:59:59.999999", 5, visitor_id="visitor of s1"),
    *(
        order(f"o{day}", f"{day + 1} 12:00", 10**day, visitor_id=f"visitor of s{day}")
        for day in (1, 2, 3)
    ),
]


def test_funnel_at_equal_age() -> None:
    def funnel(within: int, today: int, **asked: str) -> tuple[object, ...]:
        query = {"within": str(within), **asked}
        data = ask("/v1/forms/{form}/funnel", AGES, query, today=date(2024, 3, today))
        names = ("views", "submissions", "convertedSubmissions", "orders", "netRevenueCents")
        return (*(data[name] for name in names), data["submissionRate"], data["conversionRate"])

    assert funnel(1, 5) == (3, 3, 1, 1, 5, 100.0, 33.33)
    assert funnel(2, 6) == (3, 3, 3, 4, 1115, 100.0, 100.0)
    # The third day is not two whole days old: its views are still the range's.
    assert funnel(2, 5) == (3, 2, 2, 3, 115, 100.0, 100.0)
    assert funnel(2, 5, range="2024-03-03") == (1, 0, 0, 0, 0, 0.0, 0.0)
    # An order exactly 30 x 24 h after its submission is credited to it, and no day too early.
    late = [*AGES[:6], order("o", "31 12:00", 7, visitor_id="visitor of s1")]
    data = ask("/v1/forms/{form}/funnel", late, {"within": "30"}, today=date(2024, 5, 1))
    assert (data["submissions"], data["orders"]) == (3, 0)


def test_stages_at_equal_age() -> None:
    query = {"within": "2"}
    data = ask("/v1/forms/{form}/funnel", AGES, query, today=date(2024, 3, 5))
    assert table(data["stages"], "stage", "count", "rateFromPrevious", "rateFromFirst") == [
        ("view", 3, 100.0, 100.0),
        ("start", 0, 0.0, 0.0),
        ("submit", 2, 0.0, 100.0),
        ("convert", 2, 100.0, 100.0),
    ]


def test_time_to_order() -> None:
    rows = [*AGES, order("late", "31 12:00", 7, visitor_id="visitor of s1")]
    found = ask("/v1/forms/{form}/time-to-order", rows, today=date(2024, 4, 2))
    columns = ("days", "submissions", "convertedSubmissions", "conversionRate", *MONEY)
    assert len(found) == 31
    assert table([found[0], found[1], found[29], found[30]], *columns) == [
        (0, 3, 1, 33.33, 1, 5, 0, 5),
        (1, 3, 3, 100.0, 4, 1115, 0, 1115),
        (29, 2, 2, 100.0, 3, 115, 0, 115),
        # day + 30 + 1 < today: the first day alone, with the order exactly 30 x 24 h after it.
        (30, 1, 1, 100.0, 3, 22, 0, 22),
    ]
    young = ask("/v1/forms/{form}/time-to-order", rows, today=date(2024, 3, 4))
    assert table(young[:3], "submissions", "orders") == [(2, 1), (1, 2), (0, 0)]
