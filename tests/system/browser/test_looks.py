"""The pages on all screens: accessibility (axe), widths, colour schemes, keyboard, copy buttons."""

from playwright.sync_api import Page, expect

from tests.support.browser_steps import (
    Service,
    create_key,
    fill_in_key,
    look_at,
    set_password,
    sign_in,
    signed_in,
    watched,
)
from tests.support.people import PASSWORD, add_member, new_link
from tests.support.shop_builder import ShopBuilder, writing
from tests.system.browser.conftest import NewContext
from warehouse.domain.time import now_micros
from web.auth import members, sessions
from web.auth.audit import Actor, Change


def elsewhere(service: Service, email: str, address: str) -> None:
    """Sign a member in from another address."""
    with writing(service.engine) as connection:
        person = members.find(connection, service.shop.shop_id, email)
        change = Change(connection, Actor(email, address), now_micros())
        sessions.start(change, person.member_key, person.shop_key, "Safari on iPhone")


def test_appearance_of_each_page(page: Page, service: Service) -> None:
    other = ShopBuilder(service.engine, "a-much-longer-name-of-a-shop.myshopify.com")
    email = "a.rather.long.name.of.a.person@department.example.com"
    add_member(service.engine, service.shop, email, ["connections:manage", "forms:edit"])
    add_member(service.engine, other, email, [])
    wide_name = "W" * 100
    with watched(page, service.base):
        page.goto(f"{service.base}{new_link(service.engine, email, now_micros())}")
        look_at(page, "Set your password")
        set_password(page, "short")
        look_at(page, "Set your password", "Please correct this")
        page.goto(f"{service.base}/settings/password/none")
        look_at(page, "Not found")
        sign_in(page, service, email, "a wrong password")
        look_at(page, "Sign in", "Not signed in")
        signed_in(page, service, email)
        page.get_by_label("Shop").select_option(service.shop.shop_id)
        page.get_by_role("button", name="Switch").click()
        page.get_by_role("link", name="Connections").click()
        look_at(page, "Connections", "There are no active keys")
        page.get_by_role("link", name="Create a key").click()
        look_at(page, "Create a key")
        page.evaluate("document.querySelector('form.card').noValidate = true")
        page.get_by_role("button", name="Create the key").click()
        look_at(page, "Create a key", "Please correct this")
        page.get_by_label("Name").fill(wide_name)
        page.get_by_label("analytics:read").check()
        page.get_by_role("button", name="Create the key").click()
        look_at(page, "Your new key")
        page.get_by_role("link", name="Done").click()
        create_key(page, "Another", "forms:write", "customers:read")
        page.get_by_role("link", name="Rotate Another").click()
        look_at(page, "Rotate Another")
        page.get_by_role("button", name="Rotate the key").click()
        page.get_by_role("link", name="Done").click()
        page.get_by_role("link", name="Revoke WWW").click()
        look_at(page, f"Revoke {wide_name}?")
        page.get_by_role("button", name="Revoke the key").click()
        page.get_by_text("Expired and revoked keys").click()
        look_at(page, "Connections", "Expired and revoked keys (1)")
        page.get_by_role("link", name="Activity", exact=True).click()
        look_at(page, "Activity")
        for address in ("2001:db8:1:2:3:4:5:6", "192.0.2.1"):
            elsewhere(service, email, address)
        page.get_by_role("link", name="Account").click()
        look_at(page, "Account", "End all others")
        page.get_by_label("Current password").fill(PASSWORD)
        page.get_by_label("New password").fill("short")
        page.get_by_role("button", name="Change the password").click()
        look_at(page, "Account", "Please correct this")
        page.get_by_label("Shop").select_option(other.shop_id)
        page.get_by_role("button", name="Switch").click()
        expect(page.get_by_role("link", name="Connections")).to_have_count(0)
        page.get_by_role("link", name="Activity").click()
        look_at(page, "Activity", "Your sign-ins and your changes")
        page.goto(f"{service.base}/settings/connections/new")
        look_at(page, "Not allowed")


def test_keyboard_alone(page: Page, service: Service) -> None:
    add_member(service.engine, service.shop)
    elsewhere(service, "ada@example.com", "192.0.2.1")
    new = "quite another sentence"
    page.goto(f"{service.base}/settings/sign-in")

    def press_to(name: str) -> None:
        """Press Tab until the element with this name has the focus, and check that its outline shows."""
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
    press_to("Connections")
    enter()
    press_to("Create a key")
    enter()
    press_to("Name")
    page.keyboard.type("By keyboard")
    press_to("customers:read")
    page.keyboard.press("Space")
    press_to("Create the key")
    enter()
    press_to("Copy the key")
    press_to("Done")
    enter()
    press_to("Revoke By keyboard")
    enter()
    press_to("Revoke the key")
    enter()
    expect(page.get_by_text("Expired and revoked keys (1)")).to_be_visible()
    press_to("Account")
    enter()
    press_to("End")
    enter()
    expect(page.get_by_text("You are signed in nowhere else.")).to_be_visible()
    for label, typed in (("Current", PASSWORD), ("New", new), ("Repeat", new)):
        press_to(label)
        page.keyboard.type(typed)
    press_to("Change the password")
    enter()
    expect(page.get_by_role("status")).to_contain_text("Your password is changed.")


def test_copy_buttons(new_context: NewContext, service: Service) -> None:
    add_member(service.engine, service.shop)
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    signed_in(page, service, "ada@example.com")
    fill_in_key(page, "Copied", "analytics:read")
    key = page.locator("#key").inner_text()
    for name, copied in (
        ("Copy the key", key),
        ("Copy the command", f'curl -H "Authorization: Bearer {key}" "{service.base}/v1/forms"'),
    ):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_text("Copied.").last).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == copied
