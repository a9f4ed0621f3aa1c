"""The dashboard in a real browser: a shop with awkward data, on all screens, without scripts."""

from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Page, expect

from tests.support.browser_steps import Service, look_at, sign_in, watched
from tests.support.people import add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop
from tests.system.browser.conftest import NewContext

SHOP = "odd.example"
FORMS = ("8f0e0000-0000-4000-8000-000000000001", "8f0e0000-0000-4000-8000-000000000002")
# 255 letters without a blank; HTML; right to left.
NAMES = ("x" * 255, '<b onclick="alert(1)">\u202e\u05d0\u05d1\u05d2</b>')
PAGES = {
    "/": "Overview",
    "/forms": "Forms",
    f"/forms/{FORMS[0]}": NAMES[0],
    f"/forms/{FORMS[1]}": NAMES[1],
    "/revenue": "Revenue",
    "/discounts": "Discounts",
    "/ads": "Ads",
    "/customers": "Customers",
}


def awkward(service: Service) -> None:
    """A shop with yen, one visitor who buys, and HTML in every text."""
    day = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
    product = Product(service.url)
    product.load("shops", [{"shop_id": SHOP, "currency": "JPY", "timezone": "Asia/Tokyo"}])
    product.load(
        "forms",
        [
            {"form_id": form_id, "shop_id": SHOP, "name": name, "status": "published"}
            for form_id, name in zip(FORMS, NAMES, strict=True)
        ],
    )
    shared = {
        "shop_id": SHOP,
        "visitor_id": "v",
        "customer_id": "c",
        "utm_source": NAMES[1],
        "utm_campaign": NAMES[0],
        "discount_code": "<CODE>",
    }
    moments: list[dict[str, Any]] = [
        {"type": "view"},
        {"type": "step_view", "step_id": "s", "step_index": 0, "step_name": NAMES[1]},
        {"type": "answer", "field_id": NAMES[1], "field_type": "choice", "value": NAMES[0]},
        {"type": "answer", "field_id": "other", "field_type": "choice", "value": "1"},
        {"type": "complete"},
    ]
    product.load(
        "events",
        [
            {
                **shared,
                **moment,
                "form_id": form_id,
                "form_session_id": f"s{form_id}",
                "event_id": f"{form_id}{number}",
                "occurred_at": (day + timedelta(seconds=number)).isoformat(),
            }
            for form_id in FORMS
            for number, moment in enumerate(moments)
        ],
    )
    order = {"order_id": "o", "created_at": (day + timedelta(hours=1)).isoformat()}
    product.load(
        "orders",
        [{**order, **shared, "total_cents": 1200, "discount_codes": [{"code": "<CODE>"}]}],
    )
    spend = {"provider": "meta", "campaign_id": "1", "campaign_name": NAMES[1], "currency": "JPY"}
    numbers = {"spend": "500", "impressions": 10, "clicks": 1, "date": str(day.date())}
    product.load("ad-spend", [{"shop_id": SHOP, **spend, **numbers}])
    product.rollup()
    product.close()
    add_member(service.engine, known_shop(service.engine, SHOP))


def test_awkward_data(page: Page, service: Service) -> None:
    awkward(service)
    with watched(page, service.base):
        sign_in(page, service, "ada@example.com")
        expect(page.get_by_role("heading", name="Overview")).to_be_attached()
        for path, heading in PAGES.items():
            page.goto(f"{service.base}{path}")
            look_at(page, heading)


def test_a_shop_without_figures(page: Page, service: Service) -> None:
    add_member(service.engine, service.shop)
    with watched(page, service.base):
        sign_in(page, service, "ada@example.com")
        expect(page.get_by_role("heading", name="No figures in these days")).to_be_visible()
        for path in ("/", "/forms", "/revenue", "/ads", "/customers"):
            page.goto(f"{service.base}{path}")
            look_at(page, PAGES[path])


def test_without_scripts(new_context: NewContext, service: Service) -> None:
    awkward(service)
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{service.base}/revenue?range=7d")
    # Signed out: the way leads back to the same view.
    page.get_by_label("E-mail address").fill("ada@example.com")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Revenue", exact=True)).to_be_visible()
    shown, compared = page.locator("details.menu > summary").all()
    expect(shown).to_have_text("Days: Last 7 days")
    shown.click()
    page.get_by_role("link", name="Last 90 days").click()
    compared.click()
    page.get_by_role("link", name="nothing").click()
    expect(page).to_have_url(f"{service.base}/revenue?range=90d&compare=none")
    page.get_by_role("link", name="Forms", exact=True).click()
    expect(shown).to_have_text("Days: Last 90 days")
    expect(compared).to_have_text("compared with nothing")
