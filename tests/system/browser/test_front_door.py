"""The ways in, and the pages of what goes wrong, in a real browser."""

import re

from playwright.sync_api import Page, expect
from sqlalchemy import text

from tests.support.browser_steps import (
    ALL_LOOKS,
    Service,
    look_at,
    sign_in,
    signed_in,
    watched,
)
from tests.support.commands import run_web
from tests.support.people import add_member
from tests.support.serving import served
from tests.support.shop_builder import ShopBuilder
from tests.system.browser.conftest import NewContext
from warehouse.connections.engine import open_engine

ADA, BEA = "ada@example.com", "bea@example.com"


def new_link(service: Service, email: str) -> str:
    """As the operator makes it."""
    whose = ("--shop", service.shop.shop_id, "--email", email)
    made = run_web(service.url, "members", "sign-in-link", *whose)
    return re.sub(r"^http://[^/]+", service.base, made.output.splitlines()[-1])


def test_a_link_signs_in_once(new_context: NewContext, service: Service) -> None:
    for email in (ADA, BEA):
        add_member(service.engine, service.shop, email, password=False)
    first = new_link(service, ADA)
    page, other = (new_context().new_page() for _ in range(2))
    with watched(page, service.base):
        for _ in range(2):  # a look does not use it up
            page.goto(first)
            look_at(page, "Sign in", f"signs in {ADA}", ALL_LOOKS)
        page.get_by_label("Keep me signed in on this device").check()
        page.get_by_role("button", name=f"Continue as {ADA}").click()
        expect(page).to_have_url(f"{service.base}/")
        look_at(page, "Overview", looks=ALL_LOOKS)
    # The cookie of a sign-in that is to stay outlives the browser.
    assert next(one for one in page.context.cookies() if one["name"] == "member")["expires"] > 0
    with watched(other, service.base):
        other.goto(first)
        look_at(other, "Not found", "was used before", ALL_LOOKS)
        other.get_by_role("link", name="Go to the sign-in").click()
        look_at(other, "Sign in", "which of its forms bring revenue", ALL_LOOKS)
    # Somebody else's link asks.
    with watched(page, service.base):
        second = new_link(service, BEA)
        page.goto(second)
        look_at(page, "Change the account?", ADA, ALL_LOOKS)
        page.get_by_role("link", name="Stay signed in").click()
        expect(page.get_by_role("banner")).to_contain_text(ADA)
        page.goto(second)
        page.get_by_role("button", name=f"Continue as {BEA}").click()
        expect(page).to_have_url(f"{service.base}/")
        expect(page.get_by_role("banner")).to_contain_text(BEA)


def test_a_warehouse_that_does_not_answer(new_context: NewContext, postgres_url: str) -> None:
    """The page says so and comes back by itself, at the same address; without scripts, too."""
    engine = open_engine(postgres_url)
    shop = ShopBuilder(engine)
    add_member(engine, shop)
    with served(postgres_url) as (_, port):
        service = Service(f"http://127.0.0.1:{port}", port, postgres_url, engine, shop)
        pages = [new_context(java_script_enabled=on).new_page() for on in (True, False)]
        for page in pages:
            sign_in(page, service, ADA)
            expect(page.get_by_role("heading", name="Overview")).to_be_attached()
        view = f"{service.base}/revenue?range=90d&compare=none"
        with engine.connect() as holder:
            holder.execute(text("LOCK TABLE sign_in IN ACCESS EXCLUSIVE MODE"))
            for page in pages:
                page.goto(view)
                expect(page.get_by_role("heading", level=1)).to_have_text("Not available right now")
                expect(page).to_have_url(view)
                picture = page.get_by_role("banner").locator("img")
                expect(picture).to_have_js_property("complete", True)
                expect(picture).not_to_have_js_property("naturalWidth", 0)
        for page in pages:
            expect(page.get_by_role("heading", level=1)).to_have_text("Revenue")
            expect(page).to_have_url(view)
    engine.dispose()


def test_another_shop_is_entered_on_the_same_page(page: Page, service: Service) -> None:
    other = ShopBuilder(service.engine, "other.myshopify.com")
    for shop in (service.shop, other):
        add_member(service.engine, shop, password=shop is other)
    with watched(page, service.base):
        signed_in(page, service, ADA)
        page.goto(f"{service.base}/revenue?range=90d&compare=year")
        here = page.get_by_label("Shop").input_value()
        there = next(shop.shop_id for shop in (service.shop, other) if shop.shop_id != here)
        page.get_by_label("Shop").select_option(there)
        page.get_by_role("button", name="Switch").click()
        expect(page).to_have_url(f"{service.base}/revenue?range=90d&compare=year")
        expect(page.get_by_label("Shop")).to_have_value(there)
