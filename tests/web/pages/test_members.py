"""The Members page: who may what, invitations by a link, and that nobody gets what nobody gave them."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, func, select

from tests.support.fixtures import Clock
from tests.support.people import PASSWORD, Browser, add_member
from tests.support.shop_builder import ShopBuilder, writing
from warehouse import tables
from warehouse.domain.vocabulary import PERMISSIONS
from web.auth import invitations, members, operators
from web.auth.audit import OPERATOR, Change

MEMBERS = "/settings/members"
NEW = f"{MEMBERS}/new"
EDITOR = "bea@example.com"
STRONG = "a whole sentence that nobody guesses"

Enter = Callable[..., Browser]


@pytest.fixture
def browser(client: FlaskClient, ada: str) -> Browser:
    return Browser(client).signed_in(ada)


@pytest.fixture
def enter(client: FlaskClient, engine: Engine, shop: ShopBuilder) -> Enter:
    """A new member of the shop, or of another one, in a browser of their own."""

    def new(email: str, *permissions: str, of: ShopBuilder = shop) -> Browser:
        add_member(engine, of, email, permissions)
        return Browser(client, REMOTE_ADDR=f"192.0.2.{len(email)}").signed_in(email)

    return new


def text_of(browser: Browser, path: str = MEMBERS) -> str:
    answer = browser.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    return unescape(answer.get_data(as_text=True))


def invite(browser: Browser, email: str, *permissions: str) -> str:
    """The path of the link."""
    answer = browser.post(NEW, email=email, permissions=list(permissions))
    page = answer.get_data(as_text=True)
    assert answer.status_code == 200, page
    link = re.search(r'<code id="link">http://[^/]+(/settings/join/[^<]+)</code>', page)
    assert link
    return link[1]


def join(browser: Browser, path: str, password: str = STRONG) -> Any:
    return browser.post(path, password=password, again=password)


def permissions_of(engine: Engine, shop: ShopBuilder, email: str) -> tuple[str, ...] | None:
    with engine.connect() as connection:
        for member in members.list_members(connection, shop.shop_id):
            if member.email == email and member.disabled_at is None:
                permissions: tuple[str, ...] = member.permissions
                return permissions
    return None


def key_of(engine: Engine, email: str) -> int:
    with engine.connect() as connection:
        return int(
            connection.scalar(
                select(tables.member.c.member_key).where(tables.member.c.email == email)
            )
            or 0
        )


def test_a_link_invites_once(
    browser: Browser, client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    path = invite(browser, " Cy@Example.com ", "forms:edit", "customers:view")
    assert "cy@example.com" in text_of(browser)
    assert permissions_of(engine, shop, "cy@example.com") is None
    cy = Browser(client)
    assert "cy@example.com" in text_of(cy, path)
    weak = join(cy, path, "cy@example.com")
    assert weak.status_code == 422
    assert join(cy, path).status_code == 302
    assert permissions_of(engine, shop, "cy@example.com") == ("forms:edit", "customers:view")
    assert cy.is_in()
    # It worked once, and the page shows it no more.
    assert Browser(client).get(path).status_code == 404
    assert "data-invited" not in text_of(browser)
    assert cy.get(MEMBERS).status_code == 403
    trail = text_of(browser, "/settings/activity")
    assert "Invited a member" in trail
    assert "cy@example.com: forms:edit, customers:view" in trail


def test_a_link_ends(
    browser: Browser, client: FlaskClient, clock: Clock, engine: Engine, shop: ShopBuilder
) -> None:
    first = invite(browser, "cy@example.com")
    second = invite(browser, "cy@example.com")
    assert Browser(client).get(first).status_code == 404
    assert Browser(client).get(second).status_code == 200
    browser.post(f"{MEMBERS}/withdraw", MEMBERS, email="cy@example.com")
    assert Browser(client).get(second).status_code == 404
    third = invite(browser, "cy@example.com")
    clock.set("2026-04-07T12:00:01")
    assert Browser(client).get(third).status_code == 404
    assert key_of(engine, "cy@example.com") == 0


def test_a_link_sets_no_password_of_an_account(
    browser: Browser, client: FlaskClient, engine: Engine, enter: Enter
) -> None:
    """Else who invites an address would be in all shops of its person."""
    other = ShopBuilder(engine, "other.example")
    dee = enter("dee@example.com", of=other)
    add_member(engine, other, "waiting@example.com", password=False)
    with writing(engine) as connection:
        operators.add(Change(connection, OPERATOR, 0), "operator@example.com")
    for email in ("dee@example.com", "waiting@example.com", "operator@example.com"):
        path = invite(browser, email, *PERMISSIONS)
        thief = Browser(client)
        assert "new-password" not in text_of(thief, path)
        page = thief.form("/settings/sign-in")
        sent = thief.client.post(path, data=page | {"password": STRONG, "again": STRONG})
        assert sent.status_code == 422
        assert not thief.is_in()
        # Neither may somebody else take the place.
        assert "sign in as" in text_of(browser, path)
        assert browser.client.post(path, data=browser.form(MEMBERS)).status_code == 422
    with engine.connect() as connection:
        hashes = select(tables.member.c.email).where(tables.member.c.password_hash == "")
        assert {*connection.scalars(hashes)} == {"waiting@example.com", "operator@example.com"}
    own = invite(browser, "dee@example.com", "discounts:view")
    assert dee.client.post(own, data=dee.form(own)).status_code == 302
    assert "Discounts" in text_of(dee, "/")


def test_nobody_gives_or_takes_what_they_do_not_have(
    browser: Browser, engine: Engine, shop: ShopBuilder, enter: Enter
) -> None:
    bea = enter(EDITOR, "connections:manage", "forms:edit")
    enter("cy@example.com", "discounts:view", "forms:edit")
    cy, ada = (key_of(engine, f"{name}@example.com") for name in ("cy", "ada"))
    page = text_of(bea, NEW)
    assert page.count("You do not have it") == 2
    refused = bea.post(NEW, email="x@example.com", permissions=["customers:view"])
    assert refused.status_code == 403
    assert "Orders view permission" in refused.get_data(as_text=True)
    for wanted in (["discounts:view", "customers:view"], ["customers:view"]):
        answer = bea.post(f"{MEMBERS}/{cy}", MEMBERS, permissions=wanted)
        assert answer.status_code == 403, wanted
    # A closed box is not sent: what bea lacks stays as it was.
    bea.client.post(f"{MEMBERS}/{cy}", data=bea.form(NEW) | {"permissions": ["connections:manage"]})
    assert permissions_of(engine, shop, "cy@example.com") == (
        "discounts:view",
        "connections:manage",
    )
    for key in (cy, ada):
        answer = bea.client.post(f"{MEMBERS}/{key}/remove", data=bea.form(NEW))
        assert answer.status_code == 403
    assert permissions_of(engine, shop, "ada@example.com") == PERMISSIONS
    # The page offers nothing of that.
    assert "/remove" not in text_of(bea, f"{MEMBERS}/{ada}")


def test_a_member_is_taken_away_at_once(
    browser: Browser, engine: Engine, shop: ShopBuilder, enter: Enter
) -> None:
    bea = enter(EDITOR, "forms:edit")
    key = key_of(engine, EDITOR)
    assert browser.post(f"{MEMBERS}/{key}/remove", f"{MEMBERS}/{key}").status_code == 302
    assert not bea.is_in()
    assert permissions_of(engine, shop, EDITOR) is None
    assert f'data-member="{EDITOR}"' not in text_of(browser)
    # Nobody takes themselves away, so somebody stays who manages the shop.
    own = key_of(engine, "ada@example.com")
    for path in (f"{MEMBERS}/{own}", f"{MEMBERS}/{own}/remove"):
        assert browser.client.post(path, data=browser.form(NEW)).status_code == 403
    # Invited again, they are back with what they are given then.
    path = invite(browser, EDITOR, "customers:view")
    with_account = Browser(browser.client)
    page = text_of(with_account, path)
    assert "Sign in with it first" in page or "new-password" in page


def test_other_shops_and_other_members_reach_nothing(
    browser: Browser, engine: Engine, shop: ShopBuilder, enter: Enter
) -> None:
    path = invite(browser, "cy@example.com")
    stranger = enter("stranger@example.com", *PERMISSIONS, of=ShopBuilder(engine, "b.example"))
    ada = key_of(engine, "ada@example.com")
    for address in (f"{MEMBERS}/{ada}", f"{MEMBERS}/{ada}/remove"):
        assert stranger.client.post(address, data=stranger.form(NEW)).status_code == 404
    stranger.client.post(
        f"{MEMBERS}/withdraw", data=stranger.form(NEW) | {"email": "cy@example.com"}
    )
    assert Browser(browser.client).get(path).status_code == 200
    assert "ada@example.com" not in text_of(stranger)
    nobody = enter("nobody@example.com", "forms:edit", "discounts:view", "customers:view")
    for address in (MEMBERS, NEW, f"{MEMBERS}/{ada}"):
        assert nobody.get(address).status_code == 403


def test_addresses_are_checked_and_bounded(
    browser: Browser, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for email in ("", "no address", "<script>@x", "a@b", f"{'x' * 250}@example.com"):
        assert browser.post(NEW, email=email).status_code == 422, email
    member = browser.post(NEW, email="ada@example.com")
    assert "is a member of this shop already" in member.get_data(as_text=True)
    assert browser.post(NEW, email="x@example.com", permissions=["root"]).status_code == 422
    monkeypatch.setattr(invitations, "MOST", 1)
    invite(browser, "<b>x</b>@example.com".replace("<b>", "b").replace("</b>", ""))
    assert "withdraw one first" in browser.post(NEW, email="y@example.com").get_data(as_text=True)
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(tables.invitation)) == 1
    assert PASSWORD not in text_of(browser)
