"""The Model Context Protocol over HTTP: one POST, one JSON answer; no session, no stream.

Two versions are spoken. In the newer one every request names its version in `params._meta` and repeats in
headers what it asks; in the older one a client says `initialize` first, of which nothing is remembered. A
request that is refused before a tool is asked (401, 403, 405, 413, 415, 429) gets an error of the API.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from flask import Response, request

from warehouse import VERSION as PROGRAM_VERSION
from warehouse.settings import CORS_ORIGINS
from web.http.errors import Refusal, error_body, refusal_of_failure
from web.http.host_and_proxy import own_address
from web.http.json_body import read_json
from web.mcp import HANDSHAKE, META, STATELESS, tools

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_METHOD_NOT_FOUND: Final = -32601
_INVALID_PARAMS: Final = -32602
_HEADER_MISMATCH: Final = -32020
_UNSUPPORTED_VERSION: Final = -32022

_SERVER: Final = {"name": "formrevenue", "version": PROGRAM_VERSION}
_VERSIONS: Final = [STATELESS, HANDSHAKE]
_TOOLS: Final = {"tools": list(tools.TOOLS.values())}
_SAID_FIRST: Final = {"capabilities": {"tools": {}}, "instructions": tools.INSTRUCTIONS}
# They change with the program alone.
_LASTING: Final = {"ttlMs": 300_000, "cacheScope": "public"}
# The answers of each version to the methods that ask no tool.
_ANSWERS: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    STATELESS: {
        "server/discover": {"supportedVersions": _VERSIONS, **_SAID_FIRST, **_LASTING},
        "tools/list": {**_TOOLS, **_LASTING},
    },
    HANDSHAKE: {
        "initialize": {"protocolVersion": HANDSHAKE, "serverInfo": _SERVER, **_SAID_FIRST},
        "tools/list": _TOOLS,
        "ping": {},
    },
}


class _Failed(Exception):
    """A message that is answered with an error of JSON-RPC. `status` is that of HTTP."""

    def __init__(self, code: int, message: str, data: Any = None, status: int = 400) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({"data": data} if data else {})
        self.status = status


def serve() -> Response:
    """The answer to one message of an assistant."""
    origin = request.headers.get("Origin")
    if origin is not None and not {origin, "*"} & {own_address(), *CORS_ORIGINS.get()}:
        raise Refusal(403, "forbidden_origin", "Pages of this origin may not ask.")
    message_id: Any = None
    try:
        asked = _parse(read_json())
        if asked is None:
            return Response(status=202)
        message_id, method, params = asked
        version = _version(method, params)
        if method == "tools/call":
            result: Mapping[str, Any] = _call(params)
        elif method in _ANSWERS[version]:
            result = _ANSWERS[version][method]
        else:
            message = "There is no such method in this version of the protocol."
            status = 404 if version == STATELESS else 200
            raise _Failed(_METHOD_NOT_FOUND, message, status=status)
        if version == STATELESS:
            own = {"resultType": "complete", "_meta": {f"{META}serverInfo": _SERVER}}
            result = {**own, **result}
    except _Failed as failed:
        return _message({"id": message_id, "error": failed.error}, failed.status)
    return _message({"id": message_id, "result": result}, 200)


def _message(members: Mapping[str, Any], status: int) -> Response:
    content = orjson.dumps({"jsonrpc": "2.0", **members})
    return Response(content, status, mimetype="application/json")


def _parse(content: bytes) -> tuple[str | int, str, dict[str, Any]] | None:
    """Id, method and parameters of a message; None for a notification, and for an answer to a question that
    the service never asked."""
    try:
        message = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise _Failed(_PARSE_ERROR, "The body is no JSON.") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise _Failed(_INVALID_REQUEST, "The body is no single message of JSON-RPC 2.0.")
    if "id" not in message or "method" not in message:
        return None
    message_id, method, params = message["id"], message["method"], message.get("params", {})
    if type(message_id) not in (str, int) or type(method) is not str or type(params) is not dict:
        shape = "`id` is a text or a whole number, `method` a text, and `params` an object."
        raise _Failed(_INVALID_REQUEST, shape)
    return message_id, method, params


def _version(method: str, params: Mapping[str, Any]) -> str:
    """The version that a message speaks. Raises the errors of one that contradicts itself or is unknown."""
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    named, header = meta.get(f"{META}protocolVersion"), request.headers.get("MCP-Protocol-Version")
    version: Any = named
    if named is None and header != STATELESS:
        version = HANDSHAKE if method == "initialize" else header or HANDSHAKE
    else:
        for key in ("protocolVersion", "clientCapabilities"):
            if f"{META}{key}" not in meta:
                raise _Failed(_INVALID_PARAMS, f"`params._meta` lacks `{META}{key}`.")
        repeated = {"MCP-Protocol-Version": named, "Mcp-Method": method}
        if method == "tools/call":
            repeated["Mcp-Name"] = params.get("name")
        for name, value in repeated.items():
            if request.headers.get(name) != value:
                raise _Failed(_HEADER_MISMATCH, f"The header `{name}` is not what the body says.")
    if version not in _VERSIONS:
        data = {"supported": _VERSIONS, "requested": version}
        raise _Failed(_UNSUPPORTED_VERSION, "This version of the protocol is not spoken.", data)
    return str(version)


def _call(params: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a tool. A refusal of the API is a result too, so that the assistant reads the reason."""
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str) or name not in tools.TOOLS:
        raise _Failed(_INVALID_PARAMS, f"Unknown tool. There are: {', '.join(tools.TOOLS)}.")
    if not isinstance(arguments, dict):
        raise _Failed(_INVALID_PARAMS, "`arguments` is an object.")
    try:
        content, is_error = tools.answer(name, arguments), False
    except Exception as error:
        refusal = error if isinstance(error, Refusal) else refusal_of_failure(error)
        content, is_error = error_body(refusal), True
    return {
        "content": [{"type": "text", "text": content.decode()}],
        "structuredContent": orjson.Fragment(content),
        "isError": is_error,
    }
