"""Members and keys as people have them: from the operator's link to a key that is refused."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Service
from tests.browser.steps import (
    PASSWORD,
    ask,
    ask_often,
    mint,
    set_password,
    sign_in,
    signed_in,
    take,
)
from tests.web.members.people import add_member
from tests.web.serving import run
from web.members.throttle import PER_ACCOUNT


def test_from_the_link_to_the_last_refusal(page: Page, service: Service) -> None:
    who = ("--shop", service.shop.shop_id, "--email", "ada@example.com")
    permissions = "forms:edit,connections:manage"
    added = run(service.url, "members", "add", *who, "--permissions", permissions)
    link = re.sub(r"^http://[^/]+", service.base, added.stdout.splitlines()[-1])
    page.goto(link)
    set_password(page)
    expect(page.get_by_role("status")).to_contain_text("you are signed in")

    key = mint(page, "Weekly report", "analytics:read", "forms:write")
    status, body = ask(service, key)
    assert (status, body["meta"]["shopId"]) == (200, service.shop.shop_id)
    assert ask(service, key, "/v1/attribution")[0] == 200
    assert ask(service, key, "/v1/discounts/performance")[0] == 403
    assert key not in page.content()

    page.get_by_role("link", name="Rotate Weekly report").click()
    page.get_by_label("One more hour").check()
    page.get_by_role("button", name="Rotate the key").click()
    second = take(page)
    assert (ask(service, key)[0], ask(service, second)[0]) == (200, 200)
    page.get_by_role("link", name="Rotate Weekly report").click()
    page.get_by_label("Not at all").check()
    page.get_by_role("button", name="Rotate the key").click()
    third = take(page)
    assert ask_often(service, second) == {401}
    assert ask_often(service, third) == {200}

    card = (
        page.get_by_role("listitem").filter(has_text=f"{third[:13]}…").filter(has_text="Minted by")
    )
    expect(card).to_contain_text("Active")
    card.get_by_role("link", name="Revoke Weekly report").click()
    expect(page.get_by_role("heading", name="Revoke Weekly report?")).to_be_visible()
    page.get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_role("status")).to_contain_text("is revoked")
    assert ask_often(service, third) == {401}

    page.get_by_role("link", name="Activity", exact=True).click()
    for deed in ("Revoked a key", "Rotated a key", "Minted a key", "Signed in", "Added a member"):
        expect(page.get_by_text(deed).first).to_be_visible()
    audit = run(service.url, "audit", "--shop", service.shop.shop_id).stdout
    assert audit.count("Rotated a key") == 2

    # What the operator ends is over with the next click, whichever worker has it.
    assert run(service.url, "members", "disable", *who).returncode == 0
    for _ in range(4):
        page.goto(f"{service.base}/settings/connections")
        expect(page).to_have_url(re.compile("/settings/sign-in"))
    sign_in(page, service, "ada@example.com")
    expect(page.get_by_role("alert")).to_contain_text("wrong")


def test_a_member_without_the_permissions(page: Page, plain_service: Service) -> None:
    service = plain_service
    add_member(service.engine, service.shop, "bea@example.com", ["connections:manage"])
    add_member(service.engine, service.shop, "cy@example.com", ["forms:edit"])
    signed_in(page, service, "bea@example.com")
    page.get_by_role("link", name="Mint a key").click()
    closed = page.get_by_label("forms:write")
    expect(closed).to_be_disabled()
    expect(closed).to_have_accessible_description(re.compile("Form editing permission"))
    # Forged: the box is opened by hand.
    page.evaluate("document.querySelectorAll('[disabled]').forEach(box => box.disabled = false)")
    page.get_by_label("Name").fill("Forged")
    closed.check()
    page.get_by_role("button", name="Mint the key").click()
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
    expect(page.get_by_text("You cannot grant forms:write.")).to_be_visible()
    page.get_by_role("link", name="To the connections").click()
    expect(page.get_by_text("There is no key that works.")).to_be_visible()
    mint(page, "Allowed", "analytics:read")
    page.get_by_role("button", name="Sign out").click()

    signed_in(page, service, "cy@example.com")
    expect(page.get_by_text("You can look at the keys.")).to_be_visible()
    expect(page.get_by_role("heading", name="Allowed")).to_be_visible()
    for name in ("Mint a key", "Rotate", "Revoke"):
        expect(page.get_by_role("link", name=name)).to_have_count(0)
    page.goto(f"{service.base}/settings/connections/new")
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()


def test_another_site_cannot_send_the_forms(page: Page, plain_service: Service) -> None:
    service = plain_service
    add_member(service.engine, service.shop)
    signed_in(page, service, "ada@example.com")
    key = mint(page, "The key", "analytics:read")
    page.get_by_role("link", name="Revoke The key").click()
    page.get_by_role("button", name="Revoke the key").wait_for()
    address = page.url
    # The page's own form without its token.
    page.evaluate("document.querySelector('form.card [name=csrf_token]').remove()")
    page.get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_text("This form is out of date")).to_be_visible()
    # And a form of another site, in the browser that is signed in.
    page.goto("about:blank")
    page.set_content(f'<form method="post" action="{address}"><button>Win</button></form>')
    page.get_by_role("button").click()
    expect(page.get_by_text("This form is out of date")).to_be_visible()
    assert ask(service, key)[0] == 200
    # Nor does one show the pages in a frame.
    page.goto("about:blank")
    page.set_content(f'<iframe src="{service.base}/settings/sign-in"></iframe>')
    page.wait_for_timeout(300)
    assert page.frames[1].get_by_label("Password").count() == 0


def test_too_many_attempts(page: Page, plain_service: Service) -> None:
    service = plain_service
    add_member(service.engine, service.shop)
    for _ in range(PER_ACCOUNT):
        sign_in(page, service, "ada@example.com", "a wrong password")
        expect(page.get_by_role("alert")).to_contain_text("wrong")
    sign_in(page, service, "ada@example.com", PASSWORD)
    expect(page.get_by_role("alert")).to_contain_text("Too many attempts. Try again in")


def test_without_scripts(new_context: NewContext, plain_service: Service) -> None:
    service = plain_service
    add_member(service.engine, service.shop)
    page = new_context(java_script_enabled=False).new_page()
    signed_in(page, service, "ada@example.com")
    page.get_by_role("link", name="Mint a key").click()
    page.get_by_label("Name").fill("Plain")
    page.get_by_label("analytics:read").check()
    page.get_by_role("button", name="Mint the key").click()
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    assert ask(service, take(page))[0] == 200
