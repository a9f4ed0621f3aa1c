"""The audit trail: actor, instant, address, action and detail of each change."""

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.people import CONNECTIONS, Browser, add_member, new_link
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.domain.vocabulary import PERMISSIONS
from web.auth import api_keys, audit, members
from web.auth.audit import OPERATOR, Actor, Change


def test_each_change_is_recorded(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    add_member(engine, shop, now=clock.now)
    browser = Browser(client, REMOTE_ADDR="198.51.100.7").signed_in()
    browser.sign_in(password="wrong")
    key = browser.mint("analytics:read", name="Reports")
    path = f"{CONNECTIONS}/{_only_key(engine).credential_id}"
    browser.post(f"{path}/rotate", grace="1h")
    browser.post(f"{path}/revoke")
    browser.post(f"{path}/revoke")  # a key is revoked once
    browser.post("/settings/sign-out", CONNECTIONS)
    link = new_link(engine, "ada@example.com", clock.now)
    browser.post(link, password="quite another sentence", again="quite another sentence")
    with writing(engine) as connection:
        ada = members.find(connection, shop.shop_id, "ada@example.com")
        members.set_permissions(Change(connection, OPERATOR, clock.now), ada, ["forms:edit"])
        members.reset_password(Change(connection, OPERATOR, clock.now), ada)
        members.disable(Change(connection, OPERATOR, clock.now), ada)
        events = audit.list_events(connection, shop.shop_id)
    assert [(event.action, event.actor) for event in reversed(events)] == [
        ("member_added", "operator"),
        ("password_set", "operator"),
        ("signed_in", "ada@example.com"),
        ("key_minted", "ada@example.com"),
        ("key_rotated", "ada@example.com"),
        ("key_revoked", "ada@example.com"),
        ("signed_out", "ada@example.com"),
        ("password_set", "ada@example.com"),
        ("signed_in", "ada@example.com"),
        ("permissions_set", "operator"),
        ("password_reset", "operator"),
        ("member_disabled", "operator"),
    ]
    assert {event.source_ip for event in events} == {"198.51.100.7", "command line"}
    assert {event.at for event in events} == {clock.now}
    details = {event.action: event.detail for event in events}
    assert details["key_minted"].startswith("Reports, cred_")
    assert details["key_minted"].endswith(f"({key[:13]}…): analytics:read; no expiry")
    assert "works until 31 Mar 2026, 13:00 UTC" in details["key_rotated"]
    assert details["permissions_set"] == (
        f"ada@example.com: forms:edit (before: {', '.join(PERMISSIONS)})"
    )
    assert not any(key in event.detail for event in events)


def _only_key(engine: Engine) -> api_keys.ApiKey:
    with engine.connect() as connection:
        (key,) = api_keys.list_keys(connection)
    return key


def test_activity_page_has_older_pages(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    other = ShopBuilder(engine, "other.myshopify.com")
    browser.signed_in()
    with writing(engine) as connection:
        for number in range(120):
            shop_key = shop.key if number % 2 else other.key
            detail = f"entry number {number}."
            audit.Change(connection, OPERATOR, clock.now).record(shop_key, "key_minted", detail)
    seen: list[str] = []
    path = "/settings/activity"
    pages = 0
    while path:
        page = browser.get(path).get_data(as_text=True)
        seen += [line.split(".")[0] for line in page.split("entry number ")[1:]]
        pages += 1
        path = page.partition('class="button quiet" href="')[2].partition('"')[0]
    assert seen == [str(number) for number in range(119, 0, -2)]
    assert pages == 2
    assert "entry number 119" in browser.get(CONNECTIONS).get_data(as_text=True)


def test_refused_change_is_not_recorded(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop, permissions=[])
    browser = Browser(client).signed_in()
    browser.post("/settings/connections/new", CONNECTIONS, name="x", scopes=["analytics:read"])
    with engine.connect() as connection:
        actions = [event.action for event in audit.list_events(connection)]
    assert actions == ["signed_in", "password_set", "member_added"]


def test_nobody_fills_the_trail(engine: Engine, shop: ShopBuilder, clock: Clock) -> None:
    """The operator, whose scripts add hundreds of members, is told apart for ever."""
    member = Actor("eve@example.com", "198.51.100.7")
    with writing(engine) as connection:
        for by in (member, OPERATOR):
            change = Change(connection, by, clock.now)
            for number in range(audit.MOST_AN_HOUR + 20):
                change.record(shop.key, "file_dropped", f"{number}.csv")
        events = audit.list_events(connection, shop.shop_id)
    of_member = [(event.detail, event.times) for event in events if event.actor == member.name]
    assert len(of_member) == audit.MOST_AN_HOUR + 1
    assert of_member[0] == ("and more", 20)
    assert len(events) - len(of_member) == audit.MOST_AN_HOUR + 20
