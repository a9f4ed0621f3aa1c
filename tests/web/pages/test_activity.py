"""The Activity page: all of a shop's trail, or a member's own part of it."""

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.people import CONNECTIONS, Browser, add_member, await_background_writes
from tests.support.shop_builder import ShopBuilder, writing
from web.auth import audit

ACTIVITY = "/settings/activity"
BEA = "bea@example.com"


def test_without_the_permission_a_member_sees_what_they_did(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    ada, bea = add_member(engine, shop), add_member(engine, shop, BEA, ["forms:edit"])
    manager = Browser(client, REMOTE_ADDR="198.51.100.7").signed_in(ada)
    key = manager.mint("analytics:read", name="The tool")
    Browser(client, REMOTE_ADDR="203.0.113.9").sign_in(bea, "a wrong password")
    await_background_writes(client)
    own = Browser(client, REMOTE_ADDR="192.0.2.1").signed_in(bea)
    # They once had the permission: the key is the shop's, not theirs.
    with writing(engine) as connection:
        by = audit.Actor(bea, "192.0.2.1")
        audit.Change(connection, by, 0).record(
            shop.key, "key_minted", "Old, cred_1 (frk_live_Old1…)"
        )
        audit.Change(connection, by, 0).record(shop.key, "write_key_revoked", "Old, fwk_1")
    page = own.get(ACTIVITY).text
    assert "Your sign-ins and your changes in this shop" in page
    assert page.count('class="by"') == 1
    assert f"{bea}, from 192.0.2.1" in page
    for others in (ada, "198.51.100.7", "203.0.113.9", "operator", key[:13], "The tool", "fwk_1"):
        assert others not in page, others
    assert manager.get(ACTIVITY).text.count('class="by"') > 5


def test_own_activity_has_older_pages(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    """Only of their own, whatever address is asked for."""
    add_member(engine, shop, BEA, [])
    with writing(engine) as connection:
        for number in range(110):
            by = audit.Actor(("ada@example.com", BEA)[number % 2], "192.0.2.1")
            audit.Change(connection, by, clock.now).record(
                shop.key, "rejects_retried", f"entry {number}."
            )
    bea = Browser(client).signed_in(BEA)
    first = bea.get(ACTIVITY).text
    assert first.count('class="by"') == 50
    older = first.partition(f'href="{ACTIVITY}?before=')[2].partition('"')[0]
    entries = bea.get(f"{ACTIVITY}?before={older}").text
    assert [text.partition(".")[0] for text in entries.split("entry ")[1:]] == [
        *("11", "9", "7", "5", "3", "1"),
    ]


def test_a_change_of_shops_names_no_other_shop(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    other = ShopBuilder(engine, "secret.myshopify.com")
    add_member(engine, other)
    for builder in (shop, other):
        add_member(engine, builder, BEA)
    bea = Browser(client).signed_in(BEA)
    shown = bea.get(ACTIVITY).text
    entered = shop if "<option selected>secret" in shown else other
    assert bea.post("/settings/shop", CONNECTIONS, shop=entered.shop_id).status_code == 302
    with engine.connect() as connection:
        (last, *_) = audit.list_events(connection, entered.shop_id)
    left = {shop.shop_id, other.shop_id} - {entered.shop_id}
    assert (last.actor, last.detail) == (BEA, "from another shop")
    assert not any(shop_id in last.detail for shop_id in left)
    # To stay in a shop is nothing, and to change often is one event.
    for shop_id in (entered.shop_id, entered.shop_id, *left, entered.shop_id):
        assert bea.post("/settings/shop", CONNECTIONS, shop=shop_id).status_code == 302
    with engine.connect() as connection:
        events = audit.list_events(connection, entered.shop_id)
    assert [(one.audit_id, one.times) for one in events if one.detail == last.detail] == [
        (last.audit_id, 2)
    ]
