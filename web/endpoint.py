"""An endpoint, declared: method, path, scope, parameters, and the function that answers.

The declaration is all there is to know about an endpoint from outside; what every endpoint shares
is done here, in the contract's order: (401 before routing,) 403, 404, then the request.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Generic, TypeVar, get_args, get_origin, get_type_hints

import orjson
from flask import Blueprint, Response, current_app, g, request
from werkzeug.datastructures import MultiDict

from warehouse.days import NEVER, day_date, local_day
from web.admission import take_snapshot
from web.answers import Kept
from web.asking import JSON, Asked
from web.callers import Caller, Shop, require_scope
from web.csv import columns_of
from web.cursors import next_link
from web.envelope import envelope
from web.errors import not_found
from web.formats import asked_format, table
from web.parameters import Parameter, RequestHeader, one_text
from web.questions import Question
from web.ranges import DEFAULT_DAYS, Window, last_days, parse_range
from web.shapes.envelope import AnswerMeta
from web.validators import NotModified, State, client_has, entity_tag, shop_state, validators

VERSION: Final = "/v1"

Data = TypeVar("Data")


Clock = tuple[int, int]
"""What the present instant makes of an answer, as a number; and the first instant at which it is
another one, of the same data, on the same day."""


@dataclass(frozen=True)
class Answer(Generic[Data]):
    """An answer that says more than its data."""

    data: Data
    headers: dict[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    # Of the form that a request has written: it makes the form's tag.
    state: State | None = None


def no_clock(_question: Question) -> Clock:
    """Of an answer in which the present instant shows in its window alone."""
    return 0, NEVER


def no_rule(*_values: Any) -> None:
    """Parameters of which each may be what it is, whatever the others are."""


@dataclass(frozen=True)
class Endpoint:
    """`path` is the interface's, `{id}` for a form. `scope` None: any valid key.

    `answer(question, **parameters)` gives the payload's `data`, or an `Answer`. Its return type is the
    shape of the payload, and its docstring what people read about it (`openapi/`). `body` is the shape
    of the request's; `takes` are the headers that the request can have, and `says` what headers of the
    answer mean, beside those that all have.

    A GET is not answered where the client has the answer already, which its state tells: that of a
    form by itself (`state`), else of all that the shop has, in which `clock` is what the present
    instant does to the answer beside moving its window. An answer of the latter kind is kept
    (`answers.py`), in whichever format it was asked for.
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
    takes: tuple[RequestHeader, ...] = ()
    says: Mapping[str, str] = field(default_factory=dict)
    # Raises the 400 where parameters do not go together, also for who has no answer to them yet.
    rule: Callable[..., None] = no_rule
    clock: Callable[[Question], Clock] = no_clock
    state: Callable[[Question], State] | None = None

    def register(self, blueprint: Blueprint) -> None:
        blueprint.add_url_rule(
            self.path.replace("{id}", "<form_id:form_id>"),
            endpoint=f"{self.method} {self.path}".replace(".", "_"),
            view_func=self._serve,
            methods=[self.method],
            provide_automatic_options=False,
        )

    def _serve(self, form_id: str = "") -> Response:
        g.template = VERSION + self.path
        asked = self._asked(form_id)
        if self.method == "GET" and self.state is None:
            kept = current_app.extensions["answers"].get(asked.key, asked.caller.shop, asked.now)
            response = kept and self._again(asked, kept)
            if response:
                g.again = asked, kept
                return response
        # From here on the request looks at one snapshot, and at its key and shop as they are in it.
        take_snapshot(asked.now)
        asked = self._asked(form_id)
        return self._read(asked) if self.method == "GET" else self._write(asked)

    def _asked(self, form_id: str) -> Asked:
        """What the request at hand asks. Raises the 403, the 404, then the 400s."""
        caller: Caller = g.caller
        require_scope(caller, self.scope)
        if form_id and not g.form_is_known:
            raise not_found()
        kind = asked_format() if self.method == "GET" else JSON
        now = current_app.extensions["clock"]()
        today, given = local_day(now, caller.shop.timezone), request.args
        values = tuple(
            parameter.parse(given.getlist(parameter.name)) for parameter in self.parameters
        )
        self.rule(*values)
        window = self._window(given, caller.shop, today)
        return Asked(caller, self.path, form_id.lower(), values, window, today, now, kind)

    def _again(self, asked: Asked, kept: Kept) -> Response | None:
        """The answer from what is kept of it; None where that is its state alone, which is not what
        the client has."""
        headers = validators(asked, kept.state)
        if client_has(headers["ETag"]):
            return NotModified(headers=headers)
        return None if kept.data is None else self._given(asked, kept.data, headers, kept.meta)

    def _read(self, asked: Asked) -> Response:
        """The answer from the warehouse; no more than its state where the client has it."""
        question = self._question(asked)
        if self.state:
            state, until = self.state(question), asked.now
        else:
            clock, until = self.clock(question)
            state = shop_state(asked, clock)
        headers = validators(asked, state)
        data: bytes | None = None
        meta: Mapping[str, Any] = {}
        if not client_has(headers["ETag"]):
            answer = self._answer(question, asked)
            data, meta = orjson.dumps(answer.data), answer.meta
        if until > asked.now:
            current_app.extensions["answers"].keep(asked, Kept(state, until, data, meta))
        if data is None:
            return NotModified(headers=headers)
        return self._given(asked, data, headers, meta)

    def _write(self, asked: Asked) -> Response:
        answer = self._answer(self._question(asked), asked)
        headers = dict(answer.headers)
        if answer.state:
            headers["ETag"] = entity_tag(asked, answer.state)
        return envelope(asked, orjson.dumps(answer.data), self.status, headers, answer.meta)

    def _answer(self, question: Question, asked: Asked) -> Answer[Any]:
        names = (parameter.argument for parameter in self.parameters)
        answer = self.answer(question, **dict(zip(names, asked.values, strict=True)))
        return answer if isinstance(answer, Answer) else Answer(answer)

    def _question(self, asked: Asked) -> Question:
        return Question(
            connection=g.connection,
            dimensions=current_app.extensions["dimensions"],
            campaigns=current_app.extensions["campaigns"],
            shop=asked.caller.shop,
            credential_id=asked.caller.credential_id,
            window=asked.window,
            now=asked.now,
            today=asked.today,
            form_id=asked.form_id,
        )

    def _given(
        self, asked: Asked, data: bytes, headers: dict[str, str], meta: Mapping[str, Any]
    ) -> Response:
        """The answer to a GET; `data` is JSON."""
        if meta.get("nextCursor"):
            headers["Link"] = next_link(meta["nextCursor"])
        if asked.kind == JSON:
            return envelope(asked, data, 200, headers, meta)
        read = orjson.loads(data)
        name = self.path.strip("/").replace("/", "-").replace("{id}", asked.form_id)
        if "dimension" in read:
            name += f"-{read['dimension']}"
        if self.ranged:
            name += f"_{day_date(asked.window.first)}_{day_date(asked.window.last)}"
        return table(asked, columns_of(self.payload, read), read, headers, name)

    @cached_property
    def payload(self) -> Any:
        """The shape of the answer's `data`."""
        shape = get_type_hints(self.answer)["return"]
        return get_args(shape)[0] if get_origin(shape) is Answer else shape

    def _window(self, given: MultiDict[str, str], shop: Shop, today: int) -> Window:
        text = None
        if self.ranged:
            text = one_text(given.getlist("range"), "range", "invalid_range")
        if text is None:
            return last_days(DEFAULT_DAYS, today, shop.timezone)
        return parse_range(text, today, shop.timezone)


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
