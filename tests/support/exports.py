"""A small story as five systems export it: Shopify, Segment, Meta, Google Ads and the ECB.

Ada sees the form from an ad on Facebook on 1 March and subscribes with a code, which she uses two days
later. Tim comes from Google on the 2nd, completes the form and orders. Another visitor leaves at the
first step. Ada comes back once, and orders as a guest what she cancels.
"""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

Record = dict[str, Any]

FORM = "aaaaaaaa-0000-4000-8000-000000000000"
FACEBOOK = {"source": "facebook", "medium": "paid_social", "name": "spring", "id": "100"}
GOOGLE = {"source": "google", "medium": "cpc", "name": "brand", "id": "200"}
DESKTOP = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/143.0 Safari/537.36"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile/15E148 Safari"


def segment(path: Path) -> Path:
    """Calls, one a line, compressed; two of them are not about the form."""
    calls = [
        _call("Form Viewed", "01T10:00:00", "s1"),
        _call("Form Started", "01T10:00:05", "s1"),
        _step("Viewed", "01T10:00:05", "s1", 0),
        _answer("01T10:00:10", "s1", "skin", "dry"),
        _step("Completed", "01T10:00:10", "s1", 0),
        _step("Viewed", "01T10:00:10", "s1", 1),
        _answer("01T10:00:15", "s1", "goal", "glow"),
        _call(
            "Form Subscribed", "01T10:00:20", "s1", email="Ada@mail.example", discount_code="glow-1"
        ),
        _step("Completed", "01T10:00:20", "s1", 1),
        _call("Form Completed", "01T10:00:25", "s1"),
        _call("Form Viewed", "01T11:00:00", "s2"),
        _call("Form Started", "01T11:00:05", "s2"),
        _step("Viewed", "01T11:00:05", "s2", 0),
        _call("Form Viewed", "02T09:00:00", "s3"),
        _call("Form Started", "02T09:00:05", "s3"),
        _step("Viewed", "02T09:00:05", "s3", 0),
        _answer("02T09:00:10", "s3", "skin", "oily"),
        _step("Completed", "02T09:00:15", "s3", 0),
        _step("Viewed", "02T09:00:15", "s3", 1),
        _answer("02T09:00:20", "s3", "goal", "glow"),
        _step("Completed", "02T09:00:30", "s3", 1),
        _call("Form Completed", "02T09:00:35", "s3") | {"userId": "77"},
        _call("Form Viewed", "02T12:00:00", "s4"),
        _call("Product Viewed", "02T12:01:00", "s4"),
        {"type": "identify", "messageId": "i", "anonymousId": "v1", "traits": {"name": "Ada"}},
    ]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, calls)).encode()))
    return path


_OF_SESSION = {
    "s1": ("v1", DESKTOP, FACEBOOK),
    "s2": ("v2", PHONE, GOOGLE),
    "s3": ("v3", PHONE, GOOGLE),
    "s4": ("v1", DESKTOP, {}),
}


def _call(event: str, at: str, session: str, **properties: Any) -> Record:
    visitor, agent, campaign = _OF_SESSION[session]
    place = properties.get("step_index", "")
    return {
        "type": "track",
        "event": event,
        "messageId": f"{session} {event} {at} {place}",
        "anonymousId": visitor,
        "timestamp": f"2026-03-{at}.000Z",
        "context": {"ip": "203.0.113.7", "userAgent": agent, "campaign": campaign},
        "properties": {"form_id": FORM, "form_session_id": session, **properties},
    }


def _step(what: str, at: str, session: str, index: int) -> Record:
    step = {"step_id": f"step-{index}", "step_index": index, "step_name": ("Skin", "Mail")[index]}
    return _call(f"Form Step {what}", at, session, **step)


def _answer(at: str, session: str, field: str, value: str) -> Record:
    answer = {"field_id": field, "field_type": "choice", "value": value}
    return _call("Form Question Answered", at, session, **answer)


def shopify(path: Path) -> Path:
    """Orders as the REST API answers: four that count, a test, and one in another currency."""
    refund = {
        "id": 900,
        "created_at": "2026-03-20T10:00:00Z",
        "transactions": [
            {"kind": "refund", "status": "success", "amount": "25.50", "currency": "EUR"}
        ],
    }
    orders = [
        _order(1, "03T10:00:00Z", "100.00", email="ada@mail.example", customer={"id": 55})
        | {
            "total_discounts": "10.00",
            "discount_codes": [{"code": "GLOW-1", "amount": "10.00", "type": "fixed_amount"}],
            "refunds": [refund],
            "landing_site": "/?utm_source=newsletter",
        },
        _order(2, "03T12:00:00+01:00", "60.00", customer={"id": 77}),
        _order(3, "04T10:00:00Z", "40.00", cancelled_at="2026-03-05T10:00:00Z")
        | {"note_attributes": [{"name": "_visitor_id", "value": "v1"}]},
        _order(4, "05T10:00:00Z", "20.00")
        | {"landing_site": "/?utm_source=google&utm_medium=cpc&utm_campaign=brand&utm_id=200"},
        _order(5, "05T11:00:00Z", "1000.00", test=True),
        _order(6, "05T12:00:00Z", "1000.00", currency="USD"),
    ]
    path.write_text(json.dumps({"orders": orders}, indent=2))
    return path


def _order(number: int, at: str, total: str, **more: Any) -> Record:
    order = {
        "id": number,
        "created_at": f"2026-03-{at}",
        "updated_at": "2026-03-21T00:00:00Z",
        "currency": "EUR",
        "total_price": total,
        "total_discounts": "0.00",
        "billing_address": {"name": "Ada Byron", "phone": "+44 20 7946 0958"},
    }
    return order | more


def meta(path: Path, spend: str) -> Path:
    """Two ads of a campaign on one day; the first one's spend is as it is given."""
    ads = [_ad("7", spend, "1000", "10"), _ad("8", "5.15", "500", "5")]
    path.write_text(json.dumps({"data": ads, "paging": {"cursors": {"before": "a", "after": "b"}}}))
    return path


def _ad(ad_id: str, spend: str, impressions: str, clicks: str) -> Record:
    return {
        "account_id": "1",
        "account_currency": "USD",
        "campaign_id": "100",
        "campaign_name": "spring",
        "adset_id": "10",
        "ad_id": ad_id,
        "spend": spend,
        "impressions": impressions,
        "clicks": clicks,
        "date_start": "2026-03-01",
        "date_stop": "2026-03-01",
    }


def google(path: Path) -> Path:
    """A campaign by device, as `searchStream` answers."""
    rows = [
        {
            "customer": {"resourceName": "customers/2", "id": "2", "currencyCode": "EUR"},
            "campaign": {"resourceName": "customers/2/campaigns/200", "id": "200", "name": "brand"},
            "segments": {"date": "2026-03-01", "device": device},
            "metrics": {"costMicros": micros, "impressions": impressions, "clicks": clicks},
        }
        for device, micros, impressions, clicks in (
            ("MOBILE", "8000000", "300", "20"),
            ("DESKTOP", "2000000", "100", "5"),
        )
    ]
    path.write_text(json.dumps([{"results": rows[:1]}, {"results": rows[1:]}]))
    return path


def ecb(path: Path) -> Path:
    """The archive of all rates, as it is published."""
    table = "Date,USD,JPY,CYP,\n2026-03-04,1.3,170.1,N/A,\n2026-03-03,1.25,169,N/A,\n2026-02-27,1.1,,N/A,\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("eurofxref-hist.csv", table)
    return path
