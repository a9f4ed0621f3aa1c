"""Rows beyond the limit are summed in one row (endpoints 12, 16, 17, 18 and 19)."""

from typing import Any

from tests.support.stage import A, B, Stage, pick, row

AT = "2026-01-01T00:00:00Z"
LATER = "2026-01-02T00:00:00Z"
OTHER = "(other)"
REVENUE = f"/v1/forms/{A}/response-revenue"
UTM = "/v1/revenue/by-utm"
ADS = "/v1/ads/spend"
LTV = "/v1/customers/ltv"


def others(stage: Stage, path: str, **query: str) -> Any:
    """`meta.otherRows`, None where it is absent."""
    meta = stage.body(path, range="2026-01-01..2026-06-30", **query)["meta"]
    return meta.get("otherRows")


def submit(stage: Stage, session: str, form_id: str = A, **answers: Any) -> None:
    for field, value in answers.items():
        kind = "multi_choice" if isinstance(value, list) else "choice"
        stage.answer(AT, session, field, value, kind)
    stage.event("subscribe", AT, session, visitor_id=session, form_id=form_id)


def answered(stage: Stage) -> None:
    """Field f: a with 100, b with 300, c and d without, and 200 of who did not answer. Field g: lists."""
    submit(stage, "1", f="a")
    submit(stage, "2", f="b")
    submit(stage, "3", f="c", g=["y", "x"])
    submit(stage, "4", f="d")
    submit(stage, "5")
    stage.order("1", LATER, 100, visitor_id="1")
    stage.order("2", LATER, 200, visitor_id="2")
    stage.order("3", LATER, 100, visitor_id="2")
    stage.order("4", LATER, 200, visitor_id="5")


def test_values_of_a_field(stage: Stage) -> None:
    answered(stage)
    assert others(stage, REVENUE) is None
    names = ("fieldId", "value", "submissions", "convertedSubmissions", "orders")
    money = ("netRevenueCents", "conversionRate", "revenuePerSubmissionCents", "multiSelect")
    whole = stage.ask(REVENUE)
    assert pick(whole, "fieldId", "value") == [
        *(("f", value) for value in ("b", None, "a", "c", "d")),
        *(("g", value) for value in (None, "x", "y")),
    ]
    stage.limit(rows=100, values=1)
    assert pick(stage.ask(REVENUE), *names, *money) == [
        ("f", "b", 1, 1, 2, 300, 100, 300, False),
        ("f", OTHER, 3, 1, 1, 100, 33.33, 33, False),
        ("f", None, 1, 1, 1, 200, 100, 200, False),
        ("g", "x", 1, 0, 0, 0, 0, 0, True),
        ("g", OTHER, 1, 0, 0, 0, 0, 0, True),
        ("g", None, 4, 3, 4, 600, 75, 150, True),
    ]
    assert others(stage, REVENUE) == 3 + 1
    # Rows of equal revenue: the first texts are shown.
    stage.limit(rows=100, values=3)
    shown = pick(stage.ask(REVENUE), "fieldId", "value")
    assert shown[:5] == [("f", value) for value in ("b", "a", "c", OTHER, None)]


def test_all_rows_of_response_revenue(stage: Stage) -> None:
    answered(stage)
    stage.limit(rows=4)
    found = stage.ask(REVENUE)
    # d, and all of g: 1 + 4 + 1 + 1 submissions, as often as they are in a row.
    assert pick(found, "fieldId", "value", "submissions", "netRevenueCents", "multiSelect") == [
        ("f", "b", 1, 300, False),
        ("f", None, 1, 200, False),
        ("f", "a", 1, 100, False),
        ("f", "c", 1, 0, False),
        (OTHER, OTHER, 7, 600, True),
    ]
    assert others(stage, REVENUE) == 4
    # The sums of some values count as the rows that they are.
    stage.limit(rows=1, values=1)
    found = stage.ask(REVENUE)
    assert pick(found, "fieldId", "submissions", "orders") == [("f", 1, 2), (OTHER, 10, 6)]
    assert others(stage, REVENUE) == 7


def test_discounts(stage: Stage) -> None:
    path = "/v1/discounts/performance"
    for session, code in (("1", "A"), ("2", "B"), ("3", "B"), ("4", "C")):
        stage.event("subscribe", AT, session, visitor_id=session, discount_code=code)
    stage.event("subscribe", AT, "5", visitor_id="5", discount_code="A")
    for order, codes in (("1", ["A"]), ("2", ["A", "B", "Z"])):
        given = [{"code": code, "amount_cents": 10} for code in codes]
        stage.order(order, LATER, discount_codes=given, visitor_id="2")
    stage.limit(rows=1)
    first, summed = stage.ask(path)
    assert (first["discountId"], first["orders"], first["issued"]) == ("A", 2, 2)
    assert summed == {
        "discountId": OTHER,
        "code": OTHER,
        "issued": 3,  # B twice, C
        "orders": 2,  # one order with B and with Z
        "attributedOrders": 2,
        "redemptionRate": 66.67,
        "discountCents": 20,
        "grossRevenueCents": 2000,
        "totalRefundedCents": 0,
        "netRevenueCents": 2000,
        "averageOrderValueCents": 1000,
    }
    assert others(stage, path) == 3  # B, Z, and the form's pool


def test_utm(stage: Stage) -> None:
    for session, source in (("1", "a"), ("2", "b"), ("3", "c"), ("4", "b")):
        utm = {"utm_source": source, "utm_medium": session}
        stage.event("subscribe", AT, session, visitor_id=session, **utm)
    stage.order("1", LATER, 900, visitor_id="1")
    stage.order("2", LATER, 500, visitor_id="2")
    stage.order("3", LATER, 300, visitor_id="3")
    stage.order("4", LATER, 100, utm_source="d")
    stage.limit(rows=1)
    first, summed = stage.ask(UTM, dimension="campaign")["rows"]
    assert (first["utmSource"], first["netRevenueCents"]) == ("a", 900)
    assert summed == {
        "utmSource": OTHER,
        "utmCampaign": OTHER,
        "submissionCount": 3,
        "convertedSubmissions": 2,
        "attributedOrders": 2,
        "attributedRevenueCents": 800,
        "conversionRate": 66.67,
        "grossRevenueCents": 800,
        "totalRefundedCents": 0,
        "netRevenueCents": 800,
    }
    assert others(stage, UTM, dimension="campaign") == 2
    stage.limit(rows=2)
    names = ("attributionType", "utmSource", "utmCampaign", "orders", "netRevenueCents")
    assert pick(stage.ask(UTM, dimension="attribution")["rows"], *names) == [
        ("visitor", "a", "", 1, 900),
        ("visitor", "b", "", 1, 500),
        (OTHER, OTHER, OTHER, 2, 400),
    ]
    texts = ("utmSource", "utmCampaign", "utmMedium", "utmTerm", "utmContent")
    last = stage.ask(UTM, dimension="hierarchy")["rows"][-1]
    assert [last[text] for text in texts] == [OTHER] * 5
    assert (last["orders"], last["netRevenueCents"]) == (2, 400)


def test_ad_spend(stage: Stage) -> None:
    for campaign, currency, spend in (
        ("a", "USD", 50),
        ("b", "USD", 20),
        ("c", "USD", 10),
        ("d", "EUR", 40),
        ("e", "EUR", "0.5"),
        ("f", "GBP", 1),
    ):
        provider = "google" if campaign == "f" else "meta"
        fields = {"currency": currency, "impressions": 2, "clicks": 1, "provider": provider}
        stage.spend("2026-01-01", campaign, spend, **fields)
        source = {"utm_source": provider, "utm_campaign": campaign}
        stage.event("subscribe", AT, campaign, visitor_id=campaign, **source)
        stage.order(campaign, LATER, 1000, visitor_id=campaign)
    stage.event("subscribe", AT, "unknown", visitor_id="unknown", utm_source="meta")
    stage.order("none", LATER, 7)
    stage.rate("2026-01-01", "USD", "EUR", 0.5)
    stage.limit(rows=1)
    answer = stage.ask(ADS)
    assert pick(answer["rows"], "provider", "campaignId", "campaignName", "currency", "spend") == [
        ("meta", "a", "Name a", "USD", 50),
        (OTHER, OTHER, OTHER, "EUR", 40.5),
        (OTHER, OTHER, OTHER, "USD", 30),
        (OTHER, OTHER, OTHER, "GBP", 1),
        ("", "", "unattributed", "", 0),
    ]
    figures = ("impressions", "attributedSubmissions", "attributedOrders", "costPerLead", "roas")
    assert pick(answer["rows"], *figures)[1:] == [
        (4, 2, 2, 20.25, 0.2469),  # 20 dollars are 10 euros
        (4, 2, 2, 15, 0.6667),
        (2, 1, 1, 1, 0),  # no rate
        (0, 0, 1, 0, 0),
    ]
    assert row(answer["rows"], currency="EUR")["revenueCurrency"] == "USD"
    # These are said of all rows, also of those that are summed.
    assert answer["attributionCoverage"] == {"google": 100, "meta": 83.33}
    assert pick(answer["unavailableProviders"], "provider", "reason") == [
        ("google", "no_exchange_rate")
    ]
    assert others(stage, ADS) == 5


def test_lifetime_value(stage: Stage) -> None:
    for customer, answer in (("1", "a"), ("2", "b"), ("3", ["c", "d"])):
        for form_id in (A, B):
            stage.event(
                "subscribe", AT, f"{customer}{form_id}", form_id=form_id, customer_id=customer
            )
        kind = "multi_choice" if isinstance(answer, list) else "choice"
        stage.answer(AT, f"{customer}{A}", "f", answer, kind)
    stage.order("1", LATER, 900, customer_id="1")
    stage.order("2", LATER, 100, customer_id="3")
    stage.order("3", "2026-02-10T00:00:00Z", 50, customer_id="3")
    stage.limit(rows=1)
    first, summed = stage.ask(LTV, dimension="segment")["rows"]
    assert (first["fieldId"], first["value"], first["netRevenueCents"]) == ("f", "a", 900)
    # Customer 3 is in the rows c and d.
    assert {name: value for name, value in summed.items() if name != "horizons"} == {
        "fieldId": OTHER,
        "value": OTHER,
        "customers": 3,
        "purchasers": 2,
        "orders": 4,
        "grossRevenueCents": 300,
        "totalRefundedCents": 0,
        "netRevenueCents": 300,
        "ltvCents": 100,
        "averageOrderValueCents": 75,
        "ordersPerCustomer": 1.33,
        "repeatRate": 100,
    }
    assert pick(summed["horizons"], "days", "customers", "netRevenueCents", "ltvCents") == [
        (30, 3, 200, 67),
        (60, 3, 300, 100),
        (90, 3, 300, 100),
        (180, 3, 300, 100),
        (365, 0, 0, 0),
    ]
    assert others(stage, LTV, dimension="segment") == 3
    rows = stage.ask(LTV, dimension="form")["rows"]
    assert pick(rows, "formId", "formName", "customers", "netRevenueCents") == [
        (A, "A form", 3, 1050),
        (OTHER, OTHER, 3, 1050),
    ]
