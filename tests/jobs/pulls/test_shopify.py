"""Shopify's orders by its bulk operation, against a server that speaks its documented protocol."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import text

from jobs.importing.formats.shopify.bulk import ShopifyBulk
from jobs.pulls import limits
from jobs.pulls.shopify import query
from tests.jobs.pulls.server import Served, serving
from tests.jobs.pulls.shopify_server import (
    CLIENT_ID,
    CLIENT_SECRET,
    CREATED_AT,
    SIGNATURE,
    ShopifyServer,
)
from tests.support.commands import set_values
from tests.support.import_files import SAMPLES
from tests.support.job_commands import SHOP, Commands
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from warehouse.connections.engine import open_engine

CONTENT = (SAMPLES / "shopify-bulk.jsonl").read_bytes()
LINES = CONTENT.count(b"\n")
KEY = "bXkgdmVyeSBzZWNyZXQga2V5IG9mIDMyIGJ5dGVzIS4="
NAME = "shopify-a.example"


@pytest.fixture
def shopify() -> ShopifyServer:
    return ShopifyServer(CONTENT)


@pytest.fixture
def served(shopify: ShopifyServer) -> Iterator[Served]:
    with serving(shopify) as server:
        shopify.url = server.url
        yield server


@pytest.fixture
def pulling(sqlite_commands: Commands, served: Served) -> Commands:
    commands = sqlite_commands
    commands.take("shops", [SHOP])
    commands.settings |= {"SHOPIFY_CLIENT_ID": CLIENT_ID, "SHOPIFY_CLIENT_SECRET": CLIENT_SECRET}
    commands("pulls", "add", "shopify", "--url", served.url)
    return commands


def landed(commands: Commands) -> list[Path]:
    return [path for path in commands.landing.rglob("*") if path.is_file()]


def test_the_orders_are_imported(pulling: Commands, shopify: ShopifyServer) -> None:
    shopify.looks = 3
    line = f"pulled {NAME}: {LINES} rows, {len(CONTENT)} bytes"
    assert line in pulling("pull", "shopify")
    (file,) = landed(pulling)
    assert file.parent == pulling.landing / "orders" / "shopify-bulk" / "a.example"
    assert file.read_bytes() == CONTENT
    pulling("landing")
    assert pulling.rows("SELECT COUNT(*) FROM raw_order")[0] >= 2
    # From then on, only what has changed since a day before the operation began.
    pulling("pull", "shopify")
    whole, changed = shopify.queries
    assert whole == query(None, 1)
    assert changed == whole.replace(
        "orders", "orders(query: \"updated_at:>='2026-11-19T10:00:00Z'\")", 1
    )


def test_nothing_has_changed(pulling: Commands, shopify: ShopifyServer) -> None:
    shopify.content = b""
    assert f"pulled {NAME}: 0 rows, 0 bytes" in pulling("pull", "shopify")
    assert landed(pulling) == []
    assert json.loads(pulling.rows("SELECT state FROM pull")[0]) == {"updated_through": CREATED_AT}


def test_what_only_needs_patience(pulling: Commands, shopify: ShopifyServer) -> None:
    """Throttling, too many requests, another operation, an expired token, two cut downloads."""
    shopify.throttled, shopify.too_many, shopify.busy, shopify.looks = 2, 2, 2, 4
    shopify.expires = 5
    shopify.cuts = [0, 100]
    pulling("pull", "shopify")
    assert shopify.tokens > 1
    assert len(shopify.queries) == 1
    (file,) = landed(pulling)
    assert file.read_bytes() == CONTENT


def test_a_pull_without_credentials_says_so_when_it_is_added(sqlite_commands: Commands) -> None:
    """It failed an hour later."""
    commands = sqlite_commands
    commands.take("shops", [SHOP | {"shop_id": "a.myshopify.com"}])
    lacks = "it fails until it has credentials of the Shopify app: set SHOPIFY_CLIENT_ID and "
    assert lacks in commands("pulls", "add", "shopify")
    commands.settings |= {"SHOPIFY_CLIENT_ID": CLIENT_ID, "SHOPIFY_CLIENT_SECRET": CLIENT_SECRET}
    assert "it fails until" not in commands("pulls", "add", "shopify")
    assert "it fails until" not in commands("pulls", "add", "ecb")


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (
            {
                "status": "FAILED",
                "errorCode": "TIMEOUT",
                "partialDataUrl": "https://x/?s=1",
                "url": None,
            },
            "the bulk operation ended as FAILED (TIMEOUT). Shopify kept the part that it had "
            "(partialDataUrl), which is not taken. The next pull starts anew",
        ),
        (
            {"status": "FAILED", "errorCode": "ACCESS_DENIED", "url": None},
            "the bulk operation ended as FAILED (ACCESS_DENIED). The next pull starts anew",
        ),
        (
            {"status": "CANCELED", "url": None},
            "the bulk operation ended as CANCELED. The next pull starts anew",
        ),
        (
            {"status": "EXPIRED", "url": None},
            "the bulk operation ended as EXPIRED. The next pull starts anew",
        ),
        (
            {"fileSize": str(len(CONTENT) + 1)},
            f"the download of the orders was cut off: it has {len(CONTENT)} bytes and "
            f"{LINES} lines, of {len(CONTENT) + 1} bytes and {LINES} objects",
        ),
    ],
)
def test_an_operation_that_fails(
    pulling: Commands, shopify: ShopifyServer, ending: dict[str, str], reason: str
) -> None:
    shopify.looks, shopify.ending = 2, ending
    assert pulling("pull", "shopify", status=1).splitlines()[-1] == f"Error: {reason}"
    assert landed(pulling) == []
    (pull,) = pulling.status(status=1)["pulls"]
    assert (pull["shop_id"], pull["status"], pull["message"]) == ("a.example", "error", reason)
    shopify.ending, shopify.lost = {}, ending
    pulling("pull", "shopify")
    assert shopify.queries == [query(None, 1)] * 2


def states(commands: Commands) -> list[Any]:
    return [json.loads(state) for state in commands.rows("SELECT state FROM pull")]


def test_an_operation_that_is_longer_than_a_pull(
    pulling: Commands, shopify: ShopifyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    shopify.looks = 1_000_000
    with monkeypatch.context() as short:
        short.setattr(limits, "LONGEST_SECONDS", 0.5)
        for _ in range(2):
            assert "has not ended within 6 hours" in pulling("pull", "shopify", status=1)
    shopify.looks = 3
    pulling("pull", "shopify")
    assert shopify.queries == [query(None, 1)]
    assert states(pulling) == [{"updated_through": CREATED_AT}]
    (file,) = landed(pulling)
    assert file.read_bytes() == CONTENT


@pytest.mark.parametrize("change", ["lookback", "expired", "unknown", "denied"])
def test_an_operation_that_is_not_taken_up(
    pulling: Commands, shopify: ShopifyServer, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """It has another query, or its result is gone, or Shopify has forgotten it or does not show it."""
    pulling("pull", "shopify")
    shopify.looks = 1_000_000
    with monkeypatch.context() as short:
        short.setattr(limits, "LONGEST_SECONDS", 0.5)
        pulling("pull", "shopify", status=1)
    shopify.looks = 0
    if change == "lookback":
        pulling("pulls", "add", "shopify", "--lookback", "2")
    elif change == "expired":
        shopify.lost = {"url": None}
    else:
        shopify.lost, shopify.denied = None, change == "denied"
    pulling("pull", "shopify")
    assert len(shopify.queries) == 3
    assert len(landed(pulling)) == 2


def test_a_download_that_is_always_cut(pulling: Commands, shopify: ShopifyServer) -> None:
    shopify.cuts = [100] * 20
    printed = pulling("pull", "shopify", status=1)
    assert "the download of the orders: the answer of 127.0.0.1 was cut off" in printed
    assert landed(pulling) == []


def test_wrong_credentials(pulling: Commands, tmp_path: Path) -> None:
    pulling.settings["SHOPIFY_CLIENT_SECRET"] = "wrong-but-secret"
    printed = pulling("pull", "shopify", status=1)
    assert "Shopify answered 400 Bad Request: Client authentication failed for ***" in printed
    del pulling.settings["SHOPIFY_CLIENT_SECRET"]
    assert "set SHOPIFY_CLIENT_ID and SHOPIFY_CLIENT_SECRET" in pulling("pull", "shopify", status=1)
    # As a container has them.
    secret = tmp_path / "secret"
    secret.write_text(f"{CLIENT_SECRET}\n")
    pulling.settings["SHOPIFY_CLIENT_SECRET_FILE"] = str(secret)
    pulling("pull", "shopify")


def test_the_environment_alone_suffices(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [{**SHOP, "shop_id": "b.example"}])
    printed = sqlite_commands("pull", "shopify", status=1)
    assert "'b.example' is no domain of Shopify's" in printed
    sqlite_commands.take("shops", [{**SHOP, "shop_id": "a.myshopify.com"}])
    assert "there are 2 shops: say which with --shop" in sqlite_commands(
        "pull", "shopify", status=1
    )
    printed = sqlite_commands("pull", "shopify", "--shop", "a.myshopify.com", status=1)
    assert "no credentials of the Shopify app" in printed
    listed = sqlite_commands("pulls", "list")
    assert listed.startswith("shopify-a.myshopify.com  shopify  a.myshopify.com  off  error ")


def test_credentials_that_are_kept(pulling: Commands) -> None:
    for name in ("SHOPIFY_CLIENT_ID", "SHOPIFY_CLIENT_SECRET"):
        del pulling.settings[name]
    given = json.dumps({"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET})
    add = ("pulls", "add", "shopify", "--credentials")
    file = pulling.folder / "credentials.json"
    file.write_text(given)
    printed = pulling(*add, str(file), status=1)
    assert "CREDENTIALS_KEY is not set, so credentials cannot be kept" in printed
    pulling.settings["CREDENTIALS_KEY"] = KEY
    pulling(*add, str(file))
    pulling("pull", "shopify")
    (kept,) = pulling.rows("SELECT credentials FROM pull")
    assert kept
    assert CLIENT_SECRET not in kept
    # Another key, and none.
    pulling.settings["CREDENTIALS_KEY"] = KEY[:20] + "A" + KEY[21:]
    assert "is not the key under which the credentials are kept" in pulling(
        "pull", "shopify", status=1
    )
    del pulling.settings["CREDENTIALS_KEY"]
    assert "CREDENTIALS_KEY is not set" in pulling("pull", "shopify", status=1)


def test_no_secret_gets_out(pulling: Commands, shopify: ShopifyServer) -> None:
    """Logs, messages, files, the database and the list of processes, while it runs and after it failed."""
    secrets = [CLIENT_SECRET, "shpat_1", SIGNATURE]
    shopify.looks = 1_000_000
    # Started from nothing: the list of processes shows with which arguments.
    process = subprocess.Popen(
        [sys.executable, "-m", "jobs", "pull", "shopify"],
        env={**os.environ, **pulling.settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_until(lambda: shopify.queries)
    arguments = [" ".join(each.info["cmdline"] or ()) for each in psutil.process_iter(["cmdline"])]
    assert any("jobs pull shopify" in line for line in arguments)
    shopify.looks = 0
    shopify.cuts = [50] * 20
    shopify.ending = {"status": "FAILED", "errorCode": f"{CLIENT_SECRET} shpat_1"}
    printed, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 1, printed
    texts = [printed, *arguments, pulling("status", "--json", status=1), pulling("pulls", "list")]
    texts += [
        path.read_bytes().decode("latin-1") for path in pulling.folder.rglob("*") if path.is_file()
    ]
    assert [secret for secret in secrets for line in texts if secret in line] == []
    assert "ended as FAILED (*** ***)" in printed


def test_a_kill_between_the_file_and_the_state(pulling: Commands, shopify: ShopifyServer) -> None:
    # The state cannot be saved: somebody holds SQLite's only lock.
    shopify.looks = 1_000_000
    soon = partial(set_values, {"jobs.pulls.http._FIRST_PAUSE_SECONDS": 0.001})
    process = pulling.start("pull", "shopify", before=soon)
    wait_until(lambda: pulling.rows("SELECT state FROM pull") != [""])
    engine = open_engine(pulling.url)
    with engine.connect().execution_options(writes=True) as connection:
        connection.execute(text("SELECT 1"))
        shopify.looks = 0
        wait_until(lambda: [path for path in landed(pulling) if path.suffix == ".jsonl"])
        process.kill()
        process.wait()
        connection.rollback()
    assert [state.get("updated_through") for state in states(pulling)] == [None]
    pulling("pull", "shopify")
    # It takes up the operation of the one that was killed.
    assert shopify.queries == [query(None, 1)]
    assert len(landed(pulling)) == 2
    pulling("landing")
    orders = pulling.rows("SELECT COUNT(*), COUNT(DISTINCT order_id) FROM raw_order")
    assert orders[0][0] == orders[0][1]
    # The sample has orders that are refused.
    assert [one["condition"] for one in pulling.status(1)["conditions"]] == ["many-rejects"]


def test_the_query_of_the_page_has_all_that_is_read() -> None:
    text = query(None, 0)
    assert text.startswith("{\n  orders {\n")
    assert text.count("{") == text.count("}") > 10
    words = set(re.findall(r"\w+", text))
    read = {
        name
        for field in ShopifyBulk.source_fields
        # The refunds of a return are among those of its order.
        if not field.source.startswith(("refunds[].transactions", "customer.email", "returns"))
        for name in re.findall(r"\w+", field.source)
    }
    assert read - words == set()
