"""`/docs` in a real browser: all endpoints, a call tried out, nothing from elsewhere."""

from playwright.sync_api import Page, expect

from tests.support.browser_steps import Service, signed_in, watched
from tests.support.people import add_member
from tests.system.browser.conftest import NewContext
from web.openapi import views as openapi

METHODS = ("get", "post", "put", "delete")


def test_the_docs_show_every_endpoint_and_try_them_out(page: Page, service: Service) -> None:
    key = service.shop.mint("analytics:read")
    with watched(page, service.base):
        page.goto(f"{service.base}/docs")
        expect(page.get_by_role("heading", level=1)).to_contain_text("formrevenue")
        paths = page.request.get(f"{service.base}{openapi.PATH}").json()["paths"]
        operations = sum(name in METHODS for path in paths.values() for name in path)
        expect(page.locator(".opblock")).to_have_count(operations)
        for path in ("/v1/forms/{id}/steps/dropoff", "/v1/customers/ltv"):
            expect(page.locator(".opblock-summary-path", has_text=path).first).to_be_visible()

        page.get_by_role("button", name="Authorize").first.click()
        page.locator("input[type=text], input[type=password]").first.fill(key)
        page.get_by_role("button", name="Apply credentials").click()
        page.get_by_role("button", name="Close").click()
        block = page.locator(".opblock").filter(has_text="/v1/attribution/daily").first
        block.click()
        expect(block.get_by_text("shareOfRevenue").first).to_be_visible()
        block.get_by_role("button", name="Try it out").click()
        block.get_by_role("button", name="Execute").click()
        expect(block.locator(".live-responses-table")).to_contain_text(service.shop.shop_id)


def test_the_docs_follow_the_reader(service: Service, new_context: NewContext) -> None:
    """They are dark for who reads in the dark, short enough for three screens (most of it are the
    filters), and ask for a form of the shop of who is signed in."""
    form_id = service.shop.form("11111111-1111-4111-8111-111111111111")
    email = add_member(service.engine, service.shop)
    page = new_context(color_scheme="dark", viewport={"width": 1280, "height": 900}).new_page()
    signed_in(page, service, email)
    page.goto(f"{service.base}/docs")
    block = page.locator(".opblock").filter(has_text="/v1/forms/{id}/trends").first
    block.click()
    expect(block.get_by_placeholder("id")).to_have_value(form_id)
    expect(page.locator("html")).to_have_class("dark-mode")
    assert block.evaluate("block => block.getBoundingClientRect().height") < 3 * 900
    expect(page.get_by_role("heading", name="Headers")).to_be_visible()


def test_the_docs_bring_their_own_policy(service: Service, page: Page) -> None:
    answer = page.goto(f"{service.base}/docs")
    assert answer
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none';")
