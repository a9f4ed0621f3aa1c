"""From a link to the first figure, in a real browser: the first shop, the snippet, sources as they arrive."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.support.browser_steps import Service, look_at, watched
from tests.support.import_files import event
from tests.support.people import PASSWORD
from tests.support.product import Product
from tests.support.shop_builder import writing
from tests.system.browser.conftest import NewContext
from warehouse.domain.time import now_micros
from warehouse.forms import form_sightings
from warehouse.forms.form_sightings import Sighting
from warehouse.tables import pull
from web.auth import operators
from web.auth.audit import OPERATOR, Change

SHOP = "new.myshopify.com"


def test_from_a_link_to_what_has_arrived(new_context: NewContext, service: Service) -> None:
    with writing(service.engine) as connection:
        token = operators.add(Change(connection, OPERATOR, now_micros()), "eve@example.com")
    context = new_context(permissions=["clipboard-read", "clipboard-write"], accept_downloads=True)
    page = context.new_page()
    with watched(page, service.base):
        page.goto(f"{service.base}/settings/password/{token}")
        look_at(page, "Your first shop")
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_label("Repeat the password").fill(PASSWORD)
        page.get_by_label("Shop", exact=True).fill(service.shop.shop_id)
        page.get_by_label("Currency").fill("eur")
        page.get_by_label("Time zone").fill("Europe/Berlin")
        page.get_by_role("button", name="Set the password").click()
        look_at(page, "Your first shop", "This shop is here already.")
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_label("Repeat the password").fill(PASSWORD)
        page.get_by_label("Shop", exact=True).fill(SHOP)
        page.get_by_role("button", name="Set the password").click()
        look_at(page, "Set up", "nothing yet")
        page.get_by_role("link", name="Make the line").click()
        page.get_by_label("Name").fill("The shop")
        page.get_by_label("Addresses of your site").fill("https://shop.example/")
        page.get_by_role("button", name="Make the line").click()
        look_at(page, "Set up", "layout/theme.liquid")
        page.get_by_role("button", name="Copy the line").click()
        expect(page.get_by_text("Copied.")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == page.locator("#line").inner_text()
        assert copied.startswith('<script async src="http://127.0.0.1:8001/formrevenue.js"')
        with page.expect_download() as download:
            page.get_by_role("link", name="Orders as CSV").click()
        assert SHOP in Path(download.value.path()).read_text()
        page.get_by_role("link", name="Add another shop").click()
        look_at(page, "Add a shop")
        page.get_by_role("link", name="Cancel").click()
        # A form that the collector has just seen is listed without a load.
        page.goto(f"{service.base}/setup?reload=off")
        look_at(page, "Set up", "Waiting for the first visit.")
        page.evaluate("window.isSameLoad = true")
        with writing(service.engine) as connection:
            (shop_key,) = connection.exec_driver_sql(
                f"SELECT shop_key FROM shop WHERE shop_id = '{SHOP}'"
            ).one()
            sighting = Sighting("News", "/pages/about", now_micros())
            form_sightings.see(connection, {(shop_key, "news"): sighting})
        seen = page.locator('[data-seen-form="news"]')
        expect(seen.locator("[data-ago]")).to_have_text(re.compile(r"\d s ago"))
        expect(seen).to_contain_text("/pages/about")
        assert page.evaluate("window.isSameLoad")
        page.goto(f"{service.base}/setup")
        # It is loaded again by itself until events and orders have come.
        product = Product(service.url)
        product.load("events", [event(event_id=f"e{n}", shop_id=SHOP) for n in range(7)])
        product.close()
        expect(page.get_by_role("row", name="Events 7")).to_be_visible()
        page.get_by_role("link", name="Stop that").click()
        look_at(page, "Set up", "Look again every few seconds")
        message = "Shopify: " + "x" * 200
        with writing(service.engine) as connection:
            (shop_key,) = connection.exec_driver_sql(
                f"SELECT shop_key FROM shop WHERE shop_id = '{SHOP}'"
            ).one()
            failed = {"name": f"shopify-{SHOP}", "source": "shopify", "status": "error"}
            connection.execute(
                pull.insert(),
                {"shop_key": shop_key, "message": message, "ran_at": now_micros(), **failed},
            )
        page.reload()
        look_at(page, "Set up", message)
        page.goto(f"{service.base}/")
        page.get_by_role("link", name="Some data are not fetched any more.").click()
        look_at(page, "Data", message)
