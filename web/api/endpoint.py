"""The declaration of an endpoint, and the one way from a request, or from a page, to its answer.

An endpoint is a function from a `Query` to rows, decorated with its path, scope and row (`get`, `write`).
The OpenAPI document and the CSV columns follow from the declaration. This module does what all endpoints
share. Its checks run in the contract's order: 403, 404, then the request; the 401 comes before routing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import cleandoc
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import orjson
from flask import Flask, Response, current_app, request
from sqlalchemy import Connection
from werkzeug.datastructures import MultiDict

from warehouse.domain.time import NEVER, day_date, day_start, local_day
from warehouse.domain.vocabulary import SCOPE_NEEDS
from web.api.csv_table import write_table
from web.api.long_answers import Encoded, encode, let_go
from web.api.meta import LIMITED_META, META, with_filter
from web.api.query import Query
from web.api.rows import Answer, Row
from web.auth.permissions import SCOPE_OPENS
from web.http.api_key_auth import open_snapshot, require_scope
from web.http.content_type import FORMAT, JSON, SPREADSHEET, csv_response, requested_format
from web.http.current_request import CurrentRequest, Shop, current_request, request_id
from web.http.date_range import DEFAULT_DAYS, Window, last_days, parse_range
from web.http.errors import not_found
from web.http.etags import NotModified, State, client_has, digest, entity_tag, validators
from web.http.known_answers import keep_until
from web.http.parameters import Parameter, RequestHeader, dimension, one_text, require_known
from web.http.services import services

VERSION: Final = "/v1"
# Where the configuration of the application has its `RowLimits`.
ROW_LIMITS: Final = "ROW_LIMITS"

# The part of a path that is a page's, too.
_PAGE: Final = re.compile(r"/\w+(/\{\w+\})?")

# The texts of a parameter, one for each time that it was sent.
TextsOf = Callable[[str], list[str]]
Clock = tuple[Any, int]
"""(what else the ETag follows from, such as today; instant at which it changes even if the data does not).

The change of day counts by itself, through the window."""


def no_clock(_query: Query) -> Clock:
    """A clock of answers that depend on the time only through their window."""
    return 0, NEVER


def any_item(_connection: Connection, _shop: Shop, _item_id: str) -> bool:
    """A check that finds every item: the endpoint is about no order and no note."""
    return True


def no_rule(_shop: Shop, **_values: Any) -> None:
    """A rule by which any values of the parameters go together."""


class CachedAnswer(NamedTuple):
    """The answer to a GET as it is kept."""

    version: State
    data: Encoded
    meta: Mapping[str, Any]
    until: int


@dataclass(frozen=True)
class Endpoint:
    """An endpoint of the API: a function, and all that requests, pages and the API's document need to know.

    A GET whose ETag the client already has is a 304. The ETag follows `own_state`, or the state of the whole
    shop and `clock`; in the second case the answer is cached (`web/db/shop_cache.py`).
    """

    # Without one, `path` is a name for pages, and no address.
    method: str
    # `{id}` stands for a form's id, `{orderId}` and `{noteId}` for that of what `exists`.
    path: str
    # The scope that a key needs; with None, any valid key will do.
    scope: str | None
    # `function(query, **parameters)`, with those that are no `filters`, returns `data` or an `Answer`. Its
    # name is that of the operation; its docstring becomes the summary and the description (`web/openapi/`).
    function: Callable[..., Any]
    # A list of rows of one kind, a `single` row, or an object for each value of `dimension` (`by_dimension`).
    data: Row | Mapping[str, Row]
    parameters: tuple[Parameter, ...] = ()
    filters: tuple[Parameter, ...] = ()
    single: bool = False
    ranged: bool = True
    status: int = 200
    meta: Row = META
    # The row of the request's body.
    body: Row | None = None
    # The codes that only this endpoint answers with, by status.
    refusals: Mapping[int, str] = field(default_factory=dict)
    # The headers that only this endpoint reads, and the names of those that only its answer has.
    request_headers: tuple[RequestHeader, ...] = ()
    response_headers: tuple[str, ...] = ()
    exists: Callable[[Connection, Shop, str], bool] = any_item
    # Raises the 400 for values that do not go together, or not with the shop; also of a cached answer.
    rule: Callable[..., None] = no_rule
    # How the answer depends on the present instant.
    clock: Callable[[Query], Clock] = no_clock
    # The state of one form, or of notes.
    own_state: Callable[[Query], State] | None = None
    # Whether it reads what requests write, so that a client sees at once what it has written. All others read
    # from the read replica, where there is one.
    at_primary: bool = False
    page_needs: tuple[str, str] | None = None
    # The address of the page that shows the answer, where `path` does not begin with it.
    page: str = ""

    @property
    def address(self) -> str:
        return VERSION + self.path

    @property
    def rows(self) -> Sequence[Row]:
        """The kinds of its `data`: one, or one for each dimension."""
        return [self.data] if isinstance(self.data, Row) else list(self.data.values())

    @property
    def shown_at(self) -> str:
        """The address of the page that shows the answer to a person, with `{id}` or `{orderId}`: `page`, or
        the one that is called as its path begins."""
        begins = _PAGE.match(self.path)
        return self.page or (begins[0] if begins else "/")

    @property
    def member_needs(self) -> tuple[str, str] | None:
        """The permission without which a member does not see the answer on a page, and what it is needed for:
        `page_needs`, or that of the scope, since who may not grant it may not see what it opens."""
        if self.page_needs:
            return self.page_needs
        if self.scope not in SCOPE_NEEDS:
            return None
        return SCOPE_NEEDS[self.scope], SCOPE_OPENS[self.scope]

    @property
    def operation(self) -> str:
        """The name of its function, in camel case."""
        first, *others = self.function.__name__.split("_")
        return first + "".join(map(str.capitalize, others))

    @property
    def names(self) -> list[str]:
        """The names of all its parameters."""
        shared = [("range", self.ranged), (FORMAT.name, self.method == "GET")]
        return [
            *(parameter.name for parameter in self.parameters),
            *(name for name, has_it in shared if has_it),
        ]

    @property
    def described(self) -> tuple[str, str]:
        """Summary and description: the docstring of its function."""
        summary, _, description = cleandoc(self.function.__doc__ or "").partition("\n\n")
        return " ".join(summary.split()).rstrip("."), description

    def register(self, app: Flask) -> None:
        app.add_url_rule(
            self.address.replace("{id}", "<form_id:form_id>")
            .replace("{orderId}", "<text:item_id>")
            .replace("{noteId}", "<text:item_id>"),
            endpoint=f"{self.method} {self.path}".replace(".", "_"),
            view_func=self._serve,
            methods=[self.method],
        )

    def row(self, dimension: str = "") -> Row:
        """The rows of its tables."""
        data = self.data if isinstance(self.data, Row) else self.data[dimension]
        return data.inner("rows") or data

    def query(
        self,
        connection: Connection,
        shop: Shop,
        values: Mapping[str, Any],
        window: Window,
        *,
        within: int | None = None,
        **asked: Any,
    ) -> Query:
        """A question to this endpoint. A request says with a parameter at which age it asks, a page with
        `within`; `asked` are further members of `Query`."""
        shared = services()
        return Query(
            connection=connection,
            dimensions=shared.dimensions,
            cache=shared.shop_cache,
            limits=current_app.config[ROW_LIMITS],
            shop=shop,
            path=self.path,
            values=values,
            window=window,
            within=values.get("within") or within,
            **asked,
        )

    def parse(self, texts_of: TextsOf, shop: Shop) -> dict[str, Any]:
        """The values of the parameters from their texts. Raises the 400s."""
        values = {each.argument: each.parse(texts_of(each.name)) for each in self.parameters}
        self.rule(shop, **values)
        return values

    def read(self, query: Query) -> tuple[Any, Mapping[str, Any]]:
        """`data` and `meta` of the answer to a GET, for a page: from the cache of answers, or from the
        warehouse and then kept."""
        cached = self._cached(query)
        if cached:
            return cached.data.data(), cached.meta
        answer = self._answer(query)
        self._keep(query, answer, *self._version(query))
        return answer.data, answer.meta

    def table(self, query: Query) -> Response:
        """The answer to a request, as CSV."""
        data, meta = self.read(query)
        return self._table(query, {}, meta, data)

    def ask(
        self, asked: MultiDict[str, str], form_id: str = "", item_id: str = ""
    ) -> tuple[Query, list[bytes], Mapping[str, Any]]:
        """The answer to a GET for another door: the question, the pieces of `data` as JSON, and `meta`. It is
        checked as a request of the API is, which alone may choose a format."""
        names = [name for name in self.names if name != FORMAT.name]
        query = self._parse_request(current_request(), asked, names, form_id, item_id)
        if cached := self._cached(query):
            return query, [*cached.data.pieces()], _meta(query, cached.meta)
        answer = self._answer(query)
        data = self._keep(query, answer, *self._version(query))
        return query, [*data.pieces()], _meta(query, answer.meta)

    def _serve(self, form_id: str = "", item_id: str = "") -> Response:
        current = current_request()
        current.template = self.address
        query = self._parse_request(current, request.args, self.names, form_id, item_id)
        if self.method != "GET":
            answer = self._answer(query)
            headers = dict(answer.headers)
            if answer.state:
                headers["ETag"] = _tag(query, answer.state)
            return _envelope(query, encode(answer.data), self.status, headers, answer.meta)
        cached = self._cached(query)
        version, until = (cached.version, cached.until) if cached else self._version(query)
        tag = _tag(query, version)
        headers = validators(tag, version.since, query.now)
        is_at_client = client_has(tag)
        # A question that comes for the first time may never come again.
        is_repeated = cached or is_at_client
        is_of_look_up = self.own_state is None and self.exists is any_item
        # Its `Last-Modified` stands unless that moves with the clock.
        if is_repeated and is_of_look_up and version.since <= query.now:
            # Its window stands until the shop's midnight.
            midnight = day_start(query.today + 1, query.shop.timezone)
            keep_until(min(until, midnight))
        if is_at_client:
            return NotModified(headers=headers)
        if cached:
            return self._respond(query, headers, cached.meta, cached.data, cached.data.data)
        answer = self._answer(query)
        data = self._keep(query, answer, version, until)
        response = self._respond(query, headers, answer.meta, data, lambda: answer.data)
        let_go(answer.data)
        return response

    def _parse_request(
        self,
        current: CurrentRequest,
        asked: MultiDict[str, str],
        names: Sequence[str],
        form_id: str,
        item_id: str,
    ) -> Query:
        """Check and parse what the request at hand asks, which may have parameters of these names. Raises the
        403, the 404, then the 400s."""
        caller, now = current.caller, current.now
        assert caller is not None
        require_scope(caller, self.scope)
        for parameter in self.parameters:
            if parameter.name in asked:
                require_scope(caller, parameter.scope)
        if form_id and not current.form_exists:
            raise not_found()
        shop, form_id = caller.shop, form_id.lower()
        if (database := services().database).has_replica:
            # The key was found at the primary.
            shop = open_snapshot(
                database, shop.key, shop.shop_id, form_id, at_primary=self.at_primary
            )
        assert current.connection is not None
        if not self.exists(current.connection, shop, item_id):
            raise not_found()
        texts_of = asked.getlist
        require_known(asked, names)
        format = requested_format() if FORMAT.name in names else JSON
        values = self.parse(texts_of, shop)
        today = local_day(now, shop.timezone)
        text = one_text(texts_of("range"), "range", "invalid_range") if self.ranged else None
        return self.query(
            current.connection,
            shop,
            values,
            last_days(DEFAULT_DAYS, today, shop.timezone)
            if text is None
            else parse_range(text, today, shop.timezone),
            now=now,
            today=today,
            form_id=form_id,
            item_id=item_id,
            sees_codes="discounts:read" in caller.scopes,
            credential_id=caller.credential_id,
            format=format,
        )

    def _cached(self, query: Query) -> CachedAnswer | None:
        cached: CachedAnswer | None = query.cache.find(query.key, query.now)
        return cached

    def _version(self, query: Query) -> tuple[State, int]:
        """The state that the answer tells of, and the first instant at which it is another although the data
        version is the same."""
        if self.own_state:
            return self.own_state(query), query.now
        clock, until = self.clock(query)
        return State(digest(*query.state, clock), query.shop.data_changed_at), until

    def _answer(self, query: Query) -> Answer:
        filters = {each.argument for each in self.filters}
        values = {name: value for name, value in query.values.items() if name not in filters}
        answer = self.function(query.of_chosen(), **values)
        answer = answer if isinstance(answer, Answer) else Answer(answer)
        filter = {"filter": query.filter} if query.filter else {}
        meta = {"dataThrough": query.data_through(), **answer.meta, **filter}
        return replace(answer, meta=meta)

    def _keep(self, query: Query, answer: Answer, version: State, until: int) -> Encoded:
        """The answer's `data` as JSON, kept as long as it is the answer."""
        data = encode(answer.data)
        if until > query.now:
            size = data.size + len(repr(query.values))
            cached = CachedAnswer(version, data, answer.meta, until)
            query.cache.keep(query.key, cached, size, until)
        return data

    def _respond(
        self,
        query: Query,
        headers: dict[str, str],
        meta: Mapping[str, Any],
        data: Encoded,
        values: Callable[[], Any],
    ) -> Response:
        """The answer to a GET in the requested format, from `data` or from the same `values`."""
        if meta.get("nextCursor"):
            others = [one for one in request.args.items(multi=True) if one[0] != "cursor"]
            following = urlencode([*others, ("cursor", meta["nextCursor"])])
            headers["Link"] = f'<{request.path}?{following}>; rel="next"'
        if query.format == JSON:
            return _envelope(query, data, 200, headers, meta)
        return self._table(query, headers, meta, values())

    def _table(
        self, query: Query, headers: dict[str, str], meta: Mapping[str, Any], values: Any
    ) -> Response:
        # An order's id may have what no name of a file has.
        name = self.path.replace("{id}", query.form_id).replace("{orderId}", "one")
        name = name.strip("/").replace("/", "-")
        dimension = str(query.values.get("dimension", ""))
        if dimension:
            name += f"-{dimension}"
        if self.ranged:
            name += f"_{day_date(query.window.first)}_{day_date(query.window.last)}"
        if query.filter:
            name += "_filtered"
        # A table has the rows of an object that has rows; another object is its only row.
        lines = values if isinstance(values, list) else values.get("rows", [values])
        of_spreadsheet = query.format == SPREADSHEET
        table = write_table(self.row(dimension), lines, of_spreadsheet=of_spreadsheet)
        return csv_response(table, headers, {**query.meta, **meta}, name)


def get(
    path: str,
    scope: str | None,
    data: Row | Mapping[str, Row],
    *parameters: Parameter,
    limited: bool = False,
    filters: tuple[Parameter, ...] = (),
    **more: Any,
) -> Callable[[Callable[..., Any]], Endpoint]:
    """Decorate the function that answers. `limited`: rows after the first ones are summed in the row
    `(other)`. `filters` (`web/api/filters.py`) choose what the query reads; the function is not given them.
    `more` are further members of `Endpoint`."""
    if limited:
        more["meta"] = LIMITED_META
    if filters:
        more["meta"] = with_filter(more.get("meta", META))
    if not isinstance(data, Row):
        parameters = (dimension(*data), *parameters)
    return lambda function: Endpoint(
        "GET", path, scope, function, data, (*parameters, *filters), filters=filters, **more
    )


def for_pages(name: str, row: Row, **more: Any) -> Callable[[Callable[..., Any]], Endpoint]:
    """Decorate a function that answers pages alone, in rows of one kind: the API has no address for it. Its
    answers are kept under the `name`."""
    return lambda function: Endpoint("", name, None, function, row, **more)


def write(
    method: str, path: str, scope: str, body: Row | None, data: Row, **more: Any
) -> Callable[[Callable[..., Any]], Endpoint]:
    """Decorate the function that writes what a body says, or takes away what the path names."""
    return lambda function: Endpoint(
        method,
        path,
        scope,
        function,
        data,
        single=True,
        ranged=False,
        body=body,
        at_primary=True,
        **more,
    )


def _tag(query: Query, version: State) -> str:
    return entity_tag(version, query.shop, query.credential_id, query.window, query.format)


def _envelope(
    query: Query, data: Encoded, status: int, headers: Mapping[str, str], meta: Mapping[str, Any]
) -> Response:
    """A successful answer, `{data, meta}`."""
    all_meta = orjson.dumps(_meta(query, meta))
    body = b"".join([b'{"data":', *data.pieces(), b',"meta":', all_meta, b"}"])
    return Response(body, status, dict(headers), mimetype="application/json")


def _meta(query: Query, meta: Mapping[str, Any]) -> dict[str, Any]:
    return {"requestId": request_id(), **query.meta, **meta}
