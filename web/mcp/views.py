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
from warehouse.settings import CORS_ORIGINS, PUBLIC_URL
from web.http.current_request import current_request, request_id
from web.http.errors import Refusal, refusal_of_failure
from web.http.json_body import read_json
from web.mcp import HANDSHAKE, META, STATELESS, tools

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_METHOD_NOT_FOUND: Final = -32601
_INVALID_PARAMS: Final = -32602
_HEADER_MISMATCH: Final = -32020
_UNSUPPORTED_VERSION: Final = -32022

_SERVER: Final = {"name": "formrevenue", "version": PROGRAM_VERSION}
_CAPABILITIES: Final[dict[str, Any]] = {"tools": {}}
# The list of tools changes with the program alone.
_TOOLS_LAST: Final = {"ttlMs": 300_000, "cacheScope": "public"}


class _Failed(Exception):
    """A message that is answered with an error of JSON-RPC. `status` is that of HTTP."""

    def __init__(self, code: int, message: str, data: Any = None, status: int = 400) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({"data": data} if data else {})
        self.status = status


def serve() -> Response:
    """The answer to one message of an assistant."""
    _require_own_origin()
    message_id: Any = None
    try:
        message = _parse(read_json())
        if "id" not in message or "method" not in message:
            # A notification, or an answer to a question that the service never asked.
            return Response(status=202)
        message_id = _id_of(message)
        method, params = message["method"], message.get("params", {})
        if not isinstance(method, str) or not isinstance(params, dict):
            raise _Failed(_INVALID_REQUEST, "`method` is a text, and `params` an object.")
        version = _version(method, params)
        result = _result(method, params, version)
        if version == STATELESS:
            result = {"resultType": "complete", "_meta": {f"{META}serverInfo": _SERVER}, **result}
    except _Failed as failed:
        return _message({"id": message_id, "error": failed.error}, failed.status)
    return _message({"id": message_id, "result": result}, 200)


def _require_own_origin() -> None:
    """Raises the 403 for a page of another origin than the service's own, unless CORS_ORIGINS lets it in."""
    origin = request.headers.get("Origin")
    allowed = [PUBLIC_URL.get() or request.host_url.rstrip("/"), *CORS_ORIGINS.get()]
    if origin is not None and origin not in allowed and "*" not in allowed:
        raise Refusal(403, "forbidden_origin", "Pages of this origin may not ask.")


def _parse(content: bytes) -> dict[str, Any]:
    try:
        message = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise _Failed(_PARSE_ERROR, "The body is no JSON.") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise _Failed(_INVALID_REQUEST, "The body is no single message of JSON-RPC 2.0.")
    return message


def _id_of(message: Mapping[str, Any]) -> str | int:
    message_id = message["id"]
    if isinstance(message_id, bool) or not isinstance(message_id, str | int):
        raise _Failed(_INVALID_REQUEST, "`id` is a text or a whole number.")
    return message_id


def _version(method: str, params: Mapping[str, Any]) -> str:
    """The version that a message speaks. Raises the errors of one that contradicts itself or is unknown."""
    meta = params.get("_meta", {})
    named = meta.get(f"{META}protocolVersion") if isinstance(meta, dict) else None
    header = request.headers.get("MCP-Protocol-Version")
    if named is None and header != STATELESS:
        if method != "initialize" and header not in (None, HANDSHAKE):
            raise _unsupported(header)
        return HANDSHAKE
    for key in ("protocolVersion", "clientCapabilities"):
        if not isinstance(meta, dict) or f"{META}{key}" not in meta:
            raise _Failed(_INVALID_PARAMS, f"`params._meta` lacks `{META}{key}`.")
    repeated = {"MCP-Protocol-Version": named, "Mcp-Method": method}
    if method == "tools/call":
        repeated["Mcp-Name"] = params.get("name")
    for name, value in repeated.items():
        if request.headers.get(name) != value:
            raise _Failed(_HEADER_MISMATCH, f"The header `{name}` is not what the body says.")
    if named != STATELESS:
        raise _unsupported(named)
    return STATELESS


def _unsupported(version: Any) -> _Failed:
    data = {"supported": [STATELESS, HANDSHAKE], "requested": version}
    return _Failed(_UNSUPPORTED_VERSION, "This version of the protocol is not spoken.", data)


def _result(method: str, params: Mapping[str, Any], version: str) -> dict[str, Any]:
    is_stateless = version == STATELESS
    match method:
        case "tools/list":
            listed = {"tools": list(tools.TOOLS.values())}
            return listed | (_TOOLS_LAST if is_stateless else {})
        case "tools/call":
            return _call(params)
        case "server/discover" if is_stateless:
            return {
                "supportedVersions": [STATELESS, HANDSHAKE],
                "capabilities": _CAPABILITIES,
                "instructions": tools.INSTRUCTIONS,
                **_TOOLS_LAST,
            }
        case "initialize" if not is_stateless:
            return {
                "protocolVersion": HANDSHAKE,
                "capabilities": _CAPABILITIES,
                "serverInfo": _SERVER,
                "instructions": tools.INSTRUCTIONS,
            }
        case "ping" if not is_stateless:
            return {}
    message = "There is no such method in this version of the protocol."
    raise _Failed(_METHOD_NOT_FOUND, message, status=404 if is_stateless else 200)


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
        current_request().error = refusal.code
        told = {"code": refusal.code, "message": refusal.message, "requestId": request_id()}
        content, is_error = orjson.dumps({"error": told}), True
    return {
        "content": [{"type": "text", "text": content.decode()}],
        "structuredContent": orjson.Fragment(content),
        "isError": is_error,
    }


def _message(members: Mapping[str, Any], status: int) -> Response:
    return Response(
        orjson.dumps({"jsonrpc": "2.0", **members}), status, mimetype="application/json"
    )
