"""Who may add shops can do so after the last of their shops is deleted, too."""

import os
import subprocess
import sys

from flask.testing import FlaskClient
from sqlalchemy import Engine, select

from tests.support.people import Browser, add_member
from tests.support.shop_builder import known_shop
from tests.web.pages.test_operators import ADDED, EVE, NEW, PASSWORDS, link, run, shops
from warehouse.tables import member


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
    command = [sys.executable, "-m", "web", "shops", "delete", ADDED.shop_id, "--yes"]
    subprocess.run(command, env={**os.environ, "WAREHOUSE_URL": warehouse_url}, check=True)
    assert not browser.is_in()
    assert people(engine) == [("eve@example.com", 1)]
    # A sign-in is to a shop: without one, the command gives a link.
    path = link(run(warehouse_url, "add-operator", *EVE))
    again = {**NEW, "shop_id": "next.myshopify.com"}
    assert Browser(client).post(path, **again, **PASSWORDS).location == "/setup"
    assert [one.shop_id for one in shops(engine)] == ["next.myshopify.com"]
