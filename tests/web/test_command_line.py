"""The command line and the server, as processes."""

import json
import re
import signal
import socket
from pathlib import Path

from click.testing import CliRunner, Result
from sqlalchemy import Engine

from tests.web.builders import ShopBuilder
from tests.web.serving import ask, run, served
from web.cli import main
from web.key_text import is_well_formed

BODY = {"Content-Type": "application/json"}


def invoke(url: str, *words: str) -> Result:
    """`python -m web WORDS`, in this process."""
    return CliRunner().invoke(main, words, env={"WAREHOUSE_URL": url})


def test_keys_from_mint_to_revoke(warehouse_url: str, shop: ShopBuilder) -> None:
    minted = invoke(
        warehouse_url,
        "keys",
        "mint",
        "--shop",
        shop.shop_id,
        "--scopes",
        "forms:write,analytics:read",
        "--name",
        "A tool",
        "--expires",
        "2099-12-31",
    )
    assert (minted.exit_code, minted.stderr) == (0, "")
    key = minted.stdout.splitlines()[-1]
    assert is_well_formed(key)
    listed = invoke(warehouse_url, "keys", "list", "--json")
    (row,) = map(json.loads, listed.stdout.splitlines())
    assert key not in listed.stdout
    assert row.pop("createdAt").endswith("Z")
    assert row == {
        "credentialId": row["credentialId"],
        "shopId": shop.shop_id,
        "name": "A tool",
        "hint": key[:13],
        "scopes": ["analytics:read", "forms:write"],
        "state": "active",
        "createdBy": "operator",
        "expiresAt": "2100-01-01T00:00:00.000Z",
        "revokedAt": None,
        "lastUsedAt": None,
        "replacedBy": None,
    }
    assert invoke(warehouse_url, "keys", "list", "--shop", "other").stdout == ""
    assert invoke(warehouse_url, "keys", "revoke", row["credentialId"]).exit_code == 0
    shown = invoke(warehouse_url, "keys", "list", "--shop", shop.shop_id).stdout
    assert row["credentialId"] in shown
    assert "revoked" in shown


def test_failures_and_wrong_usage(warehouse_url: str, shop: ShopBuilder) -> None:
    mint = ["keys", "mint", "--shop", shop.shop_id, "--scopes"]
    for arguments, status in (
        (["keys", "mint", "--shop", "nobody", "--scopes", "forms:write"], 1),
        (["keys", "revoke", "cred_0"], 1),
        ([*mint, "everything"], 2),
        ([*mint, ""], 2),
        ([*mint, "forms:write", "--expires", "2026-02-30"], 2),
        ([*mint, "forms:write", "--expires", "tomorrow"], 2),
        (["keys", "mint", "--shop", shop.shop_id], 2),
        (["keys"], 2),
        (["serve", "--port", "0"], 2),
    ):
        done = invoke(warehouse_url, *arguments)
        assert (done.exit_code, done.stdout) == (status, ""), arguments
        if status == 1:
            assert re.fullmatch(r"Error: .+\n", done.stderr), arguments


def test_no_warehouse_is_one_line() -> None:
    done = run("postgresql+psycopg://nobody@127.0.0.1:1/x", "keys", "list")
    assert done.returncode == 1
    assert re.fullmatch(r"Error: .+\n", done.stderr), done.stderr
    for url in ("sqlite:////proc/x.db", "nonsense"):
        invoked = invoke(url, "keys", "list")
        assert invoked.exit_code == 1
        assert re.fullmatch(r"Error: .+\n", invoked.stderr), invoked.stderr


def test_a_command_makes_the_warehouse(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new' / 'warehouse.db'}"
    assert run(url, "keys", "list").returncode == 0


def test_the_server(warehouse_url: str, engine: Engine, shop: ShopBuilder, tmp_path: Path) -> None:
    key = shop.mint()
    with served(warehouse_url, log=tmp_path / "log") as (process, port):
        assert ask(port, "GET", "/healthz") == (200, {"status": "ok"})
        created, answer = ask(
            port, "POST", "/v1/forms", key, b'{"name": "x", "schema": {}}', **BODY
        )
        assert created == 201
        # Both workers see it, on connections of their own.
        for _ in range(8):
            status, answer = ask(port, "GET", f"/v1/forms/{answer['data']['id']}", key)
            assert status == 200
        assert ask(port, "GET", "/v1/attribution")[1]["error"]["code"] == "unauthorized"
        # Lengths announced and not, and what is no request at all.
        big = b"x" * 100_000
        for body in (big * 20, [big] * 20):
            status, answer = ask(port, "POST", "/v1/forms", key, body, **BODY)
            assert (status, answer["error"]["code"]) == (413, "payload_too_large")
        status, _ = ask(
            port, "POST", "/v1/forms", key, [b'{"name": "y",', b'"schema": {}}'], **BODY
        )
        assert status == 201
        assert ask(port, "GET", "/" + "x" * 9000, key)[0] == 414
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(f"GET / HTTP/1.1\r\nBearer {key}\r\n\r\n".encode())
            assert b'{"error":{"code":"bad_request"' in connection.recv(65536)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    log = (tmp_path / "log").read_text()
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert {line.get("status") for line in lines} >= {200, 201, 400, 401, 413, 414}
    assert key not in log
    assert key[9:] not in log
