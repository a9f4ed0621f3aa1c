"""An endpoint, declared: method, path, scope, parameters, and the function that answers.

The declaration is all there is to know about an endpoint from outside; what every endpoint shares
is done here, in the contract's order: (401 before routing,) 403, 404, then the request.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Generic, TypeVar, get_args, get_origin, get_type_hints

from flask import Blueprint, Response, current_app, g, request

from warehouse.days import day_date, local_day
from web.callers import Caller, Shop, require_scope
from web.csv import columns_of
from web.envelope import envelope
from web.errors import not_found
from web.formats import CSV, JSON, asked_format, table
from web.parameters import Parameter, RequestHeader, one_text
from web.questions import Question
from web.ranges import DEFAULT_DAYS, Window, last_days, parse_range
from web.shapes.envelope import AnswerMeta
from web.validators import State, client_has, entity_tag, not_modified, shop_state, validators

VERSION: Final = "/v1"

Data = TypeVar("Data")


@dataclass(frozen=True)
class Answer(Generic[Data]):
    """An answer that says more than its data."""

    data: Data
    headers: dict[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    # Of the form that a request has written: it makes the form's tag.
    state: State | None = None


def no_clock(_question: Question) -> int:
    """An answer in which the present instant shows in the window alone."""
    return 0


@dataclass(frozen=True)
class Endpoint:
    """`path` is the interface's, `{id}` for a form. `scope` None: any valid key.

    `answer(question, **parameters)` gives the payload's `data`, or an `Answer`. Its return type is the
    shape of the payload, and its docstring what people read about it (`openapi/`). `body` is the shape
    of the request's; `takes` are the headers that the request can have, and `says` what headers of the
    answer mean, beside those that all have.

    A GET is not answered where the client has the answer already, which its state tells: that of a
    form by itself (`state`), else of all that the shop has, in which `clock` is what the present
    instant does to the answer beside moving its window.
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
    clock: Callable[[Question], int] = no_clock
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
        caller = g.caller
        require_scope(caller, self.scope)
        if "{id}" in self.path and not g.form_is_known:
            raise not_found()
        kind = asked_format() if self.method == "GET" else JSON
        now = current_app.extensions["clock"]()
        today = local_day(now, caller.shop.timezone)
        arguments = {
            parameter.argument: parameter.parse(request.args.getlist(parameter.name))
            for parameter in self.parameters
        }
        question = Question(
            connection=g.connection,
            dimensions=current_app.extensions["dimensions"],
            campaigns=current_app.extensions["campaigns"],
            shop=caller.shop,
            credential_id=caller.credential_id,
            window=self._window(caller.shop, today),
            now=now,
            today=today,
            form_id=form_id.lower(),
        )
        headers: dict[str, str] = {}
        if self.method == "GET":
            headers = validators(question, self._state(question, arguments), kind)
            if client_has(headers["ETag"]):
                return not_modified(headers)
        answer = self.answer(question, **arguments)
        if not isinstance(answer, Answer):
            answer = Answer(answer)
        if answer.state:
            headers["ETag"] = entity_tag(question, answer.state, JSON)
        headers |= answer.headers
        if kind == CSV:
            return self._table(answer, question, caller, headers)
        return envelope(answer.data, caller, question.window, self.status, headers, answer.meta)

    @cached_property
    def payload(self) -> Any:
        """The shape of the answer's `data`."""
        shape = get_type_hints(self.answer)["return"]
        return get_args(shape)[0] if get_origin(shape) is Answer else shape

    def _table(
        self, answer: Answer[Any], question: Question, caller: Caller, headers: Mapping[str, str]
    ) -> Response:
        name = self.path.strip("/").replace("/", "-").replace("{id}", question.form_id)
        if "dimension" in answer.data:
            name += f"-{answer.data['dimension']}"
        if self.ranged:
            name += f"_{day_date(question.window.first)}_{day_date(question.window.last)}"
        columns = columns_of(self.payload, answer.data)
        return table(columns, answer.data, caller, question.window, headers, name)

    def _state(self, question: Question, arguments: Mapping[str, Any]) -> State:
        if self.state:
            return self.state(question)
        return shop_state(question, self.path, arguments, self.clock(question))

    def _window(self, shop: Shop, today: int) -> Window:
        text = None
        if self.ranged:
            text = one_text(request.args.getlist("range"), "range", "invalid_range")
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
