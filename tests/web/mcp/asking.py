"""Questions to the assistant's door, in JSON-RPC and in both versions of the protocol."""

import json
from typing import Any

from tests.support.product import Product
from web.mcp import HANDSHAKE, META, STATELESS

VERSIONS = (STATELESS, HANDSHAKE)


def message(method: str, params: dict[str, Any], version: str) -> tuple[Any, dict[str, str]]:
    """A message of a version, and the headers that go with it."""
    headers = {"MCP-Protocol-Version": version}
    if version == STATELESS:
        envelope = {f"{META}protocolVersion": version, f"{META}clientCapabilities": {}}
        params = {**params, "_meta": envelope}
        headers["Mcp-Method"] = method
        if method == "tools/call":
            headers["Mcp-Name"] = params["name"]
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers


def call(
    product: Product, shop: str, tool: str, version: str = HANDSHAKE, **arguments: Any
) -> tuple[dict[str, Any], bytes]:
    """The result of a tool, and the bytes of the whole answer."""
    params = {"name": tool, "arguments": arguments}
    body, headers = message("tools/call", params, version)
    answer = product.ask("POST", "/mcp", shop, json=body, headers=headers)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    result: dict[str, Any] = answer.get_json()["result"]
    return result, answer.data


def parts(body: bytes) -> tuple[bytes, Any]:
    """The bytes of `data`, and `meta` without the id of the request."""
    data, _, rest = body.partition(b',"meta":{"requestId":')
    meta, _ = json.JSONDecoder().raw_decode('{"requestId":' + rest.decode())
    return data.partition(b'"data":')[2], {**meta, "requestId": ""}
