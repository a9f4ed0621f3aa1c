"""A shop with very many forms and campaigns: pages stay light, and say what they leave out."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.support.people import Browser, add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app

SHOP = "many.example"
FORMS, CAMPAIGNS = 200, 2_000
# The weight of a page without its style sheets.
MAX_BYTES = 150_000


def test_pages_stay_light(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.db'}"
    product, day = Product(url), datetime.now(UTC) - timedelta(days=1)
    ids = [f"8f0e0000-0000-4000-8000-{number:012}" for number in range(FORMS)]
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    product.load(
        "forms", [{"form_id": id, "shop_id": SHOP, "name": f"Form {id[-3:]}"} for id in ids]
    )
    session = {"shop_id": SHOP, "occurred_at": day.isoformat(), "utm_source": "s"}
    product.load(
        "events",
        [
            {
                **session,
                "event_id": f"{number}{kind}",
                "type": kind,
                "form_id": ids[number % FORMS],
                "form_session_id": str(number),
                "visitor_id": str(number),
                "utm_campaign": f"campaign {number}",
            }
            for number in range(CAMPAIGNS)
            for kind in ("view", "complete")
        ],
    )
    product.rollup()
    product.close()
    engine = open_engine(url)
    add_member(engine, known_shop(engine, SHOP))
    app = create_app(url)
    browser = Browser(app.test_client()).signed_in()
    pages = {}
    for path in ("/", "/forms", f"/forms/{ids[0]}", "/revenue", "/ads", "/customers"):
        answer = browser.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == 200
        assert len(answer.data) < MAX_BYTES, path
        pages[path] = answer.get_data(as_text=True)
    assert "192 more" in pages["/"]
    assert "1 to 50 of 200 forms." in pages["/forms"]
    assert "The first 50 of 2,000 campaigns in this order; the CSV has all." in pages["/revenue"]
    found = browser.get("/forms?q=form+19", headers={"Accept": "text/html"}).text
    assert "1 to 10 of 10 forms." in found
    close_app(app)
    engine.dispose()
