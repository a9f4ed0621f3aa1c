"""Days, milestones, and the submission clock against the order clock."""

from tests.support.stage import SHOP, A, B, Stage, pick, row


def test_a_day_of_the_shop_when_the_clocks_change(stage: Stage) -> None:
    stage.shop(timezone="America/New_York")
    for place, at in enumerate(
        (
            "2026-03-08T04:59:59.999999Z",  # 7 March, 23:59:59.999999
            "2026-03-08T05:00:00Z",  # 8 March, which has 23 hours
            "2026-03-09T03:59:59.999999Z",
            "2026-03-08T23:59:59.999999-04:00",
            "2026-03-09T04:00:00Z",  # 9 March
        )
    ):
        stage.event("view", at, f"s{place}")
    trends = stage.ask(f"/v1/forms/{A}/trends", "2026-03-07..2026-03-09")
    assert pick(trends, "date", "views") == [
        ("2026-03-07", 1),
        ("2026-03-08", 3),
        ("2026-03-09", 1),
    ]
    meta = stage.body("/v1/attribution", range="2026-03-08")["meta"]
    assert meta["range"] == {"from": "2026-03-08T05:00:00.000Z", "to": "2026-03-09T03:59:59.999Z"}
    meta = stage.body("/v1/attribution", range="2026-11-01")["meta"]
    assert meta["range"] == {"from": "2026-11-01T04:00:00.000Z", "to": "2026-11-02T04:59:59.999Z"}


def test_a_milestone_counts_once_on_the_day_it_first_happened(stage: Stage) -> None:
    stage.event("view", "2026-01-02T09:00:00Z")
    stage.event("view", "2026-01-01T09:00:00Z")
    stage.event("start", "2026-01-02T10:00:00Z")
    stage.event("start", "2026-01-04T10:00:00Z")
    stage.event("complete", "2026-01-03T10:00:00Z")
    stage.event("subscribe", "2026-01-04T09:00:00Z")
    names = ("views", "starts", "subscriptions", "completions", "submissions")
    trends = stage.ask(f"/v1/forms/{A}/trends", "2026-01-01..2026-01-04")
    assert pick(trends, *names) == [
        (1, 0, 0, 0, 0),
        (0, 1, 0, 0, 0),
        (0, 0, 0, 1, 1),
        (0, 0, 1, 0, 0),
    ]
    last = stage.ask(f"/v1/forms/{A}/funnel", "2026-01-04")
    assert [last[name] for name in names] == [0, 0, 1, 0, 0]
    assert last["subscriptionRate"] == 0
    assert pick(last["stages"], "stage", "count", "rateFromPrevious", "rateFromFirst") == [
        ("view", 0, 0, 0),
        ("start", 0, 0, 0),
        ("submit", 0, 0, 0),
        ("convert", 0, 0, 0),
    ]
    # The repeated view moved no milestone, but it is an event in the window.
    assert stage.ask("/v1/forms/funnel", "2026-01-02") == [
        {"formId": A, "formName": "A form", "views": 0, "subscriptions": 0, "completions": 0}
    ]
    assert stage.ask("/v1/forms/funnel", "2026-01-05") == []
    assert stage.ask("/v1/forms/funnel", "2026-01-05", form_ids=f"{B},{A.upper()},{A}") == [
        {"formId": A, "formName": "A form", "views": 0, "subscriptions": 0, "completions": 0},
        {"formId": B, "formName": "A form", "views": 0, "subscriptions": 0, "completions": 0},
    ]


def test_events_of_an_unknown_form_are_counted_shop_wide(stage: Stage) -> None:
    unknown = "cccccccc-0000-4000-8000-000000000000"
    stage.event("view", "2026-01-01T00:00:00Z", form_id=unknown.upper())
    stage.event("subscribe", "2026-01-01T00:01:00Z", form_id=unknown, utm_source="x")
    stage.order("o", "2026-01-02T00:00:00Z", visitor_id="v")
    stage.event("view", "2026-01-01T00:00:00Z", "another")
    expected = [
        {"formId": A, "formName": "A form", "views": 1, "subscriptions": 0, "completions": 0},
        {"formId": unknown, "formName": None, "views": 1, "subscriptions": 1, "completions": 0},
    ]
    assert stage.ask("/v1/forms/funnel") == expected
    assert stage.ask("/v1/forms/funnel", form_ids=unknown) == expected[1:]
    assert stage.ask("/v1/forms/funnel", "2026-01-02", form_ids=unknown) == []
    assert row(stage.ask("/v1/attribution"), attributionType="visitor")["orders"] == 1


def test_orders_stand_on_two_clocks(stage: Stage) -> None:
    utm = {"utm_source": "news", "utm_campaign": "spring"}
    stage.event("view", "2026-01-10T12:00:00Z", **utm)
    stage.event("subscribe", "2026-01-10T12:00:00Z", device_type="MOBILE")
    stage.order("o", "2026-02-01T12:00:00Z", 900, visitor_id="v")
    names = ("submissions", "convertedSubmissions", "orders", "grossRevenueCents")
    january, february = "2026-01-01..2026-01-31", "2026-02-01..2026-02-28"
    for path in ("funnel", "devices"):
        found = stage.ask(f"/v1/forms/{A}/{path}", january)
        assert pick(found if path == "devices" else [found], *names) == [(1, 1, 1, 900)]
        found = stage.ask(f"/v1/forms/{A}/{path}", february)
        assert pick(found if path == "devices" else [found], *names) == (
            [] if path == "devices" else [(0, 0, 0, 0)]
        )
    days = stage.ask(f"/v1/forms/{A}/trends", "2026-01-10..2026-02-01")
    assert pick([days[0], days[-1]], *names) == [(1, 1, 0, 0), (0, 0, 1, 900)]
    assert days[0]["conversionRate"] == 100
    utms = "/v1/revenue/by-utm"
    names = ("submissionCount", "convertedSubmissions", "attributedOrders", "grossRevenueCents")
    for window, expected in ((january, (1, 1, 0, 0)), (february, (0, 0, 1, 900))):
        rows = stage.ask(utms, window, dimension="campaign")["rows"]
        assert pick(rows, "utmSource", "utmCampaign", *names) == [("news", "spring", *expected)]


def test_refunds_and_cancellations(stage: Stage) -> None:
    def refund(name: str, amount: int) -> dict[str, object]:
        return {"refund_id": name, "created_at": "2026-03-01T00:00:00Z", "amount_cents": amount}

    stage.event("complete", "2026-01-01T00:00:00Z", customer_id="c")
    at = "2026-01-02T00:00:00Z"
    stage.order("more than all", at, 1000, refunds=[refund("a", 700), refund("b", 800)])
    stage.order("once", at, 1000, refunds=[refund("a", 300), refund("a", 300)])
    stage.order(
        "cancelled",
        at,
        1000,
        customer_id="c",
        refunds=[refund("a", 300)],
        cancelled_at="2026-02-01T00:00:00Z",
    )
    unattributed = row(stage.ask("/v1/attribution"), attributionType="unattributed")
    assert unattributed["grossRevenueCents"] == 2000
    assert unattributed["totalRefundedCents"] == 1300
    assert unattributed["shareOfRevenue"] == 100
    by_customer = row(stage.ask("/v1/attribution"), attributionType="customer")
    assert (by_customer["orders"], by_customer["netRevenueCents"]) == (1, 0)
    funnel = stage.ask(f"/v1/forms/{A}/funnel")
    assert (funnel["convertedSubmissions"], funnel["totalRefundedCents"]) == (1, 1000)


def test_the_version_that_stands(stage: Stage) -> None:
    def version(order: str, updated: str | None, total: int, **more: object) -> None:
        stage.order(order, "2026-01-01T00:00:00Z", total, updated_at=updated, **more)

    version("became a test", None, 1)
    version("became a test", "2026-01-02T00:00:00Z", 10, test=True)
    version("was a test", None, 100, test=True)
    version("was a test", "2026-01-02T00:00:00Z", 1000)
    version("older came later", "2026-01-03T00:00:00Z", 10_000)
    # Without `updated_at` it is as old as its `created_at`, which is later than that.
    stage.order("moved", "2026-01-05T00:00:00Z", 100_000)
    stage.order("moved", "2026-01-04T00:00:00Z", 1, updated_at="2026-01-04T12:00:00Z")
    total = stage.ask("/v1/attribution")
    assert sum(one["grossRevenueCents"] for one in total) == 111_000
    version("older came later", "2026-01-02T00:00:00Z", 1, test=True)
    version("was a test", "2026-01-03T00:00:00Z", 1, test="true", shop_id=SHOP)
    total = stage.ask("/v1/attribution")
    assert sum(one["grossRevenueCents"] for one in total) == 110_000
    daily = stage.ask("/v1/attribution/daily", "2026-01-05")
    assert row(daily, attributionType="unattributed")["orders"] == 1
