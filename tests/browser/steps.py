"""What people do on the pages, in their own words."""

import json
from http.client import HTTPConnection
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import Service

PASSWORD = "correct horse battery"


def sign_in(page: Page, service: Service, email: str, password: str = PASSWORD) -> None:
    page.goto(f"{service.base}/settings/sign-in")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def signed_in(page: Page, service: Service, email: str) -> None:
    sign_in(page, service, email)
    expect(page.get_by_role("heading", name="Connections")).to_be_visible()


def set_password(page: Page, password: str = PASSWORD) -> None:
    page.get_by_label("New password").fill(password)
    page.get_by_label("The same again").fill(password)
    page.get_by_role("button", name="Set the password").click()


def mint(page: Page, name: str, *scopes: str) -> str:
    """From the list of keys to a new key, and back to the list. Gives the key."""
    page.get_by_role("link", name="Mint a key").click()
    page.get_by_label("Name").fill(name)
    for scope in scopes:
        page.get_by_label(scope).check()
    page.get_by_role("button", name="Mint the key").click()
    return take(page)


def take(page: Page) -> str:
    """The key that is shown, read and left."""
    key = page.locator("#key").inner_text()
    page.get_by_role("link", name="I have kept the key").click()
    return key


def ask(service: Service, key: str, path: str = "/v1/forms") -> tuple[int, Any]:
    """Status and body that the API answers, on a connection of its own: of either worker."""
    connection = HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


def ask_often(service: Service, key: str) -> set[int]:
    """The statuses of so many calls that each worker has had some."""
    return {ask(service, key)[0] for _ in range(8)}
