"""The audit trail: who, when, from where, what."""

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.web.builders import ShopBuilder, writing
from tests.web.conftest import Clock
from tests.web.members.people import CONNECTIONS, Browser, add_member, new_link
from web import audit, keys
from web.audit import OPERATOR
from web.members import accounts


def test_everything_that_counts_leaves_a_line(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    add_member(engine, shop, now=clock.now)
    browser = Browser(client, REMOTE_ADDR="198.51.100.7").signed_in()
    browser.sign_in(password="wrong")
    key = browser.mint("analytics:read", name="Reports")
    path = f"{CONNECTIONS}/{_one(engine).credential_id}"
    browser.post(f"{path}/rotate", grace="1h")
    browser.post(f"{path}/revoke")
    browser.post(f"{path}/revoke")  # it is over already
    browser.post("/settings/sign-out", CONNECTIONS)
    link = new_link(engine, "ada@example.com", clock.now)
    browser.post(link, password="quite another sentence", again="quite another sentence")
    with writing(engine) as connection:
        who = accounts.find(connection, shop.shop_id, "ada@example.com")
        accounts.set_permissions(connection, who, ["forms:edit"], by=OPERATOR, now=clock.now)
        accounts.reset_password(connection, who, by=OPERATOR, now=clock.now)
        accounts.disable(connection, who, by=OPERATOR, now=clock.now)
        found = audit.entries(connection, shop.shop_id)
    assert [(entry.action, entry.who) for entry in reversed(found)] == [
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
    assert {entry.place for entry in found} == {"198.51.100.7", "command line"}
    assert {entry.at for entry in found} == {clock.now}
    what = {entry.action: entry.what for entry in found}
    assert what["key_minted"].startswith("Reports, cred_")
    assert what["key_minted"].endswith(f"({key[:13]}…): analytics:read; no expiry")
    assert "works until 31 Mar 2026, 13:00 UTC" in what["key_rotated"]
    assert what["permissions_set"] == (
        "ada@example.com: forms:edit (before: forms:edit, discounts:view, connections:manage)"
    )
    assert not any(key in entry.what for entry in found)


def _one(engine: Engine) -> keys.Key:
    with engine.connect() as connection:
        (key,) = keys.list_keys(connection)
    return key


def test_the_page_shows_the_shops_trail_page_by_page(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    other = ShopBuilder(engine, "other.myshopify.com")
    browser.signed_in()
    with writing(engine) as connection:
        for number in range(120):
            place = shop if number % 2 else other
            what = f"entry number {number}."
            audit.record(connection, place.key, OPERATOR, "key_minted", what, clock.now)
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


def test_what_is_not_done_leaves_no_line(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop, permissions=[])
    browser = Browser(client).signed_in()
    browser.post("/settings/connections/new", CONNECTIONS, name="x", scopes=["analytics:read"])
    with engine.connect() as connection:
        actions = [entry.action for entry in audit.entries(connection)]
    assert actions == ["signed_in", "password_set", "member_added"]
