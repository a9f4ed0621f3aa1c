"""Hand-computed answers of endpoints 14 to 17, and 26."""

from tests.support.oracle.making import (
    FORM,
    OTHER_FORM,
    ask,
    event,
    march,
    order,
    submission,
    table,
)

MONEY = ("orders", "grossRevenueCents", "totalRefundedCents", "netRevenueCents")

ORDERS = [
    submission("s1", "1", discount_code="TEN", utm_source="a", utm_campaign="x"),
    submission("s2", "1", customer_id="c"),
    order("o1", "2", 1000, discount_codes=[{"code": "ten"}], utm_source="own"),
    order("o2", "2", 2000, customer_id="c", cancelled_at=march("3"), utm_source="a"),
    order("o3", "3", 3001, visitor_id="visitor of s2", utm_source="b", utm_medium="m"),
    order("o4", "3", 1000),
    order("o5", "3", 9999, test=True),
]


def test_attribution() -> None:
    rows = ask("/v1/attribution", ORDERS)
    columns = ("attributionType", *MONEY, "averageOrderValueCents", "shareOfRevenue")
    assert table(rows, *columns) == [
        ("discount_code", 1, 1000, 0, 1000, 1000, 20.0),
        ("customer", 1, 2000, 2000, 0, 2000, 0.0),
        ("visitor", 1, 3001, 0, 3001, 3001, 60.01),
        ("unattributed", 1, 1000, 0, 1000, 1000, 20.0),
    ]


def test_attribution_without_orders_has_its_four_rows() -> None:
    rows = ask("/v1/attribution", [])
    assert [row.pop("attributionType") for row in rows] == [
        "discount_code",
        "customer",
        "visitor",
        "unattributed",
    ]
    assert not any(any(row.values()) for row in rows)


def test_attribution_daily() -> None:
    rows = ask("/v1/attribution/daily", ORDERS, {"range": "2024-03-02..2024-03-03"})
    columns = ("date", "attributionType", "orders", "netRevenueCents", "shareOfRevenue")
    assert table(rows, *columns) == [
        ("2024-03-02", "discount_code", 1, 1000, 100.0),
        ("2024-03-02", "customer", 1, 0, 0.0),
        ("2024-03-02", "visitor", 0, 0, 0.0),
        ("2024-03-02", "unattributed", 0, 0, 0.0),
        ("2024-03-03", "discount_code", 0, 0, 0.0),
        ("2024-03-03", "customer", 0, 0, 0.0),
        ("2024-03-03", "visitor", 1, 3001, 75.01),
        ("2024-03-03", "unattributed", 1, 1000, 24.99),
    ]


def test_discounts() -> None:
    rows = [
        # SHARED has no id and went to two submissions: it is its own discount.
        submission("s1", "1", discount_code="shared"),
        submission("s2", "1", discount_code="Shared"),
        # Two single-use codes of the form's pool.
        submission("s3", "1", discount_code="once-1"),
        submission("s4", "1", discount_code="once-2"),
        # NAMED has two ids; the greater counts, wherever it was seen. d3 comes without a code.
        submission("s5", "1", discount_code="named", discount_id="d1"),
        event("e1", "view", "1", "s6", discount_code="named", discount_id="d2"),
        submission("s7", "1", discount_id="d3"),
        order("o1", "2", 1000, discount_cents=100, discount_codes=[{"code": "once-1"}]),
        order(
            "o2",
            "2",
            2001,
            discount_codes=[
                {"code": "shared", "amount_cents": 10},
                {"code": "once-2", "amount_cents": 20},
                {"code": "ONCE-1", "amount_cents": 5},
            ],
        ),
        order("o3", "3", 50, discount_codes=[{"code": "unseen"}], cancelled_at=march("4")),
    ]
    found = ask("/v1/discounts/performance", rows)
    columns = ("discountId", "code", "issued", "orders", "attributedOrders", "discountCents")
    assert table(found, *columns) == [
        (f"form:{FORM}", None, 2, 2, 2, 125),
        ("SHARED", "SHARED", 2, 1, 1, 10),
        ("UNSEEN", "UNSEEN", 0, 1, 0, 0),
        ("d2", "NAMED", 1, 0, 0, 0),
        ("d3", None, 1, 0, 0, 0),
    ]
    rates = ("redemptionRate", *MONEY[1:], "averageOrderValueCents")
    assert table(found, *rates) == [
        (100.0, 3001, 0, 3001, 1501),
        (50.0, 2001, 0, 2001, 2001),
        (0.0, 50, 50, 0, 50),
        (0.0, 0, 0, 0, 0),
        (0.0, 0, 0, 0, 0),
    ]


def test_revenue_by_campaign() -> None:
    data = ask("/v1/revenue/by-utm", ORDERS, {"dimension": "campaign"})
    assert data["dimension"] == "campaign"
    assert data["rows"] == [
        {
            "utmSource": "b",
            "utmCampaign": "",
            "submissionCount": 0,
            "convertedSubmissions": 0,
            "attributedOrders": 1,
            "attributedRevenueCents": 3001,
            "conversionRate": 0.0,
            "grossRevenueCents": 3001,
            "totalRefundedCents": 0,
            "netRevenueCents": 3001,
        },
        {
            "utmSource": "a",
            "utmCampaign": "x",
            "submissionCount": 1,
            "convertedSubmissions": 1,
            "attributedOrders": 1,
            "attributedRevenueCents": 1000,
            "conversionRate": 100.0,
            "grossRevenueCents": 1000,
            "totalRefundedCents": 0,
            "netRevenueCents": 1000,
        },
        {
            "utmSource": "",
            "utmCampaign": "",
            "submissionCount": 1,
            "convertedSubmissions": 1,
            "attributedOrders": 0,
            "attributedRevenueCents": 0,
            "conversionRate": 100.0,
            "grossRevenueCents": 0,
            "totalRefundedCents": 0,
            "netRevenueCents": 0,
        },
        {
            "utmSource": "a",
            "utmCampaign": "",
            "submissionCount": 0,
            "convertedSubmissions": 0,
            "attributedOrders": 1,
            "attributedRevenueCents": 2000,
            "conversionRate": 0.0,
            "grossRevenueCents": 2000,
            "totalRefundedCents": 2000,
            "netRevenueCents": 0,
        },
    ]


def test_revenue_by_attribution_type_and_utm() -> None:
    rows = ask("/v1/revenue/by-utm", ORDERS, {"dimension": "attribution"})["rows"]
    columns = ("attributionType", "utmSource", "utmCampaign", *MONEY)
    assert table(rows, *columns) == [
        ("visitor", "b", "", 1, 3001, 0, 3001),
        ("discount_code", "a", "x", 1, 1000, 0, 1000),
        ("unattributed", "", "", 1, 1000, 0, 1000),
        ("customer", "a", "", 1, 2000, 2000, 0),
    ]


def test_revenue_by_hierarchy() -> None:
    rows = ask("/v1/revenue/by-utm", ORDERS, {"dimension": "hierarchy"})["rows"]
    columns = ("utmSource", "utmCampaign", "utmMedium", "utmTerm", "utmContent", *MONEY)
    assert table(rows, *columns) == [
        ("b", "", "m", "", "", 1, 3001, 0, 3001),
        ("", "", "", "", "", 1, 1000, 0, 1000),
        ("a", "x", "", "", "", 1, 1000, 0, 1000),
        ("a", "", "", "", "", 1, 2000, 2000, 0),
    ]


def test_revenue_by_form() -> None:
    rows = [
        event("v1", "view", "1", "s1"),
        event("v2", "view", "1", "s2"),
        submission("s1", "1 10:00"),
        submission("s3", "4 10:00", form_id=OTHER_FORM),
        order("o1", "2", 900, visitor_id="visitor of s1"),
        order("o2", "5", 100, visitor_id="visitor of s1", cancelled_at=march("6")),
        order("o3", "5", 2000, visitor_id="visitor of s3"),
        order("o4", "5", 77),
    ]
    columns = ("formId", "formName", "views", "submissions", "convertedSubmissions", *MONEY)
    whole = ask("/v1/revenue/by-form", rows)
    assert table(whole, *columns) == [
        (OTHER_FORM, None, 0, 1, 1, 1, 2000, 0, 2000),
        (FORM, "Form", 2, 1, 1, 2, 1000, 100, 900),
    ]
    rates = ("submissionRate", "conversionRate", "revenuePerSubmissionCents")
    assert table(whole, *rates, "fromEarlierSubmissions") == [
        (0.0, 100.0, 2000, None),
        (50.0, 100.0, 900, None),
    ]
    ordered = ask(
        "/v1/revenue/by-form", rows, {"clock": "order", "range": "2024-03-04..2024-03-05"}
    )
    assert table(ordered, *columns) == [
        (OTHER_FORM, None, 0, 1, 1, 1, 2000, 0, 2000),
        (FORM, "Form", 0, 0, 0, 1, 100, 100, 0),
        (None, None, 0, 0, 0, 1, 77, 0, 77),
    ]
    earlier = [(row["fromEarlierSubmissions"], row["revenuePerSubmissionCents"]) for row in ordered]
    assert earlier == [
        ({"orders": 0, "netRevenueCents": 0}, 2000),
        ({"orders": 1, "netRevenueCents": 0}, 0),
        ({"orders": 0, "netRevenueCents": 0}, 0),
    ]
