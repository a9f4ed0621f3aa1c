"""The answers of the API, for a page: the same functions, cache and snapshot."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response
from sqlalchemy import Connection

from web.api.all_forms import ALL_FUNNELS
from web.api.endpoint import Endpoint
from web.api.resources import RESOURCES
from web.http.api_key_auth import Caller, Shop
from web.http.date_range import Window
from web.http.errors import not_found
from web.http.parameters import MAX_LIMIT
from web.http.parsed_request import CSV, JSON, ParsedRequest

_API: Final[dict[str, Endpoint]] = {
    endpoint.path: endpoint
    for resource in RESOURCES
    for endpoint in resource.blueprint.endpoints
    if endpoint.method == "GET"
}
_GET: Final = {**_API, ALL_FUNNELS.path: ALL_FUNNELS}


@dataclass(frozen=True)
class Answers:
    """The answers for one shop, from the snapshot that `connection` has open. `now` is an instant,
    `today` the shop's day at that instant."""

    connection: Connection
    shop: Shop
    now: int
    today: int

    def data(self, path: str, window: Window, form_id: str = "", **parameters: str) -> Any:
        """`data` of `GET /v1{path}` over these days; `path` has `{id}` for `form_id`."""
        return self._answer(path, window, form_id, parameters)[0]

    def whole_list(self, path: str, window: Window) -> list[Any]:
        """All rows of an answer that the API gives page by page."""
        parameters = {"limit": f"{MAX_LIMIT}"}
        rows, meta = self._answer(path, window, "", parameters)
        rows = list(rows)
        while cursor := meta.get("nextCursor"):
            more, meta = self._answer(path, window, "", {**parameters, "cursor": cursor})
            rows += more
        return rows

    def data_through(self, window: Window) -> str | None:
        """`meta.dataThrough`: an instant before which everything that was imported is in the figures."""
        return str(self._answer("/attribution", window, "", {})[1].get("dataThrough") or "") or None

    def description(self, path: str) -> list[str]:
        """The paragraphs in which the OpenAPI document describes an endpoint."""
        return [
            " ".join(paragraph.split())
            for paragraph in (inspect.getdoc(_GET[path].answer) or "").split("\n\n")
        ]

    def csv(
        self, path: str, window: Window, form_id: str, parameters: Mapping[str, str]
    ) -> Response:
        """The answer as the API gives it with `format=csv`. Raises the 404 and the 400s."""
        if path not in _API:
            raise not_found()
        parsed = self._parsed(path, window, form_id, parameters, CSV)
        return _API[path].table(parsed)

    def _answer(
        self, path: str, window: Window, form_id: str, parameters: Mapping[str, str]
    ) -> tuple[Any, Mapping[str, Any]]:
        parsed = self._parsed(path, window, form_id, parameters, JSON)
        return _GET[path].read(parsed)

    def _parsed(
        self, path: str, window: Window, form_id: str, parameters: Mapping[str, str], format: str
    ) -> ParsedRequest:
        endpoint = _GET[path]
        values = tuple(
            parameter.parse([parameters[parameter.name]] if parameter.name in parameters else [])
            for parameter in endpoint.parameters
        )
        endpoint.rule(*values)
        return ParsedRequest(
            caller=Caller("", frozenset(), 0, self.shop),
            path=path,
            form_id=form_id,
            values=values,
            window=window,
            today=self.today,
            now=self.now,
            format=format,
        )
