"""A shop that fell silent says so on its pages, in the same conditions as `status` does."""

from flask.testing import FlaskClient
from sqlalchemy import Connection, Engine, insert

from tests.support.fixtures import Clock
from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.operations.conditions import OF_SHOPS, find, find_of_shops
from warehouse.tables import fact_order, import_file, reject
from web.dashboard.page import find_needs
from web.db.database import query_of

HTML = {"Accept": "text/html"}
FORM = "0192a000-0000-7000-8000-00000000000a"
SENTENCES = (
    "Forms were viewed on most days, and now no events come in.",
    "There were orders on most days, and now none come in.",
    "Many rows of the last day could not be imported.",
    "Events name forms that the shop&#39;s list does not have.",
)


def fall_silent(engine: Engine, shop: ShopBuilder, now: int) -> None:
    """A shop with views and orders on each day until 17 March, of a form that it does not have."""
    for day in range(1, 18):
        on = f"2026-03-{day:02}"
        shop.daily("funnel", on, form=FORM, views=9, submissions=3)
        shop.daily("all_forms", on, form=FORM, events=12)
        shop.daily("attribution", on, type="unattributed", orders=1, gross=100)
    placed = now - 14 * 86_400_000_000
    with writing(engine) as connection:
        connection.execute(
            insert(fact_order), {"edition": shop.edition, "order": 1, "created_at": placed}
        )
        read = {"rows_read": 10, "rows_rejected": 9, "started_at": now - 1, "state": "done"}
        named = {"shop_key": shop.key, "kind": "orders", "file": "o.csv"}
        connection.execute(insert(import_file), named | read)
        connection.execute(insert(reject), named | {"rejected_at": now - 1})


def test_the_pages_say_what_status_says(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    """The Overview said that nothing needed a look, and that no form was viewed."""
    loud = ShopBuilder(engine, "loud.example")
    for each in (shop, loud):
        add_member(engine, each)
    fall_silent(engine, shop, clock())
    ada = Browser(client).signed_in()
    page = ada.get("/?range=2026-03-01..2026-03-31", headers=HTML).text
    everywhere = ada.get("/shops", headers=HTML).text
    for sentence in SENTENCES:
        assert sentence in page
        assert everywhere.count(sentence) == 1 + ("Needs a look:" in everywhere)
    assert "No form was viewed" not in page
    assert "form 0192a0…, not named" in page
    with engine.connect() as connection:
        assert told(connection, shop, clock()) == {
            "no-events",
            "no-orders",
            "many-rejects",
            "unknown-forms",
        }
        assert told(connection, loud, clock()) == set()


def told(connection: Connection, shop: ShopBuilder, now: int) -> set[str]:
    """The conditions of a shop as pages are told them, which `status` is told, too."""
    query, keys = query_of(connection), [shop.key]
    of_shop = find_of_shops(query, now, 5, keys)
    assert find_needs(connection, now, keys)[shop.key] == [each.condition for each in of_shop]
    everything = [each for each in find(query, now, 5) if each.condition in OF_SHOPS]
    subjects = (shop.shop_id, "")
    if of_shop:
        assert [each.message for each in of_shop] == [
            each.message for each in everything if each.subject in subjects
        ]
    return {each.condition for each in of_shop}
