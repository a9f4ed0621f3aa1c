"""Pop-up tools in a real browser: a page of each, which behaves as the tool's documents say, and what is
counted.

The pages in `tests/support/popups` are ours, and so are the scripts that stand for the tools'. On both
databases: through the collector, the import and the rollup to the answers of the API.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request

from tests.support.seen_forms import ALL, POPUPS, answer_with, await_types, of_type, send
from tests.support.shop_site import ADDRESS, Site
from tests.support.waiting import wait_until
from warehouse.domain.email_hash import hashed_email

# A tool's file of ours for each address that its page asks for.
HOSTS = {
    "https://static.klaviyo.com/**": "klaviyo.js",
    "https://js.hsforms.net/**": "hubspot.js",
    "https://forms.hsforms.com/**": "hubspot-frame.html",
    "https://embed.typeform.com/**": "typeform.js",
    "https://form.typeform.com/**": "typeform-frame.html",
    "https://a.omappapi.com/**": "optinmonster.js",
}


@pytest.fixture
def loaded(page: Page) -> Iterator[set[str]]:
    """The scripts for tools that the page has loaded of the collector. The hosts of tools answer with our
    files, and the page gets no error."""
    for address, file in HOSTS.items():
        page.route(address, answer_with(file))
    names: set[str] = set()

    def note(request: Request) -> None:
        if "/tools/" in request.url:
            names.add(Path(request.url).stem)

    page.on("request", note)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield names
    assert errors == []


def steps_of(site: Site, id: str) -> list[tuple[str, str]]:
    """The kinds and ids of a form's step events, sorted."""
    return sorted(
        (call["type"].removeprefix("step_"), call["step_id"])
        for call in site.calls()
        if call["form_id"] == id and "step_id" in call
    )


def open_page(page: Page, site: Site, name: str) -> None:
    site.write((POPUPS / name).read_text())
    page.goto(site.address)


def test_klaviyo(page: Page, site: Site, loaded: set[str]) -> None:
    open_page(page, site, "klaviyo.html")
    await_types(site, view=2)
    pop_up = page.get_by_test_id("klaviyo-form-PoPuP9")
    # A submission that it does not take is none.
    pop_up.get_by_role("button").click()
    send(pop_up)
    pop_up.locator("[type=tel]").fill("+49170")
    pop_up.get_by_role("button").click()
    await_types(site, view=2, step_view=2, step_complete=2, subscribe=1, complete=1)
    assert loaded == {"klaviyo"}
    assert steps_of(site, "PoPuP9") == [
        *(("complete", "Email Opt-In"), ("complete", "SMS Opt-In")),
        *(("view", "Email Opt-In"), ("view", "SMS Opt-In")),
    ]
    assert [call["email_sha256"] for call in of_type(site, "subscribe")] == [hashed_email(ADDRESS)]
    assert "+49170" not in json.dumps(site.calls())
    assert site.funnels() == {"Pop-up": ALL, "Embedded": (1, 0, 0, 0, 0)}


def test_hubspot(page: Page, site: Site, loaded: set[str]) -> None:
    open_page(page, site, "hubspot.html")
    await_types(site, view=2)
    frame = page.frame_locator(".hs-form-frame iframe")
    frame.locator("input").fill(ADDRESS)
    frame.locator("#next").click()
    frame.locator("#send").click()
    send(page.locator("form"))
    await_types(site, view=2, step_view=2, step_complete=2, subscribe=2, complete=2)
    assert loaded == {"hubspot"}
    new, before = "89f12dbf-2a33-4f4e-a584-fc8e236487c7", "5ab0be60-7598-4f9c-ac2f-72519d49d946"
    assert {call["form_id"].lower() for call in site.calls()} == {new, before}
    assert {call["email_sha256"] for call in of_type(site, "subscribe")} == {hashed_email(ADDRESS)}
    assert "+49170" not in json.dumps(site.calls())
    assert site.funnels() == {"New": ALL, "Before": ALL}
    # A GUID is the form's id here as well.
    assert site.get(f"/v1/forms/{new}/funnel")["submissions"] == 1


def test_typeform(page: Page, site: Site, loaded: set[str]) -> None:
    open_page(page, site, "typeform.html")
    await_types(site, view=1)
    page.get_by_role("button", name="Open").click()
    await_types(site, view=2)
    for place in range(2):
        frame = page.frame_locator("iframe").nth(place)
        frame.locator("#begin").click()
        frame.locator("#next").click()
        frame.locator("#send").click()
    await_types(site, view=2, step_view=4, step_complete=4, complete=2)
    assert loaded == {"typeform"}
    for id in ("moe6aa", "LsBbgGw0"):
        assert steps_of(site, id) == [
            *(("complete", "skin-type"), ("complete", "your-mail")),
            *(("view", "skin-type"), ("view", "your-mail")),
        ]
    assert site.funnels() == dict.fromkeys(("Which skin?", "Gifts"), (1, 1, 0, 1, 1))


def test_optinmonster(page: Page, site: Site, loaded: set[str]) -> None:
    open_page(page, site, "optinmonster.html")
    await_types(site, view=1)
    page.locator("#yes").click()
    send(page.locator("form"))
    await_types(site, view=1, step_view=2, step_complete=2, subscribe=1, complete=1)
    assert loaded == {"optinmonster"}
    assert steps_of(site, "flfvc7vrkaixj2rfbzlw") == [
        *(("complete", "optin"), ("complete", "yesno")),
        *(("view", "optin"), ("view", "yesno")),
    ]
    assert "+49170" not in json.dumps(site.calls())
    assert site.funnels() == {"Ten per cent?": ALL}


def test_tools_that_tell_nothing(page: Page, site: Site, loaded: set[str]) -> None:
    open_page(page, site, "plain_apps.html")
    await_types(site, view=5)
    for form in (
        page.locator("shopify-forms-embed form"),
        page.locator("#mc-embedded-subscribe-form"),
        page.frame_locator("#mc-frame").locator("form"),
        page.locator("#privy-container form"),
        page.locator("#justuno form"),
    ):
        send(form)
    await_types(site, view=5, subscribe=5, complete=5)
    assert loaded == set()
    names = ("Shopify Forms", "Mailchimp, embedded", "Mailchimp", "Privy", "Justuno")
    assert site.funnels() == dict.fromkeys(names, ALL)


FORGED = """<iframe src="https://evil.example/"></iframe>
<script src="https://embed.typeform.com/next/embed.js"></script>
<script src="https://js.hsforms.net/forms/embed/v2.js"></script><form id="own"><input type="email"></form>"""
LIES = """<script>for (const data of [
  { type: "form-submit", formId: "forged", embedId: "1" },
  { type: "hsFormCallback", eventName: "onFormSubmitted", id: "forged", data: {} },
  null, "text", 7, { type: "form-submit" },
]) parent.postMessage(data, "*")</script>"""


def test_messages_of_other_hosts_are_not_believed(page: Page, site: Site, loaded: set[str]) -> None:
    page.route(
        "https://evil.example/**", lambda route: route.fulfill(body=LIES, content_type="text/html")
    )
    page.route("https://*.typeform.com/**", lambda route: route.fulfill(body=""))
    page.route("https://js.hsforms.net/**", lambda route: route.fulfill(body=""))
    site.write(FORGED)
    page.goto(site.address)

    def are_loaded() -> bool:
        # Playwright answers the page's requests only while the test waits in it.
        page.wait_for_timeout(10)
        return loaded == {"typeform", "hubspot"}

    wait_until(are_loaded, lambda: str(loaded))
    await_types(site, view=1)
    page.evaluate("frames[0].location = 'https://evil.example/again'")
    # The page itself is believed, and its message comes after those.
    page.wait_for_timeout(1_000)
    page.evaluate("postMessage({ type: 'form-submit', formId: 'page', embedId: '1' })")
    await_types(site, view=2, complete=1)
    assert {call["form_id"] for call in site.calls()} == {"own", "page"}
