"""Customer keys (contract 1), seen through attribution, and lifetime value (endpoint 19)."""

from hashlib import sha256

from tests.support.stage import A, B, Stage, pick

MAIL = "ann@example.com"
LTV = "/v1/customers/ltv"


def credited(stage: Stage) -> int:
    return stage.ask(f"/v1/forms/{A}/funnel")["orders"]


def test_an_email_is_the_customer_last_seen_with_it(stage: Stage) -> None:
    stage.event("subscribe", "2026-01-10T00:00:00Z", email=f" {MAIL.upper()} ")
    # Seen together before the submission, on an event of another form.
    stage.event(
        "view", "2026-01-01T00:00:00Z", "x", form_id=B, visitor_id="x", customer_id="c1", email=MAIL
    )
    stage.order("1", "2026-01-11T00:00:00Z", customer_id="c1")
    assert credited(stage) == 1
    # Seen later with another one, on an order: the submission is that one's now.
    stage.order("2", "2026-03-01T00:00:00Z", customer_id="c2", email=MAIL)
    assert credited(stage) == 0
    stage.order("3", "2026-01-12T00:00:00Z", customer_id="c2")
    assert credited(stage) == 1
    # That order's standing version names a third one; then it turns out to be a test.
    stage.order(
        "2", "2026-03-01T00:00:00Z", customer_id="c3", email=MAIL, updated_at="2026-03-02T00:00:00Z"
    )
    assert credited(stage) == 0
    stage.order(
        "2",
        "2026-03-01T00:00:00Z",
        customer_id="c3",
        email_sha256=sha256(MAIL.encode()).hexdigest().upper(),
        updated_at="2026-03-03T00:00:00Z",
        test=True,
    )
    assert credited(stage) == 1  # c1 again


def test_of_customers_seen_at_once_the_greater(stage: Stage) -> None:
    stage.event("subscribe", "2026-01-10T00:00:00Z", email=MAIL)
    stage.event("view", "2026-01-05T00:00:00Z", "x", visitor_id="x", customer_id="c9", email=MAIL)
    stage.order("0", "2026-01-05T00:00:00Z", customer_id="c10", email=MAIL)
    stage.order("1", "2026-01-11T00:00:00Z", customer_id="c9")
    stage.order("2", "2026-01-11T00:00:00Z", customer_id="c10")
    assert credited(stage) == 1


def test_together_means_on_one_event(stage: Stage) -> None:
    stage.event("view", "2026-01-01T00:00:00Z", "both", customer_id="c")
    stage.event("subscribe", "2026-01-01T00:00:01Z", "both", email=MAIL)
    stage.event("subscribe", "2026-01-02T00:00:00Z", "mail", visitor_id="w", email=MAIL)
    stage.order("1", "2026-01-03T00:00:00Z", customer_id="c")
    stage.order("2", "2026-01-03T00:00:00Z", email=MAIL)
    assert stage.ask(LTV, dimension="form")["rows"][0]["customers"] == 2
    assert stage.ask(f"/v1/forms/{A}/funnel")["convertedSubmissions"] == 2


def test_a_sessions_customer_is_its_latest(stage: Stage) -> None:
    stage.event("complete", "2026-01-01T00:00:05Z", customer_id="c5")
    stage.event("view", "2026-01-01T00:00:05Z", customer_id="c1")  # the greater event id
    stage.event("view", "2026-01-01T00:00:04Z", customer_id="c9")
    for customer in ("c5", "c9"):
        stage.order(customer, "2026-01-02T00:00:00Z", customer_id=customer)
    assert credited(stage) == 0
    stage.order("c1", "2026-01-02T00:00:00Z", customer_id="c1")
    assert credited(stage) == 1


def test_horizons(stage: Stage) -> None:
    # Today is 30 June: 31 May is the last day of acquisition that is 30 days old.
    stage.event("subscribe", "2026-05-31T10:00:00Z", "old", customer_id="c1")
    stage.event("subscribe", "2026-06-01T00:00:00Z", "young", visitor_id="w", email=MAIL)
    orders = (
        ("2026-05-31T09:59:59.999999Z", 1),  # before the submission
        ("2026-05-31T10:00:00Z", 10),
        ("2026-06-30T09:59:59.999999Z", 100),
        ("2026-06-30T10:00:00Z", 1000),  # 30 x 24 hours later
    )
    for at, total in orders:
        stage.order(at, at, total, customer_id="c1")
    stage.order("young", "2026-06-02T00:00:00Z", 7, email=MAIL, visitor_id="somebody")
    answer = stage.ask(LTV, dimension="form")
    assert answer["dimension"] == "form"
    (found,) = answer["rows"]
    assert found.pop("horizons") == [
        {"days": 30, "customers": 1, "netRevenueCents": 110, "ltvCents": 110},
        {"days": 60, "customers": 0, "netRevenueCents": 0, "ltvCents": 0},
        {"days": 90, "customers": 0, "netRevenueCents": 0, "ltvCents": 0},
        {"days": 180, "customers": 0, "netRevenueCents": 0, "ltvCents": 0},
        {"days": 365, "customers": 0, "netRevenueCents": 0, "ltvCents": 0},
    ]
    assert found == {
        "formId": A,
        "formName": "A form",
        "customers": 2,
        "purchasers": 2,
        "orders": 4,
        "grossRevenueCents": 1117,
        "totalRefundedCents": 0,
        "netRevenueCents": 1117,
        "ltvCents": 559,  # 558.5
        "averageOrderValueCents": 279,  # 279.25
        "ordersPerCustomer": 2,
        "repeatRate": 50,
    }


def test_an_order_is_a_repeated_one_among_later_ones_of_others(stage: Stage) -> None:
    stage.event("subscribe", "2026-01-01T00:00:00Z", customer_id="c")
    # Long after the submission: it is credited to none.
    stage.order("1", "2026-03-01T00:00:00Z", customer_id="c")
    for day in (1, 2):
        stage.order(f"other {day}", f"2026-05-0{day}T00:00:00Z", customer_id="other")
    assert pick(stage.ask(LTV, dimension="form")["rows"], "orders", "repeatRate") == [(1, 0)]
    stage.order("2", "2026-03-02T00:00:00Z", customer_id="c")
    assert pick(stage.ask(LTV, dimension="form")["rows"], "orders", "repeatRate") == [(2, 100)]


def test_acquired_once_per_form_and_per_answer(stage: Stage) -> None:
    for at, session, form, value in (
        ("2026-01-01T00:00:00Z", "s1", A, "red"),
        ("2026-02-01T00:00:00Z", "s2", A, "blue"),
        ("2026-03-01T00:00:00Z", "s3", B, "red"),
    ):
        who = {"form_id": form, "customer_id": "c"}
        stage.event(
            "answer", at, session, field_id="colour", field_type="choice", value=value, **who
        )
        stage.event("complete", at, session, **who)
    stage.event("complete", "2026-01-01T00:00:00Z", "nobody", visitor_id="w")
    for order, at, total in (
        ("1", "2026-01-15", 1),
        ("2", "2026-02-15", 10),
        ("3", "2026-03-15", 100),
    ):
        stage.order(order, f"{at}T00:00:00Z", total, customer_id="c", visitor_id="w")
    names = ("customers", "orders", "netRevenueCents", "repeatRate")
    assert pick(stage.ask(LTV, dimension="form")["rows"], "formId", *names) == [
        (A, 1, 3, 111, 100),
        (B, 1, 1, 100, 0),
    ]
    assert pick(stage.ask(LTV, dimension="segment")["rows"], "fieldId", "value", *names) == [
        ("colour", "red", 1, 3, 111, 100),
        ("colour", "blue", 1, 2, 110, 100),
    ]
    # Acquired by form A and by "red" before February, whatever came later.
    later = "2026-02-01..2026-06-30"
    assert pick(stage.ask(LTV, later, dimension="form")["rows"], "formId") == [(B,)]
    assert pick(stage.ask(LTV, later, dimension="segment")["rows"], "value") == [("blue",)]
