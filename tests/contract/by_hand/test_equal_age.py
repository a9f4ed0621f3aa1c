"""Orders by the time since their submission, and revenue by form on both clocks. Today is 2026-06-30."""

from typing import Any

from tests.support.stage import A, B, Stage, pick, row

FIGURES = ("submissions", "convertedSubmissions", "orders", "netRevenueCents")


def funnel(stage: Stage, range: str, **query: str) -> tuple[Any, ...]:
    body = stage.body(f"/v1/forms/{A}/funnel", range=range, **query)
    (figures,) = pick([body["data"]], *FIGURES)
    return (*figures, body["meta"].get("matureThrough", "absent"))


def test_an_order_exactly_so_many_days_later_is_too_late(stage: Stage) -> None:
    stage.event("subscribe", "2026-06-01T10:00:00Z")
    stage.order("just in time", "2026-06-08T09:59:59.999999Z", 1, visitor_id="v")
    stage.order("a moment later", "2026-06-08T10:00:00Z", 10, visitor_id="v")
    stage.order("the last to be credited", "2026-07-01T10:00:00Z", 100, visitor_id="v")
    june = "2026-06-01..2026-06-29"
    assert funnel(stage, june) == (1, 1, 3, 111, "absent")
    assert funnel(stage, june, within="6") == (1, 0, 0, 0, "2026-06-23")
    assert funnel(stage, june, within="7") == (1, 1, 1, 1, "2026-06-22")
    assert funnel(stage, june, within="8") == (1, 1, 2, 11, "2026-06-21")
    # 1 June + 29 days is today: not before it.
    assert funnel(stage, june, within="28") == (1, 1, 2, 11, "2026-06-01")
    assert funnel(stage, june, within="29") == (0, 0, 0, 0, None)
    assert funnel(stage, "2026-04-01..2026-05-01", within="30") == (0, 0, 0, 0, "2026-05-01")


def test_an_order_that_moves_in_time_and_keeps_its_money(stage: Stage) -> None:
    """Nothing changes in its submission but the delay."""
    stage.event("subscribe", "2026-05-01T10:00:00Z", device_type="mobile")
    stage.answer("2026-05-01T10:00:00Z", "s", "colour", "red")
    stage.order("o", "2026-05-09T10:00:00Z", 100, visitor_id="v")
    may = "2026-05-01..2026-05-31"
    assert funnel(stage, may, within="5")[:3] == (1, 0, 0)
    stage.order("o", "2026-05-02T10:00:00Z", 100, visitor_id="v", updated_at="2026-05-20T00:00:00Z")
    assert funnel(stage, may, within="5")[:3] == (1, 1, 1)
    times = stage.ask(f"/v1/forms/{A}/time-to-order", may)
    assert pick(times[:3], "days", *FIGURES) == [
        (0, 1, 0, 0, 0),
        (1, 1, 1, 1, 100),
        (2, 1, 1, 1, 100),
    ]
    stage.order(
        "o",
        "2026-05-02T10:00:00Z",
        100,
        visitor_id="v",
        updated_at="2026-05-21T00:00:00Z",
        cancelled_at="2026-05-21T00:00:00Z",
    )
    assert funnel(stage, may, within="5")[:4] == (1, 1, 1, 0)


def test_a_day_over_a_change_of_clocks_is_old_enough_by_the_calendar(stage: Stage) -> None:
    stage.shop(timezone="America/New_York")
    # 8 March has 23 hours: 24 of them end on 9 March at 1:30, local time.
    stage.event("subscribe", "2026-03-08T04:30:00-05:00")
    stage.order("in 24 hours", "2026-03-09T05:29:59-04:00", 1, visitor_id="v")
    stage.order("not in 24 hours", "2026-03-09T05:30:00-04:00", 10, visitor_id="v")
    assert funnel(stage, "2026-03-08", within="1") == (1, 1, 1, 1, "2026-03-08")
    assert funnel(stage, "2026-03-08", within="2") == (1, 1, 2, 11, "2026-03-08")


def test_before_the_first_data_and_after_today(stage: Stage) -> None:
    stage.event("subscribe", "2026-05-01T10:00:00Z")
    assert funnel(stage, "2001-01-01..2001-01-31", within="3") == (0, 0, 0, 0, "2001-01-31")
    assert funnel(stage, "2030-01-01..2030-01-31", within="3") == (0, 0, 0, 0, None)
    rows = stage.ask(f"/v1/forms/{A}/time-to-order", "2030-01-01..2030-01-31")
    assert [one["days"] for one in rows] == list(range(31))
    assert not any(one["submissions"] for one in rows)
    assert stage.ask("/v1/revenue/by-form", "2001-01-01..2001-01-31") == []


def test_revenue_by_form_on_both_clocks(stage: Stage) -> None:
    stage.event("view", "2026-04-30T10:00:00Z", "a", visitor_id="ann")
    stage.event("subscribe", "2026-04-30T10:00:00Z", "a", visitor_id="ann")
    stage.event("view", "2026-05-02T10:00:00Z", "b", form_id=B, visitor_id="bob")
    stage.event("complete", "2026-05-02T10:00:00Z", "b", form_id=B, visitor_id="bob")
    stage.order("of April", "2026-05-03T00:00:00Z", 500, visitor_id="ann")
    stage.order("of May", "2026-05-03T00:00:00Z", 70, visitor_id="bob")
    stage.order("of nobody", "2026-05-04T00:00:00Z", 9)
    may = "2026-05-01..2026-05-31"
    columns = ("formId", "views", *FIGURES, "revenuePerSubmissionCents")
    assert pick(stage.ask("/v1/revenue/by-form", may), *columns) == [(B, 1, 1, 1, 1, 70, 70)]
    ordered = stage.ask("/v1/revenue/by-form", may, clock="order")
    assert pick(ordered, *columns) == [
        (A, 0, 0, 0, 1, 500, 0),
        (B, 1, 1, 1, 1, 70, 70),
        (None, 0, 0, 0, 1, 9, 0),
    ]
    earlier = [one["fromEarlierSubmissions"] for one in ordered]
    assert earlier == [
        {"orders": 1, "netRevenueCents": 500},
        {"orders": 0, "netRevenueCents": 0},
        {"orders": 0, "netRevenueCents": 0},
    ]
    # The rows add up to the shop.
    shop = sum(one["netRevenueCents"] for one in stage.ask("/v1/attribution", may))
    assert sum(one["netRevenueCents"] for one in ordered) == shop
    days = stage.ask(f"/v1/forms/{A}/trends", "2026-04-30..2026-05-03", clock="submission")
    assert row(days, date="2026-04-30")["netRevenueCents"] == 500
    assert row(days, date="2026-05-03")["netRevenueCents"] == 0
