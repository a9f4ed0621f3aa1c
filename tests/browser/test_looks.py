"""How the pages look and sound: axe, widths, colour schemes, keyboard, nothing from elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import NewContext, Service
from tests.browser.steps import PASSWORD, mint, set_password, sign_in, signed_in
from tests.web.builders import ShopBuilder
from tests.web.members.people import add_member, new_link
from web.app import wall_clock

# Phone and desktop, light and dark: contrast follows the scheme, order and sizes the width.
LOOKS: tuple[tuple[ViewportSize, Literal["light", "dark"]], ...] = (
    ({"width": 390, "height": 844}, "light"),
    ({"width": 1280, "height": 800}, "dark"),
)


def look_at(page: Page, heading: str, text: str = "") -> None:
    """The page with this heading and text: no violation, and nothing wider than the screen."""
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    expect(page.get_by_role("main")).to_contain_text(text)
    page.wait_for_load_state()
    name = (heading, text)
    for size, scheme in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        seen = [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]
        assert seen == [], (name, size, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], (name, size)
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, name


@contextmanager
def watched(page: Page, base: str) -> Iterator[None]:
    """Nothing is asked of another host, and the browser has nothing to complain of (the policy
    would be broken, say)."""
    asked: set[str] = set()
    said: list[str] = []
    page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield
    assert asked == {urlsplit(base).netloc}
    # Chromium notes the status of pages that refuse.
    assert [text for text in said if "responded with a status of 4" not in text] == []


def test_every_page(page: Page, plain_service: Service) -> None:
    service = plain_service
    other = ShopBuilder(service.engine, "a-much-longer-name-of-a-shop.myshopify.com")
    email = "a.rather.long.name.of.a.person@department.example.com"
    add_member(service.engine, service.shop, email, ["connections:manage", "forms:edit"])
    add_member(service.engine, other, email, [])
    wide = "W" * 100
    with watched(page, service.base):
        page.goto(f"{service.base}{new_link(service.engine, email, wall_clock())}")
        look_at(page, "Set your password")
        set_password(page, "short")
        look_at(page, "Set your password", "Please look again")
        page.goto(f"{service.base}/settings/password/none")
        look_at(page, "Not found")
        sign_in(page, service, email, "a wrong password")
        look_at(page, "Sign in", "Not signed in")
        signed_in(page, service, email)
        page.get_by_label("Shop").select_option(service.shop.shop_id)
        page.get_by_role("button", name="Switch").click()
        look_at(page, "Connections", "There is no key")
        page.get_by_role("link", name="Mint a key").click()
        look_at(page, "Mint a key")
        page.evaluate("document.querySelector('form.card').noValidate = true")
        page.get_by_role("button", name="Mint the key").click()
        look_at(page, "Mint a key", "Please look again")
        page.get_by_label("Name").fill(wide)
        page.get_by_label("analytics:read").check()
        page.get_by_role("button", name="Mint the key").click()
        look_at(page, "Your new key")
        page.get_by_role("link", name="I have kept the key").click()
        mint(page, "Another", "forms:write", "customers:read")
        page.get_by_role("link", name="Rotate Another").click()
        look_at(page, "Rotate Another")
        page.get_by_role("button", name="Rotate the key").click()
        page.get_by_role("link", name="I have kept the key").click()
        page.get_by_role("link", name="Revoke WWW").click()
        look_at(page, f"Revoke {wide}?")
        page.get_by_role("button", name="Revoke the key").click()
        page.get_by_text("Keys that no longer work").click()
        look_at(page, "Connections", "Keys that no longer work (1)")
        page.get_by_role("link", name="Activity", exact=True).click()
        look_at(page, "Activity")
        page.get_by_label("Shop").select_option(other.shop_id)
        page.get_by_role("button", name="Switch").click()
        look_at(page, "Connections", "You can look at the keys.")
        page.goto(f"{service.base}/settings/connections/new")
        look_at(page, "Not allowed")


def test_with_the_keyboard_alone(page: Page, plain_service: Service) -> None:
    service = plain_service
    add_member(service.engine, service.shop)
    page.goto(f"{service.base}/settings/sign-in")

    def press_to(name: str) -> None:
        """Tab until the element of that name has the focus, which must show."""
        for _ in range(30):
            page.keyboard.press("Tab")
            here = page.evaluate(
                "(e => [(e.labels?.[0] ?? e).textContent.trim(),"
                " getComputedStyle(e).outlineStyle + getComputedStyle(e).outlineWidth])"
                "(document.activeElement)"
            )
            if here[0].startswith(name):
                assert here[1] == "solid3px", here
                return
        raise AssertionError(f"{name} cannot be reached")

    def enter() -> None:
        with page.expect_navigation():
            page.keyboard.press("Enter")

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    press_to("E-mail")
    page.keyboard.type("ada@example.com")
    press_to("Password")
    page.keyboard.type(PASSWORD)
    enter()
    press_to("Mint a key")
    enter()
    press_to("Name")
    page.keyboard.type("By keyboard")
    press_to("customers:read")
    page.keyboard.press("Space")
    press_to("Mint the key")
    enter()
    press_to("Copy the key")
    press_to("I have kept the key")
    enter()
    press_to("Revoke By keyboard")
    enter()
    press_to("Revoke the key")
    enter()
    expect(page.get_by_text("Keys that no longer work (1)")).to_be_visible()


def test_copying(new_context: NewContext, plain_service: Service) -> None:
    service = plain_service
    add_member(service.engine, service.shop)
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    signed_in(page, service, "ada@example.com")
    page.get_by_role("link", name="Mint a key").click()
    page.get_by_label("Name").fill("Copied")
    page.get_by_label("analytics:read").check()
    page.get_by_role("button", name="Mint the key").click()
    key = page.locator("#key").inner_text()
    for name, copied in (
        ("Copy the key", key),
        ("Copy the call", f'curl -H "Authorization: Bearer {key}" "{service.base}/v1/forms"'),
    ):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_text("Copied.").last).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == copied
