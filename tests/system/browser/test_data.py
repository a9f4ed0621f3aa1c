"""The Data page in a real browser: on all screens, with the rows of anyone, and its retry by keyboard."""

from playwright.sync_api import Page, expect

from tests.support.browser_steps import Service, look_at, sign_in, watched
from tests.support.import_files import event, order
from tests.support.people import add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop

SHOP = "data.example"
MINE = {"shop_id": SHOP}
MANY = "Many rows of the last day could not be imported."
# HTML; 255 letters without a blank; right to left.
ODD = ('<b onclick="alert(1)">', "x" * 255, "\u202e\u05d0\u05d1\u05d2")


def rejected(service: Service) -> None:
    """A shop with rejects, a form that only events know, a waiting import and one that fails."""
    product = Product(service.url)
    product.load("shops", [{**MINE, "currency": "EUR", "timezone": "Asia/Tokyo"}])
    product.load("events", [event(**MINE), event(event_id="e2", occurred_at=None, **MINE)], 1)
    wrong = [order(order_id=text, currency=text, **MINE) for text in ODD]
    product.load("orders", [order(**MINE), *wrong], len(wrong))
    product.rollup()
    product.load("orders", [order(order_id="o2", **MINE)])
    product.close()
    with service.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO edition_batch (edition, batch_id, attempts, failed_at, retry_at, error) "
            "SELECT s.edition, MAX(b.batch_id), 5, 1, 4611686018427387904, 'secret' "
            "FROM shop s JOIN import_batch b ON b.shop_key = s.shop_key "
            f"WHERE s.shop_id = '{SHOP}' GROUP BY s.edition"
        )
    add_member(service.engine, known_shop(service.engine, SHOP))


def test_the_data_page_and_its_retry_by_keyboard(page: Page, service: Service) -> None:
    rejected(service)
    with watched(page, service.base):
        sign_in(page, service, "ada@example.com")
        page.get_by_role("link", name=MANY).press("Enter")
        expect(page.get_by_role("heading", name="Rejected rows")).to_be_in_viewport()
        look_at(page, "Data", "set aside after 5 attempts")
        page.get_by_role("link", name=MANY).focus()
        button = page.get_by_role("button", name="Import them again")
        for _ in range(40):
            page.keyboard.press("Tab")
            if button.evaluate("one => one === document.activeElement"):
                break
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text(
            "The next refresh imports the rejected rows again."
        )
        look_at(page, "Data", "wait to be imported again by the next refresh")
        expect(button).to_have_count(0)


def test_a_shop_to_which_nothing_came(page: Page, service: Service) -> None:
    add_member(service.engine, service.shop)
    with watched(page, service.base):
        sign_in(page, service, "ada@example.com")
        page.get_by_role("link", name="Data", exact=True).click()
        look_at(page, "Data", "Not imported yet: forms, events, orders, ad spend.")


_WIDE = "one => one.scrollWidth > one.clientWidth"


def test_on_a_telephone_tables_show_that_there_is_more(page: Page, service: Service) -> None:
    """A side behind which there is more of a table has a shadow, until the table is moved there."""
    rejected(service)
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(page, service, "ada@example.com")
    page.goto(f"{service.base}/data")
    wide = [each for each in page.locator(".scroll").all() if each.evaluate(_WIDE)]
    assert wide
    for table in wide:
        # The texts would be others after it is moved.
        table.evaluate("one => one.firstElementChild.style.visibility = 'hidden'")
        at_start = table.screenshot()
        table.evaluate("one => one.scrollLeft = one.scrollWidth")
        assert table.screenshot() != at_start


def test_on_a_telephone_the_page_at_hand_is_in_sight(page: Page, service: Service) -> None:
    add_member(service.engine, service.shop)
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(page, service, "ada@example.com")
    for path in ("/", "/data", "/setup", "/settings/account"):
        page.goto(f"{service.base}{path}")
        box = page.locator("nav [aria-current]").bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
