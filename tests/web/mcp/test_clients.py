"""The official client of the Model Context Protocol, over HTTP and over standard input and output, in both
versions of the protocol; and what `mcp` says where no answer comes."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.support.product import Product
from tests.support.serving import served
from web.auth.api_key_format import new_key
from web.mcp import HANDSHAKE, STATELESS
from web.mcp.tools import INSTRUCTIONS, TOOLS

ROOT = Path(__file__).parents[3]
SHOP = "a.example"
MODES = {"legacy": HANDSHAKE, STATELESS: STATELESS, "auto": STATELESS}


@pytest.fixture
def server(sqlite_url: str) -> Iterator[tuple[str, str]]:
    """The address of a server, and a key of its shop."""
    product = Product(sqlite_url)
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    product.rollup()
    key = product.key(SHOP)
    product.close()
    with served(sqlite_url) as (_, port):
        yield f"http://127.0.0.1:{port}", key


async def session(client: Client) -> dict[str, Any]:
    """The findings of a client in one session."""
    async with client:
        tools = (await client.list_tools()).tools
        good = await client.call_tool("ask_report", {"report": "attribution", "range": "7d"})
        bad = await client.call_tool("ask_report", {"report": "weather"})
        return {
            "version": client.protocol_version,
            "instructions": client.instructions,
            "tools": [tool.name for tool in tools],
            "rows": good.structured_content["data"],
            "good": good.is_error,
            "bad": (bad.is_error, bad.structured_content["error"]["code"]),
        }


def check(found: dict[str, Any], version: str, mode: str) -> None:
    # A client that is told a version asks the server nothing about itself.
    assert found.pop("instructions") == (None if mode == STATELESS else INSTRUCTIONS)
    assert [row["attributionType"] for row in found.pop("rows")][-1] == "unattributed"
    assert found == {
        "version": version,
        "tools": list(TOOLS),
        "good": False,
        "bad": (True, "unknown_report"),
    }


def test_over_http(server: tuple[str, str]) -> None:
    url, key = server

    async def ask(mode: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {key}"}
        async with create_mcp_http_client(headers=headers) as http:
            transport = streamable_http_client(f"{url}/mcp", http_client=http)
            return await session(Client(transport, mode=mode))

    for mode, version in MODES.items():
        check(asyncio.run(ask(mode)), version, mode)


def test_over_standard_input_and_output(server: tuple[str, str]) -> None:
    url, key = server
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "web", "mcp", "--url", url],
        env={"FORMREVENUE_KEY": key, "PYTHONPATH": ":".join(sys.path)},
        cwd=ROOT,
    )
    for mode, version in MODES.items():
        check(asyncio.run(session(Client(command, mode=mode))), version, mode)


def run(lines: str, *words: str, key: str | None) -> tuple[int, list[Any], str]:
    """The exit status, the messages on standard output, and what is on standard error."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-m", "web", "mcp", *words],
        input=lines.encode(),
        capture_output=True,
        cwd=ROOT,
        env=environment | ({} if key is None else {"FORMREVENUE_KEY": key}),
        check=False,
    )
    messages = [json.loads(line) for line in ended.stdout.splitlines()]
    return ended.returncode, messages, ended.stderr.decode()


PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


@pytest.mark.parametrize(
    ("key", "words", "told"),
    [
        (None, (), "FORMREVENUE_KEY is not set"),
        ("", (), "FORMREVENUE_KEY is not set"),
        ("secret", (), "FORMREVENUE_KEY has no text of an API key"),
        (new_key(), ("--url", "localhost:8000"), "--url is 'localhost:8000'"),
    ],
    # A new key would give the test another name in each process.
    ids=["no key", "empty", "no text of a key", "no address"],
)
def test_what_cannot_begin(key: str | None, words: tuple[str, ...], told: str) -> None:
    status, messages, errors = run(PING, *words, key=key)
    assert (status, messages) == (2, [])
    assert told in errors
    assert "secret" not in errors
    assert "Traceback" not in errors


def test_no_server_and_no_json() -> None:
    lines = f'{PING}no json\n[]\n\n{{"jsonrpc":"2.0","method":"notifications/initialized"}}\n'
    status, messages, errors = run(lines, "--url", "http://127.0.0.1:9", key=new_key())
    assert status == 0
    assert [(one["id"], one["error"]["code"]) for one in messages] == [
        (1, -32000),
        (None, -32700),
        (None, -32000),
    ]
    assert messages[0]["error"]["message"].startswith("Nothing answers at http://127.0.0.1:9/mcp.")
    assert "Nothing answers at" in errors
    assert "Traceback" not in errors


def test_a_key_that_opens_nothing_and_another_program(server: tuple[str, str]) -> None:
    url, key = server
    status, [message], errors = run(PING, "--url", url, key=new_key())
    assert status == 0
    assert "The key in FORMREVENUE_KEY opens nothing" in message["error"]["message"]
    assert "expired or revoked" in errors
    _, [message], _ = run(PING, "--url", f"{url}/docs", key=key)
    assert (
        "not as formrevenue" in message["error"]["message"]
        or "not_found" in (message["error"]["message"])
    )
    large = PING.replace('"ping"', f'"ping","params":{{"x":"{"x" * 1_100_000}"}}')
    _, [message], _ = run(large, "--url", url, key=key)
    assert message["error"]["message"].startswith("payload_too_large: ")
