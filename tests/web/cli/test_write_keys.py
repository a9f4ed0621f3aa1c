"""Write keys at the command line."""

import json
import re

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine

from tests.support.shop_builder import ShopBuilder
from web.auth import audit
from web.cli import main


def invoke(url: str, *words: str) -> Result:
    """`python -m web write-keys WORDS`, in this process."""
    return CliRunner().invoke(main, ["write-keys", *words], env={"WAREHOUSE_URL": url})


def test_create_list_and_revoke(warehouse_url: str, shop: ShopBuilder, engine: Engine) -> None:
    origins = "https://shop.example, HTTPS://www.shop.example:8443"
    created = invoke(
        warehouse_url, "create", "--shop", shop.shop_id, "--origins", origins, "--name", "site"
    )
    assert (created.exit_code, created.stderr) == (0, "")
    key = created.stdout.splitlines()[-1]
    assert re.fullmatch("fwk_[0-9a-f]{32}", key)
    (row,) = map(json.loads, invoke(warehouse_url, "list", "--json").stdout.splitlines())
    assert row.pop("createdAt").endswith("Z")
    assert row == {
        "writeKey": key,
        "shopId": shop.shop_id,
        "name": "site",
        "origins": ["https://shop.example", "https://www.shop.example:8443"],
        "state": "active",
        "createdBy": "operator",
        "revokedAt": None,
    }
    assert invoke(warehouse_url, "revoke", key).exit_code == 0
    # Again, it keeps its instant and is no event of the trail.
    assert invoke(warehouse_url, "revoke", key).exit_code == 0
    listed = invoke(warehouse_url, "list", "--shop", shop.shop_id).stdout.splitlines()
    assert listed[0].split() == ["WRITE", "KEY", "SHOP", "STATE", "ORIGINS", "NAME"]
    assert listed[1].split()[:3] == [key, shop.shop_id, "revoked"]
    assert len(invoke(warehouse_url, "list", "--shop", "other").stdout.splitlines()) == 1
    with engine.connect() as connection:
        trail = audit.list_events(connection, shop.shop_id, limit=10)
    assert [event.action for event in trail] == ["write_key_revoked", "write_key_created"]


def test_a_key_for_servers_alone(warehouse_url: str, shop: ShopBuilder) -> None:
    assert invoke(warehouse_url, "create", "--shop", shop.shop_id).exit_code == 0
    assert "servers alone" in invoke(warehouse_url, "list").stdout


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("create", "--shop", "unknown"), 1, "there is no shop 'unknown'"),
        (
            ("create", "--shop", "x", "--origins", "shop.example"),
            2,
            "'shop.example' must be origins",
        ),
        (("revoke", "fwk_unknown"), 1, "there is no write key 'fwk_unknown'"),
    ],
)
def test_errors_are_one_line(
    warehouse_url: str, words: tuple[str, ...], status: int, told: str
) -> None:
    refused = invoke(warehouse_url, *words)
    assert refused.exit_code == status
    assert told in refused.stderr.splitlines()[-1]
