"""A shop with very many forms and campaigns: pages stay light, and say what they leave out."""

from tests.support.odd_shops import MANY_SHOP, form_id, many_forms_and_campaigns
from tests.support.people import Browser, add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app

# The weight of a page without its style sheets.
MAX_BYTES = 150_000


def test_pages_stay_light(sqlite_url: str) -> None:
    product = Product(sqlite_url)
    many_forms_and_campaigns(product)
    product.close()
    engine = open_engine(sqlite_url)
    add_member(engine, known_shop(engine, MANY_SHOP))
    app = create_app(sqlite_url)
    browser = Browser(app.test_client()).signed_in()
    pages = {}
    for path in ("/", "/forms", f"/forms/{form_id(0)}", "/revenue", "/ads", "/customers"):
        answer = browser.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == 200
        assert len(answer.data) < MAX_BYTES, path
        pages[path] = answer.get_data(as_text=True)
    assert "all 200 →" in pages["/"]
    opened = browser.get("/revenue?numbers=campaigns", headers={"Accept": "text/html"}).text
    assert "1 to 50 of 200 forms." in pages["/forms"]
    assert "The first 50 of 2,000 campaigns in this order; the CSV has all." in opened
    found = browser.get("/forms?q=form+19", headers={"Accept": "text/html"}).text
    assert found.count(' id="forms-') == 10
    close_app(app)
    engine.dispose()
