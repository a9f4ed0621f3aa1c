"""The oracle credits orders, and knows customers and campaigns, as sections 1 and 3 say."""

from typing import Any

import pytest

from tests.support.oracle import Oracle
from tests.support.oracle.campaigns import campaign_of
from tests.support.oracle.making import SHOP, event, order, spend, submission
from tests.support.oracle.records import Row, utm_of
from tests.support.oracle.state import State


def state_of(*rows: Row) -> State:
    records = {
        "shops": [{"shop_id": SHOP, "currency": "EUR"}],
        "events": [row for row in rows if "event_id" in row],
        "orders": [row for row in rows if "order_id" in row],
        "ad-spend": [row for row in rows if "spend" in row],
    }
    return Oracle(records).state(SHOP)


def credited(*rows: Row) -> tuple[str, str | None]:
    """Type and session id of the only order's credit."""
    [credit] = state_of(*rows).credits.values()
    return credit.type, credit.session.id if credit.session else None


def code(text: str) -> dict[str, Any]:
    return {"discount_codes": [{"code": text}]}


def test_the_window_is_thirty_times_24_hours_with_both_ends() -> None:
    sent = submission("s1", "1 10:00", visitor_id="v")
    assert credited(sent, order("o", "1 10:00", 1, visitor_id="v")) == ("visitor", "s1")
    assert credited(sent, order("o", "1 09:59:59", 1, visitor_id="v"))[0] == "unattributed"
    assert credited(sent, order("o", "31 10:00", 1, visitor_id="v")) == ("visitor", "s1")
    assert credited(sent, order("o", "31 10:00:01", 1, visitor_id="v"))[0] == "unattributed"


def test_a_code_comes_before_the_customer_and_the_customer_before_the_visitor() -> None:
    rows = [
        submission("s1", "1", discount_code="Ab"),
        submission("s2", "2", customer_id="c"),
        submission("s3", "3", visitor_id="v"),
    ]
    who = {"customer_id": "c", "visitor_id": "v"}
    assert credited(*rows, order("o", "4", 1, **who, **code("aB"))) == ("discount_code", "s1")
    assert credited(*rows, order("o", "4", 1, **who)) == ("customer", "s2")
    assert credited(*rows, order("o", "4", 1, visitor_id="v")) == ("visitor", "s3")
    assert credited(*rows, order("o", "4", 1)) == ("unattributed", None)


def test_a_shared_code_credits_the_buyers_own_submission_first() -> None:
    rows = [
        submission("s1", "1", discount_code="X", customer_id="c"),
        submission("s2", "2", discount_code="X", visitor_id="v"),
        submission("s3", "3", discount_code="X"),
        submission("s4", "3", discount_code="X"),
    ]
    who = {"customer_id": "c", "visitor_id": "v"}
    assert credited(*rows, order("o", "4", 1, **who, **code("x")))[1] == "s1"
    assert credited(*rows, order("o", "4", 1, visitor_id="v", **code("x")))[1] == "s2"
    assert credited(*rows, order("o", "4", 1, **code("x")))[1] == "s4"  # a tie: the greater id


def test_a_session_that_was_not_submitted_is_no_candidate() -> None:
    shown = event("e1", "view", "1", discount_code="X", visitor_id="v", customer_id="c")
    who = {"customer_id": "c", "visitor_id": "v"}
    assert credited(shown, order("o", "2", 1, **who, **code("X"))) == ("unattributed", None)


def test_an_email_stands_for_the_customer_last_seen_with_it() -> None:
    mail = {"email": "a@b.example"}
    rows = [
        event("e1", "view", "1", "s0", **mail, customer_id="c1"),
        order("o1", "2", 1, **mail, customer_id="c3", test=True),
        order("o2", "2", 1, **mail, customer_id="c2"),
        submission("s1", "3", email=" A@B.example"),
        order("o3", "4", 1, customer_id="c2"),
    ]
    state = state_of(*rows)
    credit = state.credits["o3"]
    assert (credit.type, credit.session and credit.session.id) == ("customer", "s1")
    assert state.customer(state.submissions[0]) == "c2"


def test_the_effective_utm_is_the_submissions_where_it_has_any() -> None:
    rows = [
        submission("s1", "1", visitor_id="v1", utm_medium="m"),
        submission("s2", "1", visitor_id="v2"),
        order("o1", "2", 1, visitor_id="v1", utm_source="own"),
        order("o2", "2", 1, visitor_id="v2", utm_source="own"),
    ]
    state = state_of(*rows)
    utms = [state.utm(found) for found in state.orders]
    assert utms == [("", "m", "", "", "", ""), ("own", "", "", "", "", "")]


@pytest.mark.parametrize(
    ("utm", "campaign"),
    [
        ({"utm_source": "FB", "utm_id": "20", "utm_campaign": "10"}, ("meta", "20")),
        ({"utm_source": "ig", "utm_id": "99", "utm_campaign": "10"}, ("meta", "10")),
        ({"utm_source": "meta", "utm_campaign": "SALE"}, ("meta", "10")),
        ({"utm_source": "meta", "utm_campaign": "before"}, ("meta", "20")),
        ({"utm_source": "youtube", "utm_campaign": "sale"}, ("google", "30")),
        ({"utm_source": "Letters", "utm_id": "1"}, ("letters", "1")),
        ({"utm_source": "meta", "utm_id": "30"}, None),
        ({"utm_source": "", "utm_id": "20"}, None),
        ({"utm_source": "facebook"}, None),
    ],
)
def test_the_ad_campaign_of_a_utm(utm: dict[str, str], campaign: tuple[str, str] | None) -> None:

    state = state_of(
        spend("Meta", "20", 1, 1, campaign_name="Before"),
        spend("meta", "20", 2, 1, campaign_name="Sale"),
        spend("meta", "10", 2, 1, campaign_name="Sale"),
        spend("google", "30", 2, 1, campaign_name="Sale"),
        spend("letters", "1", 2, 1),
    )
    assert campaign_of(utm_of(utm), state.spend) == campaign
