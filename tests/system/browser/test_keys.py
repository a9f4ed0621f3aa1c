"""Members and keys in a real browser: from the operator's link to a key that is refused."""

import re

from playwright.sync_api import Page, expect

from tests.support.browser_steps import (
    Service,
    ask,
    ask_often,
    create_key,
    fill_in_key,
    read_key,
    set_password,
    sign_in,
    signed_in,
)
from tests.support.commands import run_web
from tests.support.people import PASSWORD, add_member
from tests.system.browser.conftest import NewContext
from web.auth.sign_in_limits import PER_ACCOUNT_AND_NETWORK


def test_member_and_key_from_start_to_end(page: Page, service: Service) -> None:
    member = ("--shop", service.shop.shop_id, "--email", "ada@example.com")
    permissions = "forms:edit,connections:manage"
    added = run_web(service.url, "members", "add", *member, "--permissions", permissions)
    link = re.sub(r"^http://[^/]+", service.base, added.output.splitlines()[-1])
    page.goto(link)
    set_password(page)
    expect(page.get_by_role("status")).to_contain_text("you are signed in")
    page.get_by_role("link", name="Connections").click()

    key = create_key(page, "Weekly report", "analytics:read", "forms:write")
    status, body = ask(service, key)
    assert (status, body["meta"]["shopId"]) == (200, service.shop.shop_id)
    assert ask(service, key, "/v1/attribution")[0] == 200
    assert ask(service, key, "/v1/discounts/performance")[0] == 403
    assert key not in page.content()

    page.get_by_role("link", name="Rotate Weekly report").click()
    page.get_by_label("One hour").check()
    page.get_by_role("button", name="Rotate the key").click()
    second = read_key(page)
    assert (ask(service, key)[0], ask(service, second)[0]) == (200, 200)
    page.get_by_role("link", name="Rotate Weekly report").click()
    page.get_by_label("It stops now").check()
    page.get_by_role("button", name="Rotate the key").click()
    third = read_key(page)
    assert ask_often(service, second) == {401}
    assert ask_often(service, third) == {200}

    card = (
        page.get_by_role("listitem").filter(has_text=f"{third[:13]}…").filter(has_text="Created by")
    )
    expect(card).to_contain_text("Active")
    card.get_by_role("link", name="Revoke Weekly report").click()
    expect(page.get_by_role("heading", name="Revoke Weekly report?")).to_be_visible()
    page.get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_role("status")).to_contain_text("is revoked")
    assert ask_often(service, third) == {401}

    page.get_by_role("link", name="Activity", exact=True).click()
    for title in ("Revoked a key", "Rotated a key", "Created a key", "Signed in", "Added a member"):
        expect(page.get_by_text(title).first).to_be_visible()
    audit = run_web(service.url, "audit", "--shop", service.shop.shop_id).output
    assert audit.count("Rotated a key") == 2

    # A disabled member is signed out with the next click, in both workers.
    assert run_web(service.url, "members", "disable", *member).status == 0
    for _ in range(4):
        page.goto(f"{service.base}/settings/connections")
        expect(page).to_have_url(re.compile("/settings/sign-in"))
    sign_in(page, service, "ada@example.com")
    expect(page.get_by_role("alert")).to_contain_text("wrong")


def test_member_without_permissions(page: Page, service: Service) -> None:
    add_member(service.engine, service.shop, "bea@example.com", ["connections:manage"])
    add_member(service.engine, service.shop, "cy@example.com", ["forms:edit"])
    signed_in(page, service, "bea@example.com")
    page.get_by_role("link", name="Create a key").click()
    scope = page.get_by_label("forms:write")
    expect(scope).to_be_disabled()
    expect(scope).to_have_accessible_description(re.compile("Form editing permission"))
    # A forged request: the member enables the box by hand.
    page.evaluate("document.querySelectorAll('[disabled]').forEach(box => box.disabled = false)")
    page.get_by_label("Name").fill("Forged")
    scope.check()
    page.get_by_role("button", name="Create the key").click()
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
    expect(page.get_by_text("You cannot grant forms:write.")).to_be_visible()
    page.get_by_role("link", name="Connections").click()
    expect(page.get_by_text("There are no active keys.")).to_be_visible()
    create_key(page, "Allowed", "analytics:read")
    page.get_by_role("button", name="Sign out").click()

    signed_in(page, service, "cy@example.com")
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
    expect(page.get_by_role("link", name="Connections")).to_have_count(0)
    expect(page.get_by_text("Allowed", exact=True)).to_have_count(0)
    page.goto(f"{service.base}/settings/connections/new")
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()


def test_forms_of_another_site_are_refused(page: Page, service: Service) -> None:
    add_member(service.engine, service.shop)
    signed_in(page, service, "ada@example.com")
    key = create_key(page, "The key", "analytics:read")
    page.get_by_role("link", name="Revoke The key").click()
    page.get_by_role("button", name="Revoke the key").wait_for()
    address = page.url
    # The page's own form, without its token.
    page.evaluate("document.querySelector('form.card [name=csrf_token]').remove()")
    page.get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_text("This form is out of date")).to_be_visible()
    # A form of another site, in the browser that is signed in.
    page.goto("about:blank")
    page.set_content(f'<form method="post" action="{address}"><button>Win</button></form>')
    page.get_by_role("button").click()
    expect(page.get_by_text("This form is out of date")).to_be_visible()
    assert ask(service, key)[0] == 200
    # Another site cannot show the pages in a frame: one of this machine, since a browser keeps others from it
    # before it asks.
    page.goto(f"http://localhost:{service.port}/healthz")
    with page.expect_console_message(lambda said: "frame-ancestors 'none'" in said.text):
        page.set_content(f'<iframe src="{service.base}/settings/sign-in"></iframe>')
    assert page.frames[1].get_by_label("Password").count() == 0


def test_pages_work_without_scripts(new_context: NewContext, service: Service) -> None:
    add_member(service.engine, service.shop)
    page = new_context(java_script_enabled=False).new_page()
    signed_in(page, service, "ada@example.com")
    fill_in_key(page, "Plain", "analytics:read")
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    assert ask(service, read_key(page))[0] == 200
    page.get_by_role("link", name="Account").click()
    new = "quite another sentence"
    for label, typed in (("Current", PASSWORD), ("New", new), ("Repeat", new)):
        page.get_by_label(label).fill(typed)
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("status")).to_contain_text("Your password is changed.")


def test_a_stranger_does_not_keep_a_member_out(new_context: NewContext, service: Service) -> None:
    add_member(service.engine, service.shop)
    member, stranger = (new_context().new_page() for _ in range(2))
    signed_in(member, service, "ada@example.com")
    member.get_by_role("button", name="Sign out").click()
    for _ in range(PER_ACCOUNT_AND_NETWORK.times):
        sign_in(stranger, service, "ada@example.com", "a wrong password")
        expect(stranger.get_by_role("alert")).to_contain_text("wrong")
    sign_in(stranger, service, "ada@example.com")
    expect(stranger.get_by_role("alert")).to_contain_text("Too many attempts")
    # From the same address, in a browser that they have used before.
    signed_in(member, service, "ada@example.com")
    member.get_by_role("link", name="Activity", exact=True).click()
    expect(member.get_by_text("Refused a sign-in")).to_be_visible()


def test_a_member_ends_their_sign_in_elsewhere(new_context: NewContext, service: Service) -> None:
    add_member(service.engine, service.shop)
    here, phone = (new_context().new_page() for _ in range(2))
    for page in (phone, here):
        signed_in(page, service, "ada@example.com")
    here.get_by_role("link", name="Account").click()
    here.get_by_role("button", name=re.compile("End the sign-in of .* from 127.0.0.1")).click()
    expect(here.get_by_role("status")).to_contain_text("Ended 1 sign-in.")
    for _ in range(4):  # both workers
        phone.goto(f"{service.base}/settings/connections")
        expect(phone).to_have_url(re.compile("/settings/sign-in"))
