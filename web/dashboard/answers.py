"""The answers of the API, for a page: the same functions, cache and snapshot."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from flask import Response
from sqlalchemy import Connection

from warehouse.domain.vocabulary import SCOPE_NEEDS
from web.api.endpoint import Endpoint
from web.api.query import Query
from web.auth.permissions import VIEW_DISCOUNTS, require
from web.http.content_type import JSON, SPREADSHEET
from web.http.current_request import Shop
from web.http.date_range import Window
from web.http.errors import not_found
from web.http.parameters import MAX_LIMIT, require_known
from web.reports import READABLE, attribution


@dataclass(frozen=True)
class Answers:
    """The answers for one shop, from the snapshot that `connection` has open, to a member with these
    `permissions`. `now` is an instant, `today` the shop's day at that instant. Reports that can be filtered
    answer about the form sessions that `filters` choose, and all others about the whole shop."""

    connection: Connection
    shop: Shop
    permissions: frozenset[str]
    now: int
    today: int
    filters: Mapping[str, str] = field(default_factory=dict)
    # The first day of data, by the name of these (`compare.py`).
    first_days: dict[str, int | None] = field(default_factory=dict)
    # Several parts of a page ask for the same.
    _read: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def under(self, filters: Mapping[str, str]) -> "Answers":
        """The answers under these filters in place of its own."""
        return replace(self, filters=filters, _read={}) if filters != self.filters else self

    def data(
        self,
        endpoint: Endpoint,
        window: Window,
        form_id: str = "",
        parameters: Mapping[str, str] = MappingProxyType({}),
        *,
        within: int | None = None,
    ) -> Any:
        """`data` of a report over these days, as `GET /v1` has it; `within`: at equal age
        (`Query.outcomes`). Raises NotAllowed."""
        key = endpoint.path, window, form_id, tuple(parameters.items()), within
        if key not in self._read:
            query = self.query(endpoint, window, form_id, parameters, within=within)
            self._read[key] = endpoint.read(query)[0]
        return self._read[key]

    def with_meta(
        self,
        endpoint: Endpoint,
        window: Window,
        parameters: Mapping[str, str] = MappingProxyType({}),
        *,
        order_id: str = "",
    ) -> tuple[Any, Mapping[str, Any]]:
        """`data` and `meta` of one page of a list, or of one order. Raises NotAllowed, the 404 and the
        400s."""
        return endpoint.read(self.query(endpoint, window, "", parameters, order_id=order_id))

    def whole_list(self, endpoint: Endpoint, window: Window) -> list[Any]:
        """All rows of an answer that the API gives page by page."""
        parameters = {"limit": f"{MAX_LIMIT}"}
        rows, meta = endpoint.read(self.query(endpoint, window, "", parameters))
        rows = list(rows)
        while cursor := meta.get("nextCursor"):
            page = {**parameters, "cursor": cursor}
            more, meta = endpoint.read(self.query(endpoint, window, "", page))
            rows += more
        return rows

    def data_through(self, window: Window) -> str | None:
        """`meta.dataThrough`: an instant before which everything that was imported is in the figures."""
        return self.query(attribution, window, "", {}).data_through()

    def csv(
        self, path: str, window: Window, form_id: str, parameters: Mapping[str, str]
    ) -> Response:
        """The answer as the API gives it with `format=csv`, for a spreadsheet. Raises NotAllowed, the 404 and
        the 400s."""
        if path not in READABLE:
            raise not_found()
        endpoint = READABLE[path]
        if not endpoint.filters:
            require_known(self.filters, endpoint.names)
        return endpoint.table(self.query(endpoint, window, form_id, parameters, SPREADSHEET))

    def query(
        self,
        endpoint: Endpoint,
        window: Window,
        form_id: str = "",
        parameters: Mapping[str, str] = MappingProxyType({}),
        format: str = JSON,
        within: int | None = None,
        order_id: str = "",
    ) -> Query:
        """Make the query of a report, as a request does. Raises NotAllowed."""
        if endpoint.member_needs:
            require(self.permissions, *endpoint.member_needs)
        for parameter in endpoint.parameters:
            if parameter.scope and parameter.name in parameters:
                needed = SCOPE_NEEDS[parameter.scope]
                require(self.permissions, needed, f"filter by {parameter.name}")
        if endpoint.filters:
            parameters = {**self.filters, **parameters}
        return endpoint.query(
            self.connection,
            self.shop,
            endpoint.parse(
                lambda name: [parameters[name]] if name in parameters else [], self.shop
            ),
            window,
            now=self.now,
            today=self.today,
            within=within,
            form_id=form_id,
            item_id=order_id,
            sees_codes=VIEW_DISCOUNTS in self.permissions,
            format=format,
        )
