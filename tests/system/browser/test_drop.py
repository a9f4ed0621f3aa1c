"""A file is dropped on the Data page in a real browser, with and without scripts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from jobs.landing import turns
from tests.support.browser_steps import Service, look_at, sign_in, watched
from tests.support.dropped import hostile, sample, spreadsheet
from tests.support.people import add_member
from tests.support.product import Product
from tests.support.serving import served
from tests.support.shop_builder import ShopBuilder
from tests.system.browser.conftest import NewContext
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import migrate

FILE = "form[data-drop-file] input[type=file]"


@pytest.fixture
def service(
    chromium: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Service, Product]]:
    """A service with a landing folder, and its jobs."""
    monkeypatch.setenv("IMPORT_DIR", str(tmp_path / "landing"))
    monkeypatch.setattr(turns, "_SETTLE_SECONDS", 0.01)
    url = f"sqlite:///{tmp_path / 'warehouse.db'}"
    engine = open_engine(url)
    migrate(engine)
    shop = ShopBuilder(engine)
    add_member(engine, shop)
    engine.dispose()
    with served(url, {"IMPORT_DIR": str(tmp_path / "landing")}) as (_, port):
        yield Service(f"http://127.0.0.1:{port}", port, url, engine, shop), Product(url)


def drop(page: Page, name: str, content: bytes) -> None:
    page.locator(FILE).set_input_files({"name": name, "mimeType": "", "buffer": content})


@pytest.mark.parametrize("scripts", [True, False])
def test_from_the_drop_to_the_undoing(
    new_context: NewContext, service: tuple[Service, Product], *, scripts: bool
) -> None:
    site, product = service
    page = new_context(java_script_enabled=scripts).new_page()
    with watched(page, site.base):
        sign_in(page, site, "ada@example.com")
        page.get_by_role("link", name="Data", exact=True).click()
        drop(page, "spend.xlsx", spreadsheet(sample("meta-csv.csv")))
        section = page.locator("#file")
        if not scripts:
            section.get_by_role("button", name="Look at it").click()
        expect(section).to_contain_text("No scheduler runs")

        def after(*words: str) -> None:
            product._jobs(*words)
            if not scripts:
                page.reload()

        after("dropped")
        shown = page.locator("[data-file-preview]")
        expect(shown).to_contain_text("Ad spend, a table of Meta's Ads Manager")
        expect(shown).to_contain_text("€1,024.84")
        if scripts:
            look_at(page, "Data", "Jan 2, 2026 to Jan 3, 2026")
        section.get_by_role("button", name="Import", exact=True).click()
        expect(section).to_contain_text("No scheduler runs")
        after("dropped")
        after("landing")
        expect(page.locator("[data-file-imported=done]")).to_contain_text("Imported: 2 new")
        section.get_by_role("button", name="Undo this import").click()
        expect(page.locator("[data-reach]")).to_contain_text("Jan 2, 2026 to Jan 3, 2026")
        page.get_by_role("button", name="Undo the import").click()
        after("rollup", "--refresh")
        expect(page.locator("[data-file-imported=undone]")).to_contain_text("nothing of the file")


def test_what_is_refused(page: Page, service: tuple[Service, Product]) -> None:
    site, product = service
    name = "bomb.csv.gz"
    content, words = hostile(70)[name]
    with watched(page, site.base):
        sign_in(page, site, "ada@example.com")
        page.goto(f"{site.base}/data")
        drop(page, name, content)
        expect(page.locator("#file")).to_contain_text("No scheduler runs")
        product._jobs("dropped")
        expect(page.locator("p[data-file-refused]:visible")).to_contain_text(words)
        look_at(page, "Data", words)
        # Nothing arrives: the page itself says so.
        drop(page, "empty.csv", b"")
        expect(page.locator("p[data-file-refused]").last).to_contain_text("The file is empty")
