"""How many keys of a shop work at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Connection, Engine, func, insert, select

from tests.support.commands import run_web
from tests.support.fixtures import Clock
from tests.support.people import CONNECTIONS, NEW, Browser, add_member
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.domain.time import NEVER
from warehouse.tables import api_key, write_key
from web.auth import api_keys, write_keys
from web.auth.api_keys import MOST_KEYS
from web.auth.audit import OPERATOR, Change, OperatorError

NEW_WRITE_KEY = f"{CONNECTIONS}/write-keys/new"
TOLD = "which is the most; revoke one"


def mint(connection: Connection, shop: ShopBuilder, now: int = 0) -> object:
    change = Change(connection, OPERATOR, now)
    return api_keys.mint(change, shop.shop_id, ["analytics:read"], name="", expires_at=None)


def create(connection: Connection, shop: ShopBuilder, now: int = 0) -> object:
    return write_keys.create(Change(connection, OPERATOR, now), shop.shop_id, (), name="")


def fill(engine: Engine, shop: ShopBuilder, count: int, **values: int) -> None:
    """Add keys of both kinds."""
    own = {"shop_key": shop.key, "name": "", "created_by": "x", "created_at": 0}
    ends = {"revoked_at": NEVER, "expires_at": NEVER, **values}
    name = f"{shop.key} {values}"
    rows = [
        {
            **own,
            **ends,
            "credential_id": f"cred {name} {number}",
            "key_hash": f"{name} {number}",
            "hint": "frk_live_xxxx",
            "scopes": "analytics:read",
        }
        for number in range(count)
    ]
    with writing(engine) as connection:
        connection.execute(insert(api_key), rows)
        del ends["expires_at"]
        if "expires_at" not in values:
            public = [
                {**own, **ends, "write_key": f"{name} {i}", "origins": ""} for i in range(count)
            ]
            connection.execute(insert(write_key), public)


@pytest.mark.parametrize("add", [mint, create])
def test_of_many_at_once_as_many_are_added_as_there_is_room(
    engine: Engine, shop: ShopBuilder, add: Callable[..., object]
) -> None:
    """Keys that work no more, and those of another shop, take none."""
    now = 1_000
    fill(engine, shop, MOST_KEYS, revoked_at=now)
    fill(engine, shop, MOST_KEYS, expires_at=now)
    fill(engine, ShopBuilder(engine, "other.example"), MOST_KEYS)
    fill(engine, shop, MOST_KEYS - 2)

    def one_more(_: int) -> bool:
        with suppress(OperatorError), writing(engine) as connection:
            add(connection, shop, now)
            return True
        return False

    with ThreadPoolExecutor(8) as threads:
        added = list(threads.map(one_more, range(8)))
    assert sorted(added) == [*[False] * 6, *[True] * 2]


def test_a_rotation_needs_room_for_the_old_key_while_that_works(
    engine: Engine, shop: ShopBuilder
) -> None:
    fill(engine, shop, MOST_KEYS)
    credential_id = f"cred {shop.key} {{}} 0"

    def rotate(grace: int) -> str:
        with writing(engine) as connection:
            change = Change(connection, OPERATOR, 1_000)
            return api_keys.rotate(change, credential_id, grace=grace, expires_at=None)

    with pytest.raises(OperatorError, match=TOLD):
        rotate(1)
    with engine.connect() as connection:
        assert api_keys.can_rotate(api_keys.find(connection, credential_id), 1_000)
    assert rotate(0)


def test_pages_and_commands_say_what_to_do(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, warehouse_url: str, clock: Clock
) -> None:
    add_member(engine, shop)
    fill(engine, shop, MOST_KEYS)
    browser = Browser(client).signed_in()
    refused = browser.post(NEW, name="x", scopes=["analytics:read"])
    assert refused.location == CONNECTIONS
    assert TOLD in browser.get(CONNECTIONS).text
    refused = browser.post(NEW_WRITE_KEY, name="x", origins="")
    assert refused.location == CONNECTIONS
    assert f"No line was made: {MOST_KEYS} write keys" in browser.get(CONNECTIONS).text
    rotate = f"{CONNECTIONS}/cred {shop.key} {{}} 0/rotate"
    assert browser.post(rotate, grace="24h").location == CONNECTIONS
    assert TOLD in browser.get(CONNECTIONS).text
    for words in (("keys", "mint", "--scopes", "analytics:read"), ("write-keys", "create")):
        done = run_web(warehouse_url, *words, "--shop", shop.shop_id)
        assert (done.status, done.output) == (1, "")
        assert TOLD in done.errors
        assert len(done.errors.splitlines()) == 1
    with engine.connect() as connection:
        for table in (api_key, write_key):
            assert connection.scalar(select(func.count()).select_from(table)) == MOST_KEYS


def test_the_page_shows_all_keys_that_work_and_some_that_ended(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop)
    fill(engine, shop, MOST_KEYS)
    for ended in range(1, 4):
        fill(engine, shop, MOST_KEYS, revoked_at=ended)
    page = Browser(client).signed_in().get(CONNECTIONS).text
    assert page.count('class="card key"') == 4 * MOST_KEYS
    assert page.count("/revoke") == 2 * MOST_KEYS
    assert f"Expired and revoked keys ({3 * MOST_KEYS})" in page
    assert f"The last {MOST_KEYS} are shown." in page
