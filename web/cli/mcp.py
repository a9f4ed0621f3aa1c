"""`mcp`: the assistant's door over standard input and output, for clients that start a program.

Each line of the input is a message of JSON-RPC. It goes to `/mcp` of a server, and its answer is a line of
the output, which has nothing else: a failure is an answer too, and a line on standard error.
"""

import base64
import os
import sys
from collections.abc import Mapping
from typing import Any, Final

import click
import orjson
import requests

from web.auth.api_key_format import is_well_formed
from web.mcp import HANDSHAKE, META, PATH

KEY: Final = "FORMREVENUE_KEY"
# Seconds to reach the server, and to wait for an answer.
_PATIENCE: Final = (10, 120)
_PARSE_ERROR: Final = -32700
# A failure before the server could answer in JSON-RPC.
_NO_ANSWER: Final = -32000


class _NoAnswer(Exception):
    """The server did not answer the message. The text is for a person."""


@click.command()
@click.option(
    "--url", default="http://localhost:8000", show_default=True, help="The address of the server."
)
def mcp(url: str) -> None:
    """Let an assistant on this computer ask a server, with the API key in FORMREVENUE_KEY.

    It speaks the Model Context Protocol over standard input and output, until the input ends.
    """
    key = os.environ.get(KEY, "").strip()
    if not is_well_formed(key):
        is_what = "is not set" if not key else "has no text of an API key"
        raise click.UsageError(f"{KEY} {is_what}. Set it to a key that `keys mint` has printed.")
    if not url.startswith(("http://", "https://")):
        raise click.UsageError(f"--url is {url!r}. Give an address such as http://localhost:8000.")

    def with_key(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {key}"
        return request

    with requests.Session() as session:
        # Sent with each request, not by the session: a netrc file would put another key in its place.
        session.auth = with_key
        for line in sys.stdin.buffer:
            if line.strip() and (answer := _answer(session, url.rstrip("/") + PATH, line)):
                sys.stdout.buffer.write(answer + b"\n")
                sys.stdout.buffer.flush()


def _answer(session: requests.Session, address: str, line: bytes) -> bytes | None:
    """The answer to a line; None where it asks nothing."""
    try:
        message = orjson.loads(line)
    except orjson.JSONDecodeError:
        return _error(None, _PARSE_ERROR, "The line is no JSON.")
    if not isinstance(message, dict):
        message = {"id": None}
    if "id" not in message:
        # Notifications, of which the server keeps nothing.
        return None
    try:
        return _sent(session, address, line, _headers(message))
    except _NoAnswer as reason:
        click.echo(f"Error: {reason}", err=True)
        return _error(message["id"], _NO_ANSWER, f"{reason}")


def _headers(message: Mapping[str, Any]) -> dict[str, str]:
    """The headers that repeat parts of a message."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    version = meta.get(f"{META}protocolVersion", HANDSHAKE) if isinstance(meta, dict) else HANDSHAKE
    said = {
        "MCP-Protocol-Version": version,
        "Mcp-Method": message.get("method"),
        "Mcp-Name": params.get("name"),
    }
    for name, text in said.items():
        if isinstance(text, str):
            is_plain = text.isascii() and text.isprintable() and text == text.strip()
            packed = f"=?base64?{base64.b64encode(text.encode()).decode()}?="
            headers[name] = text if is_plain else packed
    return headers


def _sent(
    session: requests.Session, address: str, body: bytes, headers: Mapping[str, str]
) -> bytes:
    """The server's answer, in one line. Raises _NoAnswer."""
    try:
        answer = session.post(
            address, data=body, headers=headers, timeout=_PATIENCE, allow_redirects=False
        )
    except requests.Timeout:
        raise _NoAnswer(f"{address} did not answer within {_PATIENCE[1]} s. Ask again.") from None
    except requests.RequestException:
        raise _NoAnswer(
            f"Nothing answers at {address}. Start the server with `formrevenue serve`, or name its "
            "address with --url."
        ) from None
    try:
        said = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        said = None
    if isinstance(said, dict) and "jsonrpc" in said:
        return answer.content.replace(b"\n", b" ")
    if answer.status_code == 401:
        raise _NoAnswer(
            f"The key in {KEY} opens nothing at {address}. It is unknown there, expired or revoked."
        )
    if isinstance(said, dict) and isinstance(error := said.get("error"), dict):
        raise _NoAnswer(f"{error.get('code')}: {error.get('message')}")
    raise _NoAnswer(
        f"{address} answers with status {answer.status_code}, and not as formrevenue. Name its address "
        "with --url."
    )


def _error(message_id: Any, code: int, text: str) -> bytes:
    error = {"code": code, "message": text}
    return orjson.dumps({"jsonrpc": "2.0", "id": message_id, "error": error})
