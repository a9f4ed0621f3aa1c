"""Shopify's Admin API as its documents describe it, as far as bulk operations need it."""

import json
from typing import Any
from urllib.parse import parse_qs

from tests.jobs.pulls.server import Answer, Asked

CLIENT_ID = "client-1"
CLIENT_SECRET = "shpss_0f3a/very+secret"
SIGNATURE = "signature-of-the-download"
CREATED_AT = "2026-11-20T10:00:00Z"
GRAPHQL = "/admin/api/2026-07/graphql.json"


def as_json(value: Any, status: int = 200, **headers: str) -> Answer:
    return Answer(
        status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers}
    )


class ShopifyServer:
    """Attributes say how it behaves; `queries` are those of the operations that it has started.

    `lost`: what is another in an operation that is looked at; None if it is not known any more. `denied`:
    whether looking is.
    `looks`: how often an operation is seen RUNNING; `busy`: how often another one runs; `throttled`: how
    often requests cost too much; `expires`: after how many requests a token does. `ending`: what an
    operation has at its end. `cuts`: for each download, after how many bytes it ends.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.url = ""
        self.looks = self.busy = self.throttled = self.too_many = 0
        self.expires = 1_000
        self.ending: dict[str, Any] = {}
        self.lost: dict[str, Any] | None = {}
        self.denied = False
        self.cuts: list[int] = []
        self.queries: list[str] = []
        self.tokens = 0
        self._uses = 0

    def __call__(self, asked: Asked) -> Answer:
        if asked.path == "/admin/oauth/access_token":
            return self._token(parse_qs(asked.body.decode()))
        if asked.path == f"/result?X-Goog-Signature={SIGNATURE}":
            return Answer(body=self.content, cut=self.cuts.pop(0) if self.cuts else None)
        assert asked.path == GRAPHQL
        if asked.headers.get("x-shopify-access-token") != f"shpat_{self.tokens}" or self._expired():
            said = "[API] Invalid API key or access token"
            return as_json({"errors": said}, 401)
        if self.too_many:
            self.too_many -= 1
            return as_json({"errors": "Exceeded 2 calls per second"}, 429, **{"Retry-After": "0"})
        return self._graphql(json.loads(asked.body))

    def _token(self, form: dict[str, list[str]]) -> Answer:
        wanted = {
            "client_id": [CLIENT_ID],
            "client_secret": [CLIENT_SECRET],
            "grant_type": ["client_credentials"],
        }
        if form != wanted:
            given = form["client_secret"][0]
            described = f"Client authentication failed for {given}"
            return as_json({"error": "invalid_client", "error_description": described}, 400)
        self.tokens += 1
        self._uses = 0
        token = f"shpat_{self.tokens}"
        return as_json({"access_token": token, "scope": "read_orders", "expires_in": 86399})

    def _expired(self) -> bool:
        self._uses += 1
        return self._uses > self.expires

    def _graphql(self, body: dict[str, Any]) -> Answer:
        if self.throttled:
            self.throttled -= 1
            state = {"maximumAvailable": 2000, "currentlyAvailable": 9, "restoreRate": 100_000}
            cost = {"requestedQueryCost": 10, "actualQueryCost": None, "throttleStatus": state}
            error = {"message": "Throttled", "extensions": {"code": "THROTTLED"}}
            return as_json({"errors": [error], "extensions": {"cost": cost}})
        if "query" in body["variables"]:
            return as_json({"data": {"bulkOperationRunQuery": self._start(body["variables"])}})
        assert body["variables"] == {"id": "gid://shopify/BulkOperation/1"}
        self.looks -= 1
        if self.denied:
            return as_json({"errors": [{"message": "Access denied for node field."}]})
        node = None if self.lost is None else self._operation() | self.lost
        return as_json({"data": {"node": node}})

    def _start(self, variables: dict[str, str]) -> dict[str, Any]:
        if self.busy:
            self.busy -= 1
            message = "A bulk query operation for this app and shop is already in progress"
            error = {"field": None, "message": message, "code": "OPERATION_IN_PROGRESS"}
            return {"bulkOperation": None, "userErrors": [error]}
        self.queries.append(variables["query"])
        return {"bulkOperation": self._operation(), "userErrors": []}

    def _operation(self) -> dict[str, Any]:
        operation: dict[str, Any] = {
            "id": "gid://shopify/BulkOperation/1",
            "status": "RUNNING" if self.looks > 0 else "COMPLETED",
            "errorCode": None,
            "createdAt": CREATED_AT,
            "objectCount": str(self.content.count(b"\n")),
            "fileSize": str(len(self.content)) if self.content else None,
            "url": f"{self.url}/result?X-Goog-Signature={SIGNATURE}" if self.content else None,
            "partialDataUrl": None,
        }
        return operation | ({} if self.looks > 0 else self.ending)
