"""Steps that people take on the pages, in a real browser."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any, Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect
from sqlalchemy import Engine

from tests.support.people import PASSWORD
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS


@dataclass(frozen=True)
class Service:
    """A running service with two workers, and the shop in its warehouse."""

    base: str
    port: int
    url: str
    engine: Engine
    shop: ShopBuilder


def sign_in(page: Page, service: Service, email: str, password: str = PASSWORD) -> None:
    page.goto(f"{service.base}/settings/sign-in")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def signed_in(page: Page, service: Service, email: str) -> None:
    sign_in(page, service, email)
    expect(page.get_by_role("link", name="Overview")).to_be_visible()
    page.goto(f"{service.base}/settings/connections")


def set_password(page: Page, password: str = PASSWORD) -> None:
    page.get_by_label("New password").fill(password)
    page.get_by_label("Repeat the password").fill(password)
    page.get_by_role("button", name="Set the password").click()


def fill_in_key(page: Page, name: str, *scopes: str) -> None:
    """Go from the list of keys to a new key."""
    page.get_by_role("link", name="Create a key").click()
    page.get_by_label("Name").fill(name)
    for scope in scopes:
        page.get_by_label(scope).check()
    page.get_by_role("button", name="Create the key").click()


def create_key(page: Page, name: str, *scopes: str) -> str:
    """Go from the list of keys to a new key and back. Returns the key."""
    fill_in_key(page, name, *scopes)
    return read_key(page)


def read_key(page: Page) -> str:
    """Read the key on the page, and leave the page."""
    key = page.locator("#key").inner_text()
    page.get_by_role("link", name="Done").click()
    return key


def ask(service: Service, key: str, path: str = "/v1/forms") -> tuple[int, Any]:
    """Status and body of an API call, on a new connection: either worker may answer."""
    connection = HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_SECONDS)
    connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


def ask_often(service: Service, key: str) -> set[int]:
    """The statuses of enough calls to reach both workers."""
    return {ask(service, key)[0] for _ in range(8)}


@contextmanager
def watched(page: Page, base: str) -> Iterator[None]:
    """Fail where the page sends a request to another host, opens a dialog, or the browser reports an error
    (such as a breach of the content security policy)."""
    hosts: set[str] = set()
    messages: list[str] = []
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: messages.append(dialog.message))
    yield
    assert hosts == {urlsplit(base).netloc}
    # Chromium reports the status of each page that is an error.
    assert [text for text in messages if "responded with a status of 4" not in text] == []


Look = tuple[ViewportSize, Literal["light", "dark"]]

_PHONE: ViewportSize = {"width": 390, "height": 844}
_DESKTOP: ViewportSize = {"width": 1280, "height": 800}
# Contrast depends on the colour scheme, order and sizes on the width: two looks cover both.
LOOKS: tuple[Look, ...] = ((_PHONE, "light"), (_DESKTOP, "dark"))
# Charts have colours of their own, and are drawn anew for each width.
ALL_LOOKS: tuple[Look, ...] = (*LOOKS, (_DESKTOP, "light"), (_PHONE, "dark"))


# The elements that make a page wider than the screen, with their right edges.
_TOO_WIDE = """width => document.documentElement.scrollWidth <= width ? [] :
    [...document.querySelectorAll("body *")]
        .filter(e => e.getBoundingClientRect().right > width)
        .map(e => [e.tagName, e.className, e.getBoundingClientRect().right])"""


def look_at(page: Page, heading: str, text: str = "", looks: Sequence[Look] = LOOKS) -> None:
    """Check that the page has this heading and text, breaks no rule of axe, and fits the screen."""
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    expect(page.get_by_role("main")).to_contain_text(text)
    page.wait_for_load_state()
    name = (heading, text)
    for size, scheme in looks:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        broken = {
            rule["id"]: [node["html"] for node in rule["nodes"]]
            for rule in Axe().run(page).response["violations"]
        }
        assert broken == {}, (name, size, scheme, broken)
        too_wide = page.evaluate(_TOO_WIDE, size["width"])
        assert too_wide == [], (name, size, too_wide)
    page.set_viewport_size({"width": 320, "height": 640})
    too_wide = page.evaluate(_TOO_WIDE, 320)
    assert too_wide == [], (name, too_wide)
