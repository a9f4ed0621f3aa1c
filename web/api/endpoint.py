"""The declaration of an endpoint: method, path, scope, parameters, and the function that answers.

The OpenAPI document and the CSV columns follow from the declaration. This module does what all endpoints
share. Its checks run in the contract's order: 403, 404, then the request; the 401 comes before routing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Generic, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import urlencode

import orjson
from flask import Blueprint, Response, current_app, request

from warehouse.domain.time import NEVER, day_date, local_day
from web.api.csv_table import columns_of, rows_of, write_table
from web.api.query import Query
from web.api.schemas.envelope import AnswerMeta
from web.http.api_key_auth import Shop, open_snapshot, require_scope
from web.http.content_type import csv_response, requested_format
from web.http.current_request import current_request
from web.http.date_range import DEFAULT_DAYS, Window, last_days, parse_range
from web.http.envelope import envelope
from web.http.errors import not_found
from web.http.etags import NotModified, State, client_has, entity_tag, shop_state, validators
from web.http.parameters import Parameter, RequestHeader, one_text
from web.http.parsed_request import JSON, ParsedRequest
from web.http.response_cache import CachedResponse
from web.services import services

VERSION: Final = "/v1"
# Where the configuration of the application has its `RowLimits`.
ROW_LIMITS: Final = "ROW_LIMITS"

Data = TypeVar("Data")


Clock = tuple[int, int]
"""(time component of the ETag, instant at which it next changes even if the data does not).

The change of day counts by itself, through the window."""


@dataclass(frozen=True)
class Answer(Generic[Data]):
    """The `data` of an answer, with further headers and `meta`. `state` is that of the form which the
    request has written; the form's ETag is made from it."""

    data: Data
    headers: dict[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    state: State | None = None


def no_clock(_query: Query) -> Clock:
    """The answer depends on the time only through its window."""
    return 0, NEVER


def no_rule(*_values: Any) -> None:
    """Any values of the parameters go together."""


@dataclass(frozen=True)
class Endpoint:
    """`path` has `{id}` for a form's id. With `scope` None, any valid key will do.

    `answer(query, **parameters)` returns `data` or an `Answer`. Its return type is the type of `data`, and
    its docstring becomes the summary and the description of the operation (`web/openapi/`). `body` is the
    type of the request's body. `refusals` are codes that only this endpoint answers with, by status.
    `request_headers` are headers that only this endpoint reads, and
    `response_headers` describes headers that only its answer has. `rule` raises the 400 for values that do
    not go together; it also runs for answers from the cache.

    A GET whose ETag the client already has is a 304. The ETag follows the state of one form (`state`) or of
    the whole shop; in the second case `clock` adds how the answer depends on the present instant, and the
    answer is cached (`web/http/response_cache.py`).

    Figures are read from the read replica, where there is one; an endpoint `at_primary` reads what requests
    write, so that a client sees at once what it has written.
    """

    method: str
    path: str
    scope: str | None
    answer: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    ranged: bool = True
    status: int = 200
    meta: type = AnswerMeta
    body: type | None = None
    refusals: Mapping[int, str] = field(default_factory=dict)
    request_headers: tuple[RequestHeader, ...] = ()
    response_headers: Mapping[str, str] = field(default_factory=dict)
    rule: Callable[..., None] = no_rule
    clock: Callable[[Query], Clock] = no_clock
    state: Callable[[Query], State] | None = None
    at_primary: bool = False

    def register(self, blueprint: Blueprint) -> None:
        blueprint.add_url_rule(
            self.path.replace("{id}", "<form_id:form_id>"),
            endpoint=f"{self.method} {self.path}".replace(".", "_"),
            view_func=self._serve,
            methods=[self.method],
            provide_automatic_options=False,
        )

    def read(self, parsed: ParsedRequest) -> tuple[Any, Mapping[str, Any]]:
        """`data` and `meta` of the answer to a GET, for a page: from the cache of answers, or from the
        warehouse and then kept."""
        cache = services().response_cache
        cached = cache.get(parsed) if self.state is None else None
        if cached and cached.data is not None:
            return orjson.loads(cached.data), cached.meta
        query = self._query(parsed)
        answer = self._answer(query, parsed)
        if self.state is None:
            clock, until = self.clock(query)
            data, version = orjson.dumps(answer.data), shop_state(parsed, clock)
            cache.put(parsed, CachedResponse(version, until, data, answer.meta))
        return answer.data, answer.meta

    def table(self, parsed: ParsedRequest) -> Response:
        """The same answer as CSV."""
        data, meta = self.read(parsed)
        return self._respond(parsed, {}, meta, b"", data)

    def _serve(self, form_id: str = "") -> Response:
        current_request().template = VERSION + self.path
        parsed = self._parse(form_id)
        if self.method != "GET":
            return self._write(parsed)
        cached = services().response_cache.get(parsed) if self.state is None else None
        return (cached and self._from_cache(parsed, cached)) or self._read(parsed)

    def _parse(self, form_id: str) -> ParsedRequest:
        """Check and parse the request at hand. Raises the 403, the 404, then the 400s."""
        current = current_request()
        caller, now = current.caller, current.now
        assert caller is not None
        require_scope(caller, self.scope)
        if form_id and not current.form_exists:
            raise not_found()
        format = requested_format() if self.method == "GET" else JSON
        values = tuple(
            parameter.parse(request.args.getlist(parameter.name)) for parameter in self.parameters
        )
        self.rule(*values)
        shop = caller.shop
        if services().database.has_replica:
            shop = open_snapshot(
                services().database,
                shop.key,
                shop.shop_id,
                form_id.lower(),
                at_primary=self.at_primary,
            )
            caller = replace(caller, shop=shop)
        today = local_day(now, shop.timezone)
        window = self._window(shop, today)
        return ParsedRequest(caller, self.path, form_id.lower(), values, window, today, now, format)

    def _window(self, shop: Shop, today: int) -> Window:
        text = None
        if self.ranged:
            text = one_text(request.args.getlist("range"), "range", "invalid_range")
        if text is None:
            return last_days(DEFAULT_DAYS, today, shop.timezone)
        return parse_range(text, today, shop.timezone)

    def _from_cache(self, parsed: ParsedRequest, cached: CachedResponse) -> Response | None:
        """The cached answer. None if only its state is cached, and the client has another one."""
        headers = validators(parsed, cached.state)
        if client_has(headers["ETag"]):
            return NotModified(headers=headers)
        if cached.data is None:
            return None
        return self._respond(parsed, headers, cached.meta, cached.data)

    def _read(self, parsed: ParsedRequest) -> Response:
        """The answer from the warehouse. If the client has it, only its state is read."""
        query = self._query(parsed)
        if self.state:
            version, until = self.state(query), parsed.now
        else:
            clock, until = self.clock(query)
            version = shop_state(parsed, clock)
        headers = validators(parsed, version)
        answer = None if client_has(headers["ETag"]) else self._answer(query, parsed)
        data = orjson.dumps(answer.data) if answer else None
        if until > parsed.now:
            meta = answer.meta if answer else {}
            services().response_cache.put(parsed, CachedResponse(version, until, data, meta))
        if answer is None or data is None:
            return NotModified(headers=headers)
        return self._respond(parsed, headers, answer.meta, data, answer.data)

    def _write(self, parsed: ParsedRequest) -> Response:
        answer = self._answer(self._query(parsed), parsed)
        headers = dict(answer.headers)
        if answer.state:
            headers["ETag"] = entity_tag(parsed, answer.state)
        return envelope(parsed, orjson.dumps(answer.data), self.status, headers, answer.meta)

    def _answer(self, query: Query, parsed: ParsedRequest) -> Answer[Any]:
        arguments = (parameter.argument for parameter in self.parameters)
        answer = self.answer(query, **dict(zip(arguments, parsed.values, strict=True)))
        answer = answer if isinstance(answer, Answer) else Answer(answer)
        return replace(answer, meta={"dataThrough": query.data_through(), **answer.meta})

    def _query(self, parsed: ParsedRequest) -> Query:
        connection = current_request().connection
        assert connection is not None
        return Query(
            connection=connection,
            dimensions=services().dimensions,
            cache=services().shop_cache,
            shop=parsed.caller.shop,
            credential_id=parsed.caller.credential_id,
            window=parsed.window,
            now=parsed.now,
            today=parsed.today,
            form_id=parsed.form_id,
            limits=current_app.config[ROW_LIMITS],
        )

    def _respond(
        self,
        parsed: ParsedRequest,
        headers: dict[str, str],
        meta: Mapping[str, Any],
        data: bytes,
        values: Any = None,
    ) -> Response:
        """The answer to a GET in the requested format. `data` is JSON; `values` is the same as Python
        values, if they are at hand."""
        if meta.get("nextCursor"):
            headers["Link"] = _next_link(meta["nextCursor"])
        if parsed.format == JSON:
            return envelope(parsed, data, 200, headers, meta)
        values = orjson.loads(data) if values is None else values
        name = self.path.strip("/").replace("/", "-").replace("{id}", parsed.form_id)
        if "dimension" in values:
            name += f"-{values['dimension']}"
        if self.ranged:
            name += f"_{day_date(parsed.window.first)}_{day_date(parsed.window.last)}"
        table = write_table(columns_of(self.payload, values), rows_of(values))
        return csv_response(parsed, table, headers, meta, name)

    @cached_property
    def payload(self) -> Any:
        """The type of the answer's `data`."""
        returned = get_type_hints(self.answer)["return"]
        return get_args(returned)[0] if get_origin(returned) is Answer else returned


def _next_link(cursor: str) -> str:
    """The value of `Link` for the next page: the address of the request at hand with another cursor."""
    query = [(name, text) for name, text in request.args.items(multi=True) if name != "cursor"]
    return f'<{request.path}?{urlencode([*query, ("cursor", cursor)])}>; rel="next"'


class Resource(Blueprint):
    """The endpoints of one resource."""

    endpoints: tuple[Endpoint, ...] = ()


def blueprint(name: str, *endpoints: Endpoint) -> Resource:
    """A resource with these endpoints."""
    resource = Resource(name, __name__, url_prefix=VERSION)
    resource.endpoints = endpoints
    for endpoint in endpoints:
        endpoint.register(resource)
    return resource
