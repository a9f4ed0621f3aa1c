"""Operators: the first shop with the link that sets a password, further ones, and shops of others."""

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask.testing import FlaskClient
from sqlalchemy import Engine, select

from tests.support.commands import run_web
from tests.support.people import ALL, PASSWORD, Browser, add_member
from tests.support.shop_builder import ShopBuilder, known_shop
from warehouse.shops.shop_registry import ShopSettings, list_shops
from warehouse.tables import member
from web.auth import members, passwords
from web.cli import main

EVE = ("--email", "eve@example.com")
NEW: dict[str, Any] = {
    "shop_id": "new.myshopify.com",
    "name": "New",
    "currency": "eur",
    "timezone": "Europe/Berlin",
}
ADDED = ShopSettings("new.myshopify.com", "New", "EUR", "Europe/Berlin")
PASSWORDS = {"password": PASSWORD, "again": PASSWORD}


def run(url: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["members", *arguments], env={"WAREHOUSE_URL": url})


def link(done: Result) -> str:
    found = re.search(r"/settings/password/[\w-]{43}$", done.stdout.strip())
    assert found, done.output
    return found[0]


def listed(url: str) -> dict[str, bool]:
    """Whether each member is an operator, as the command says."""
    rows = map(json.loads, run(url, "list", "--json").stdout.splitlines())
    return {row["email"]: row["isOperator"] for row in rows}


def shops(engine: Engine) -> list[ShopSettings]:
    with engine.connect() as connection:
        return list_shops(connection)


def members_of(engine: Engine, shop_id: str) -> list[tuple[str, tuple[str, ...]]]:
    with engine.connect() as connection:
        listed = members.list_members(connection, shop_id)
    return [(member.email, member.permissions) for member in listed]


def test_the_first_member_of_a_warehouse_adds_its_first_shop(
    client: FlaskClient, engine: Engine, warehouse_url: str
) -> None:
    path = link(run(warehouse_url, "add-operator", *EVE))
    browser = Browser(client)
    assert "Your first shop" in browser.get(path).get_data(as_text=True)
    for wrong, message in (
        ({"shop_id": "Lampen und mehr"}, "is not a shop&#39;s domain: &#39;Lampen und mehr&#39;"),
        ({"shop_id": "https://new.example/about"}, "is not a shop&#39;s domain"),
        ({"shop_id": ""}, "is not a shop&#39;s domain"),
        ({"currency": "EURO"}, "not a currency code of three letters"),
        ({"timezone": "Berlin"}, "not an IANA time zone"),
        ({"password": "short", "again": "short"}, "12 characters"),
    ):
        refused = browser.post(path, **{**NEW, **PASSWORDS, **wrong})
        assert refused.status_code == 422
        assert message in refused.get_data(as_text=True)
    assert shops(engine) == []
    # As it is copied from a browser.
    copied = {"shop_id": "https://New.myshopify.com/"}
    added = browser.post(path, **{**NEW, **PASSWORDS, **copied})
    assert (added.status_code, added.location) == (302, "/setup")
    assert shops(engine) == [ADDED]
    assert members_of(engine, ADDED.shop_id) == [("eve@example.com", ALL)]
    assert browser.is_in()
    trail = browser.get("/settings/activity").get_data(as_text=True)
    assert "Added the shop" in trail
    assert "new.myshopify.com: EUR, Europe/Berlin" in trail
    assert Browser(client).get(path).status_code == 404
    Browser(client).signed_in("eve@example.com")


def test_an_operator_adds_further_shops_and_is_in_them(
    browser: Browser, engine: Engine, shop: ShopBuilder, warehouse_url: str
) -> None:
    browser.signed_in()
    assert browser.get("/setup/shop").status_code == 403
    assert "Add another shop" not in browser.get("/setup").get_data(as_text=True)
    told = run(warehouse_url, "add-operator", "--email", "ada@example.com")
    assert told.stdout == "ada@example.com can add shops at http://127.0.0.1:8000/setup\n"
    assert "Add another shop" in browser.get("/setup").get_data(as_text=True)
    assert browser.post("/setup/shop", **NEW).location == "/setup"
    assert shops(engine)[1] == ADDED
    assert members_of(engine, ADDED.shop_id) == [("ada@example.com", ALL)]
    assert "<dd>new.myshopify.com</dd>" in browser.get("/setup").get_data(as_text=True)
    assert listed(warehouse_url) == {"ada@example.com": True}
    assert run(warehouse_url, "remove-operator", "--email", "ada@example.com").exit_code == 0
    assert listed(warehouse_url) == {"ada@example.com": False}
    assert browser.get("/setup/shop").status_code == 403
    assert browser.post("/setup/shop", page="/settings/account", **NEW).status_code == 403
    again = run(warehouse_url, "remove-operator", "--email", "ada@example.com")
    assert again.exit_code == 1
    assert "'ada@example.com' is no operator" in again.stderr


def test_a_shop_that_is_there_is_not_entered(
    browser: Browser, client: FlaskClient, engine: Engine, warehouse_url: str
) -> None:
    """Neither with its own settings nor with others; and the link still works afterwards."""
    theirs = ShopBuilder(engine, "theirs.example", currency="EUR", timezone="Europe/Berlin")
    path = link(run(warehouse_url, "add-operator", *EVE))
    run(warehouse_url, "add-operator", "--email", "ada@example.com")
    browser.signed_in()
    eve = Browser(client)
    for currency in ("EUR", "USD"):
        taken = {**NEW, "shop_id": theirs.shop_id, "name": "", "currency": currency}
        for refused in (
            eve.post(path, **taken, **PASSWORDS),
            browser.post("/setup/shop", **taken),
        ):
            assert refused.status_code == 422
            assert "This shop is here already." in refused.get_data(as_text=True)
    assert members_of(engine, theirs.shop_id) == []
    assert not eve.is_in()
    assert eve.post(path, **NEW, **PASSWORDS).location == "/setup"


def test_a_person_who_was_removed_meanwhile_adds_no_shop(
    client: FlaskClient, engine: Engine, warehouse_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the form is sent, and while its password is hashed."""
    path = link(run(warehouse_url, "add-operator", *EVE))
    browser = Browser(client)
    sent = {**browser.form(path), **NEW, **PASSWORDS}
    assert run(warehouse_url, "remove-operator", *EVE).exit_code == 0
    assert browser.client.post(path, data=sent).status_code == 404
    path = link(run(warehouse_url, "add-operator", *EVE))
    hash_password = passwords.hash_password

    def removed_meanwhile(password: str) -> str:
        assert run(warehouse_url, "remove-operator", *EVE).exit_code == 0
        return hash_password(password)

    monkeypatch.setattr(passwords, "hash_password", removed_meanwhile)
    assert browser.client.post(path, data=sent).status_code == 404
    assert shops(engine) == []


def test_a_member_without_a_password_gets_one_by_the_same_link(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, warehouse_url: str
) -> None:
    add_member(engine, shop, "eve@example.com", ["connections:manage"], password=False)
    path = link(run(warehouse_url, "add-operator", *EVE))
    browser = Browser(client)
    assert "Your first shop" not in browser.get(path).get_data(as_text=True)
    assert browser.post(path, **PASSWORDS).location == "/"
    assert "Let a member add shops" in browser.get("/settings/activity").get_data(as_text=True)


def people(engine: Engine) -> list[tuple[str, int]]:
    with engine.connect() as connection:
        rows = connection.execute(select(member.c.email, member.c.adds_shops))
        return [(row.email, row.adds_shops) for row in rows]


def test_the_right_to_add_shops_outlives_the_last_shop(
    client: FlaskClient, engine: Engine, warehouse_url: str
) -> None:
    browser = Browser(client)
    browser.post(link(run(warehouse_url, "add-operator", *EVE)), **NEW, **PASSWORDS)
    add_member(engine, known_shop(engine, ADDED.shop_id), "bob@example.com")
    # In a process of its own: this one has the warehouse open.
    assert run_web(warehouse_url, "shops", "delete", ADDED.shop_id, "--yes").status == 0
    assert not browser.is_in()
    assert people(engine) == [("eve@example.com", 1)]
    # A sign-in is to a shop: without one, the command gives a link.
    path = link(run(warehouse_url, "add-operator", *EVE))
    again = {**NEW, "shop_id": "next.myshopify.com"}
    assert Browser(client).post(path, **again, **PASSWORDS).location == "/setup"
    assert [one.shop_id for one in shops(engine)] == ["next.myshopify.com"]
