"""Hand-computed answers of endpoint 19."""

from datetime import date

from tests.support.oracle.making import FORM, OTHER_FORM, answered, ask, order, submission, table

ANN = {"customer_id": "ann"}
BOB = {"email": "bob@mail.example"}

STORY = [
    submission("s1", "2 10:00", **ANN),
    submission("s2", "5 10:00", **ANN),
    submission("s3", "5 10:00", **BOB),
    submission("s4", "6", **BOB, form_id=OTHER_FORM),
    submission("s5", "7"),
    order("o1", "2 09:59", 1, **ANN),
    order("o2", "2 10:00", 1000, **ANN),
    order("o3", "31 10:00", 500, **ANN),
    order("o4", "31 10:01", 301, **ANN, cancelled_at="2024-04-02T00:00Z"),
    order("o5", "6", 250, **BOB),
]


def test_ltv_by_form() -> None:
    data = ask("/v1/customers/ltv", STORY, {"dimension": "form"}, today=date(2024, 4, 1))
    form, other = data["rows"]
    horizons = form.pop("horizons")
    assert form == {
        "formId": FORM,
        "formName": "Form",
        "customers": 2,
        "purchasers": 2,
        "orders": 4,
        "grossRevenueCents": 2051,
        "totalRefundedCents": 301,
        "netRevenueCents": 1750,
        "ltvCents": 875,
        "averageOrderValueCents": 513,
        "ordersPerCustomer": 2.0,
        "repeatRate": 50.0,
    }
    columns = ("formId", "formName", "customers", "netRevenueCents")
    assert table([other], *columns) == [(OTHER_FORM, None, 1, 250)]
    # Only Ann's 30 days are over (2 March + 30 = 1 April), without their last instant.
    assert horizons[0] == {"days": 30, "customers": 1, "netRevenueCents": 1500, "ltvCents": 1500}
    assert [horizon["days"] for horizon in horizons] == [30, 60, 90, 180, 365]
    assert not any(horizon["customers"] for horizon in horizons[1:])


def test_a_horizon_ends_before_its_last_instant() -> None:
    rows = [
        submission("s1", "1 10:00", **ANN),
        order("o1", "31 09:59:59", 10, **ANN),
        order("o2", "31 10:00", 100, **ANN),
    ]
    asked = {"dimension": "form"}
    [row] = ask("/v1/customers/ltv", rows, asked, today=date(2024, 3, 31))["rows"]
    assert (row["netRevenueCents"], row["horizons"][0]["netRevenueCents"]) == (110, 10)
    [row] = ask("/v1/customers/ltv", rows, asked, today=date(2024, 3, 30))["rows"]
    assert row["horizons"][0]["customers"] == 0


def test_only_customers_acquired_in_the_range_count() -> None:
    asked = {"dimension": "form", "range": "2024-03-03..2024-03-31"}
    rows = ask("/v1/customers/ltv", STORY, asked)["rows"]
    assert table(rows, "formId", "customers", "orders") == [(FORM, 1, 1), (OTHER_FORM, 1, 1)]


def test_ltv_by_segment() -> None:
    rows = [
        *STORY,
        answered("s2", "5", "colour", "red"),
        answered("s3", "5", "colour", "red"),
        {**answered("s4", "5", "colour", ["red", "blue"]), "form_id": OTHER_FORM},
        answered("s1", "5", "note", "words", "text"),
    ]
    found = ask("/v1/customers/ltv", rows, {"dimension": "segment"})["rows"]
    columns = ("fieldId", "value", "customers", "purchasers", "orders", "netRevenueCents")
    # Ann's red is of the 5th, so her first orders do not count; Bob's blue is of the 6th.
    assert table(found, *columns) == [
        ("colour", "red", 2, 2, 3, 750),
        ("colour", "blue", 1, 1, 1, 250),
    ]


def test_an_email_and_the_customer_seen_with_it_are_one() -> None:
    rows = [*STORY, order("o6", "9", 100, **BOB, customer_id="bob")]
    form = ask("/v1/customers/ltv", rows, {"dimension": "form"})["rows"][0]
    assert (form["customers"], form["netRevenueCents"], form["repeatRate"]) == (2, 1850, 100.0)
