"""`make screenshots`: pictures of the demo's pages.

    python -m tests.system.browser.screenshots                     the README's, in web/dashboard/screenshots/
    python -m tests.system.browser.screenshots --all FOLDER        every page in full, for people to look at
    python -m tests.system.browser.screenshots --all FOLDER --language de

The README's are a desktop in light colours and a telephone in dark ones, of at most 150 kB. Every page is
taken in both colours, at 1,280 and at 390 pixels.
"""

import argparse
import re
import tempfile
from itertools import product
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.support import demo_service
from tests.system.browser.conftest import ARGUMENTS, chromium_path

FOLDER: Final = Path(__file__).parents[3] / "web/dashboard/screenshots"
MAX_BYTES: Final = 150_000
README: Final = (("overview.png", "light", 1280), ("overview-phone.png", "dark", 390))
SCHEMES: Final = ("light", "dark")
WIDTHS: Final = (1280, 390)
HEIGHT: Final = 860


class Demo:
    """The demo in a browser; the button of the link, which works once, signs in the first context."""

    def __init__(self, browser: Browser, link: str, language: str) -> None:
        self._browser = browser
        self._language = language
        first = browser.new_context()
        page = first.new_page()
        page.goto(link)
        page.get_by_role("button").click()
        page.wait_for_url(lambda address: "/sign-in/" not in address)
        self.home = page.url
        self._state = first.storage_state()
        first.close()

    def context(self, scheme: str, width: int, *, signed_in: bool = True) -> BrowserContext:
        return self._browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": width, "height": HEIGHT},
            locale=self._language,
            storage_state=self._state if signed_in else None,
        )

    def addresses(self) -> list[str]:
        """Every page of the navigation, one form in full, and an address at which there is nothing."""
        context = self.context("light", WIDTHS[0])
        page = open_page(context, self.home)
        found = [
            link.get_attribute("href") or ""
            for link in page.get_by_role("navigation").get_by_role("link").all()
        ]
        page.goto(f"{self.home}forms")
        form = page.locator("main a[href^='/forms/']").first.get_attribute("href") or ""
        context.close()
        return [*found, form, "/settings/connections/new", "/settings/nothing"]


def open_page(context: BrowserContext, address: str) -> Page:
    page = context.new_page()
    page.goto(address, wait_until="networkidle")
    return page


def take_readme(demo: Demo) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, scheme, width in README:
        context = demo.context(scheme, width)
        picture = open_page(context, demo.home).screenshot(path=FOLDER / name)
        context.close()
        assert len(picture) <= MAX_BYTES, f"{name} has {len(picture):,} bytes"
        print(f"wrote {FOLDER / name} ({len(picture):,} bytes)")


def take_all(demo: Demo, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    places = [(address, True) for address in demo.addresses()]
    places.append(("/settings/sign-in", False))
    for scheme, width in product(SCHEMES, WIDTHS):
        for address, signed_in in places:
            context = demo.context(scheme, width, signed_in=signed_in)
            page = open_page(context, f"{demo.home}{address.removeprefix('/')}")
            file = folder / f"{_name(address)}-{width}-{scheme}.png"
            page.screenshot(path=file, full_page=True)
            context.close()
            print(f"wrote {file}")


def _name(address: str) -> str:
    """`/forms/0192a000-...?range=30d` as `forms-0192a000`."""
    path = urlsplit(address).path.strip("/").replace("settings/", "")
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"-0000-.*", "", path)) or "overview"


def main() -> None:
    parser = argparse.ArgumentParser(description="Take pictures of the demo's pages.")
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every page, into this folder")
    parser.add_argument("--language", default="en-US", help="the browser's (default: en-US)")
    chosen = parser.parse_args()
    path = chromium_path()
    assert path, "install Chromium, or name it in CHROMIUM"
    with (
        tempfile.TemporaryDirectory() as folder,
        # As many days as it takes to tell changes from chance, and more.
        demo_service.running(f"sqlite:///{folder}/demo.db", days=120) as service,
        sync_playwright() as playwright,
    ):
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        demo = Demo(chromium, service.link, chosen.language)
        if chosen.all:
            take_all(demo, chosen.all)
        else:
            take_readme(demo)
        chromium.close()


if __name__ == "__main__":
    main()
