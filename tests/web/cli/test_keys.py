"""The command line and the server, as processes."""

import json
import re
import signal
import socket
from pathlib import Path

from click.testing import CliRunner, Result
from sqlalchemy import Engine

from tests.support.commands import run_web
from tests.support.serving import ask, served
from tests.support.shop_builder import ShopBuilder
from web.auth.api_key_format import is_well_formed
from web.cli import main

LIST = ("keys", "list", "--json")
BODY = {"Content-Type": "application/json"}


def invoke(url: str, *words: str) -> Result:
    """`python -m web WORDS`, in this process."""
    return CliRunner().invoke(main, words, env={"WAREHOUSE_URL": url})


def test_mint_list_and_revoke(warehouse_url: str, shop: ShopBuilder) -> None:
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
    empty = invoke(warehouse_url, "keys", "list", "--shop", "other").stdout
    assert " ".join(empty.split()) == "CREDENTIAL SHOP KEY STATE ENDS SCOPES LAST USED NAME"
    assert invoke(warehouse_url, "keys", "revoke", row["credentialId"]).exit_code == 0
    header, line = invoke(warehouse_url, "keys", "list", "--shop", shop.shop_id).stdout.splitlines()
    columns = {name: line[header.index(name) :].split("  ")[0] for name in ("CREDENTIAL", "STATE")}
    assert columns == {"CREDENTIAL": row["credentialId"], "STATE": "revoked"}
    assert line.endswith("analytics:read,forms:write  never      A tool")


def test_a_key_in_a_file_is_used_as_long_as_it_opens_what_is_asked(
    warehouse_url: str, shop: ShopBuilder, engine: Engine, tmp_path: Path
) -> None:
    other, file = ShopBuilder(engine, "other.myshopify.com"), tmp_path / "new" / "the.key"

    def mint(scopes: str, to: ShopBuilder = shop) -> str:
        words = ("keys", "mint", "--shop", to.shop_id, "--scopes", scopes, "--file", str(file))
        done = invoke(warehouse_url, *words)
        assert done.exit_code == 0, done.output
        key = done.stdout.splitlines()[-1]
        assert file.read_text() == f"{key}\n"
        assert file.stat().st_mode & 0o777 == 0o600
        return key

    def keys() -> list[dict[str, str]]:
        return [json.loads(line) for line in invoke(warehouse_url, *LIST).stdout.splitlines()]

    first = mint("analytics:read,forms:write")
    assert mint("forms:write,analytics:read") == mint("forms:write") == first
    assert len(keys()) == 1
    more = mint("customers:read")
    assert (more == first, mint("customers:read") == more) == (False, True)
    invoke(warehouse_url, "keys", "revoke", keys()[1]["credentialId"])
    again = mint("customers:read")
    assert again != more
    assert mint("customers:read", other) != again
    assert len(keys()) == 4
    # A file without a key is not replaced.
    file.write_text("notes of mine")
    words = ("keys", "mint", "--shop", shop.shop_id, "--scopes", "forms:write", "--file", str(file))
    refused = invoke(warehouse_url, *words)
    assert (refused.exit_code, refused.stderr) == (
        1,
        f"Error: {file} holds no key; name another file\n",
    )
    assert file.read_text() == "notes of mine"
    assert len(keys()) == 4


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


def test_unreachable_warehouse_is_a_one_line_error() -> None:
    done = run_web("postgresql+psycopg://nobody@127.0.0.1:1/x", "keys", "list")
    assert done.status == 1
    assert re.fullmatch(r"Error: .+\n", done.errors), done.errors
    for url, status in (("sqlite:////proc/x.db", 1), ("nonsense", 2)):
        invoked = invoke(url, "keys", "list")
        assert invoked.exit_code == status
        assert re.fullmatch(r"Error: .+\n", invoked.stderr), invoked.stderr


def test_a_command_that_writes_creates_the_warehouse_and_one_that_reads_does_not(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'new' / 'warehouse.db'}"
    for words in (["keys"], ["members"], ["shops"], ["forms"], ["write-keys"]):
        listed = invoke(url, *words, "list")
        assert (listed.exit_code, listed.stdout) == (1, "")
        assert listed.stderr.startswith(f"Error: there is no warehouse at {url}: ")
    assert invoke(url, "audit").exit_code == 1
    assert list(tmp_path.iterdir()) == []
    assert invoke(url, "shops", "add", "a.example", "--currency", "EUR").exit_code == 0
    assert invoke(url, "keys", "list").exit_code == 0


def test_serve(warehouse_url: str, engine: Engine, shop: ShopBuilder) -> None:
    key = shop.mint()
    with served(warehouse_url) as (process, port):
        assert ask(port, "GET", "/healthz") == (200, {"status": "ok"})
        created, answer = ask(
            port, "POST", "/v1/forms", key, b'{"name": "x", "schema": {}}', **BODY
        )
        assert created == 201
        # Eight connections reach both workers.
        for _ in range(8):
            status, answer = ask(port, "GET", f"/v1/forms/{answer['data']['id']}", key)
            assert status == 200
        assert ask(port, "GET", "/v1/attribution")[1]["error"]["code"] == "unauthorized"
        # Bodies with and without a length, and bytes that are not a request.
        big = b"x" * 100_000
        for body in (big * 11, [big] * 11):
            status, answer = ask(port, "POST", "/v1/forms", key, body, **BODY)
            assert (status, answer["error"]["code"]) == (413, "payload_too_large")
        status, _ = ask(
            port, "POST", "/v1/forms", key, [b'{"name": "y",', b'"schema": {}}'], **BODY
        )
        assert status == 201
        # The server answers without a body where it cannot read a request.
        for head, status in (
            ("GET /" + "x" * 70_000 + " HTTP/1.1", 414),
            (f"GET / HTTP/1.1\r\nBearer {key}", 400),
        ):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(f"{head}\r\nHost: x\r\n\r\n".encode())
                assert connection.recv(65536).startswith(f"HTTP/1.1 {status} ".encode())
        process.send(signal.SIGTERM)
        assert process.wait() == 0
    log = process.errors
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert {line.get("status") for line in lines} >= {200, 201, 401, 413}
    assert key not in log
    assert key[9:] not in log


def test_the_help_has_headings_and_whole_lines() -> None:
    said = CliRunner().invoke(main, ["--help"]).stdout
    assert "\nServe:\n  serve " in said
    assert "\nManage:\n  shops " in said
    assert "..." not in said.partition("\nServe:")[2]
    words = " ".join(said.split())
    for name, command in main.commands.items():
        assert f" {name} {command.get_short_help_str(limit=1000)}" in words
