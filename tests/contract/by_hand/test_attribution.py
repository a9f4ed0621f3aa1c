"""Which submission an order is credited to (contract 3), and the UTM that follows from it."""

from typing import Any

import pytest

from tests.support.stage import A, B, Stage, pick, row

ATTRIBUTION = "/v1/attribution"


def credits(stage: Stage) -> dict[str, int]:
    """Orders by type, of types that have any."""
    rows = stage.ask(ATTRIBUTION)
    assert [one["attributionType"] for one in rows] == [
        "discount_code",
        "customer",
        "visitor",
        "unattributed",
    ]
    return {one["attributionType"]: one["orders"] for one in rows if one["orders"]}


def credited_source(stage: Stage) -> list[tuple[Any, ...]]:
    """The source of the sessions that got an order."""
    rows = stage.ask("/v1/revenue/by-utm", dimension="attribution")["rows"]
    return pick(rows, "attributionType", "utmSource")


@pytest.mark.parametrize(
    ("submitted", "ordered", "type"),
    [
        ("2026-01-01T00:00:00.000001Z", "2026-01-31T00:00:00.000001Z", "visitor"),
        ("2026-01-01T00:00:00.000001Z", "2026-01-31T00:00:00.000002Z", "unattributed"),
        ("2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00.000001Z", "visitor"),
        ("2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00.000000Z", "unattributed"),
    ],
)
def test_the_window_is_exact(stage: Stage, submitted: str, ordered: str, type: str) -> None:
    stage.event("subscribe", submitted)
    stage.order("o", ordered, visitor_id="v")
    assert credits(stage) == {type: 1}


def test_the_window_is_of_hours_not_of_calendar_days(stage: Stage) -> None:
    stage.shop(timezone="America/New_York")
    # 30 days of the calendar that lose an hour: 29 days and 23 hours, then 30 days and one second.
    stage.event("subscribe", "2026-02-20T12:00:00-05:00")
    stage.order("in", "2026-03-22T13:00:00-04:00", visitor_id="v")
    stage.order("out", "2026-03-22T13:00:01-04:00", visitor_id="v")
    assert credits(stage) == {"visitor": 1, "unattributed": 1}


def test_the_first_type_with_a_candidate_wins(stage: Stage) -> None:
    stage.event("subscribe", "2026-01-01T00:00:00Z", "code", visitor_id="x", discount_code="Ten")
    stage.event("subscribe", "2026-01-02T00:00:00Z", "customer", visitor_id="y", customer_id="c")
    stage.event("subscribe", "2026-01-03T00:00:00Z", "visitor", visitor_id="v")
    all_of_it: dict[str, Any] = {"customer_id": "c", "visitor_id": "v"}
    stage.order("1", "2026-01-04T00:00:00Z", discount_codes=[{"code": "tEN"}], **all_of_it)
    stage.order("2", "2026-01-04T00:00:00Z", discount_codes=[{"code": "other"}], **all_of_it)
    stage.order("3", "2026-01-04T00:00:00Z", visitor_id="v", customer_id="nobody")
    stage.order("4", "2026-01-04T00:00:00Z", visitor_id="z")
    assert credits(stage) == {"discount_code": 1, "customer": 1, "visitor": 1, "unattributed": 1}


@pytest.mark.parametrize(
    ("buyer", "source"),
    [
        ({"customer_id": "c", "visitor_id": "v"}, "customer"),
        ({"customer_id": "d", "visitor_id": "v"}, "visitor"),
        ({"visitor_id": "w"}, "stranger"),
        ({}, "stranger"),
    ],
)
def test_of_a_shared_code_the_buyers_own_submission(
    stage: Stage, buyer: dict[str, Any], source: str
) -> None:
    for at, name, visitor, customer in (
        ("2026-01-01", "customer", "x", "c"),
        ("2026-01-02", "visitor", "v", None),
        ("2026-01-03", "stranger", "y", "other"),
    ):
        stage.event(
            "complete",
            f"{at}T00:00:00Z",
            name,
            visitor_id=visitor,
            customer_id=customer,
            discount_code="TEN",
            utm_source=name,
        )
    stage.order("o", "2026-01-04T00:00:00Z", discount_codes=[{"code": "TEN"}], **buyer)
    assert credited_source(stage) == [("discount_code", source)]


def test_ties_go_to_the_greater_form_session_id(stage: Stage) -> None:
    for session in ("s10", "s9", "S99"):
        stage.event("subscribe", "2026-01-01T00:00:00Z", session, utm_source=session)
    stage.order("o", "2026-01-01T00:00:00Z", visitor_id="v")
    assert credited_source(stage) == [("visitor", "s9")]


def test_only_submissions_up_to_the_order(stage: Stage) -> None:
    # Issued the code, but submitted after the order; and one that never submitted.
    stage.event("view", "2026-01-01T00:00:00Z", "late", discount_code="TEN")
    stage.event("subscribe", "2026-01-03T00:00:00Z", "late")
    stage.event("start", "2026-01-01T00:00:00Z", "never", discount_code="TEN")
    # Dated by the earlier of the two; the code came with an event after the order.
    stage.event("complete", "2026-01-05T00:00:00Z", "in time", discount_code="late", form_id=B)
    stage.event("subscribe", "2026-01-01T00:00:00Z", "in time", form_id=B)
    stage.order("1", "2026-01-02T00:00:00Z", discount_codes=[{"code": "TEN"}])
    stage.order("2", "2026-01-02T00:00:00Z", discount_codes=[{"code": "LATE"}])
    assert credits(stage) == {"discount_code": 1, "unattributed": 1}
    assert stage.ask(f"/v1/forms/{A}/funnel")["orders"] == 0
    assert stage.ask(f"/v1/forms/{B}/funnel")["orders"] == 1


def test_an_order_is_credited_once_and_the_rows_add_up(stage: Stage) -> None:
    for place in range(3):
        stage.event("subscribe", f"2026-01-0{place + 1}T00:00:00Z", f"s{place}", customer_id="c")
    stage.order("1", "2026-01-09T00:00:00Z", 100, customer_id="c")
    stage.order("2", "2026-01-09T00:00:00Z", 200, customer_id="c")
    funnel = stage.ask(f"/v1/forms/{A}/funnel")
    assert (funnel["submissions"], funnel["convertedSubmissions"], funnel["orders"]) == (3, 1, 2)
    assert funnel["conversionRate"] == 33.33
    assert funnel["netRevenueCents"] == 300


def test_the_effective_utm(stage: Stage) -> None:
    # The earliest event that carries any counts, as one set: nothing is taken from later ones.
    stage.event("view", "2026-01-01T00:00:00Z", "with")
    stage.event("start", "2026-01-01T00:00:01Z", "with", utm_term="shoes")
    stage.event("subscribe", "2026-01-01T00:00:02Z", "with", utm_source="meta", utm_campaign="x")
    stage.event("subscribe", "2026-01-01T00:00:00Z", "without", visitor_id="w")
    own = {"utm_source": "own", "utm_campaign": "o", "utm_medium": "m"}
    stage.order("1", "2026-01-02T00:00:00Z", 1, visitor_id="v", **own)
    stage.order("2", "2026-01-02T00:00:00Z", 10, visitor_id="w", **own)
    stage.order("3", "2026-01-02T00:00:00Z", 100, **own)
    stage.order("4", "2026-01-02T00:00:00Z", 1000)
    rows = stage.ask("/v1/revenue/by-utm", dimension="hierarchy")["rows"]
    names = ("utmSource", "utmCampaign", "utmMedium", "utmTerm", "utmContent")
    assert pick(rows, *names, "orders", "netRevenueCents") == [
        ("", "", "", "", "", 1, 1000),
        ("own", "o", "m", "", "", 2, 110),
        ("", "", "", "shoes", "", 1, 1),
    ]
    rows = stage.ask("/v1/revenue/by-utm", dimension="attribution")["rows"]
    assert pick(rows, "attributionType", "utmSource", "utmCampaign", "grossRevenueCents") == [
        ("unattributed", "", "", 1000),
        ("unattributed", "own", "o", 100),
        ("visitor", "own", "o", 10),
        ("visitor", "", "", 1),
    ]
    rows = stage.ask("/v1/revenue/by-utm", dimension="campaign")["rows"]
    # The submission without UTM is in the row of empty values, its order in that of its own.
    figures = ("submissionCount", "convertedSubmissions", "attributedRevenueCents")
    assert pick(rows, "utmSource", *figures) == [("own", 0, 0, 10), ("", 2, 2, 1)]


def test_shares_of_revenue(stage: Stage) -> None:
    for order, total in (("1", 1), ("2", 2)):
        stage.order(order, "2026-01-02T00:00:00Z", total)
    stage.event("subscribe", "2026-01-02T00:00:00Z", customer_id="c")
    stage.order("3", "2026-01-02T00:00:00Z", 3, customer_id="c")
    stage.order("4", "2026-01-03T00:00:00Z", 2, customer_id="c")
    total = stage.ask(ATTRIBUTION)
    assert row(total, attributionType="customer")["shareOfRevenue"] == 62.5
    assert row(total, attributionType="customer")["averageOrderValueCents"] == 3  # 2.5
    daily = stage.ask("/v1/attribution/daily", "2026-01-02..2026-01-04")
    assert len(daily) == 12
    assert pick(daily[1::4], "date", "shareOfRevenue") == [
        ("2026-01-02", 50),
        ("2026-01-03", 100),
        ("2026-01-04", 0),
    ]
