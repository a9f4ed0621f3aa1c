"""Validators: how a client learns that the answer it has is still the answer (RFC 9110, 8.8 and 13).

A tag has two parts, `W/"<state>.<frame>"`: the state of what was asked about, and what else an answer
says (`meta`, and its own form). It is weak, since no two answers have one `requestId`. `If-Match` asks
for the state of a form alone, which no two drafts share: so the tag serves there as it was given,
also a day later, with another key, or after a proxy has made something else of its weakness.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from flask import Response, request
from werkzeug.http import http_date

from warehouse.days import MICROS_PER_SECOND
from web.errors import Refusal
from web.parameters import RequestHeader
from web.questions import Question

# Raise it whenever the same data are answered in another way.
REPRESENTATION: Final = 1


IF_NONE_MATCH: Final = RequestHeader(
    "If-None-Match",
    "The `ETag` of an answer that the client has: as long as it is still the answer, it is not sent "
    "again (304).",
    {"type": "string"},
    {},
)
IF_MATCH: Final = RequestHeader(
    "If-Match",
    "The `ETag` of the form as the client has seen it: a form that has changed since stays as it is "
    "(412).",
    {"type": "string"},
    {412: "precondition_failed"},
)


@dataclass(frozen=True, slots=True)
class State:
    """A state of what is asked about: `name` is that of no other, `since` the instant at which it
    came about."""

    name: str
    since: int


def digest(*parts: Any) -> str:
    """A short text that stands for these values."""
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def shop_state(question: Question, path: str, arguments: Mapping[str, Any], clock: int) -> State:
    """The state of all that an endpoint tells of a shop. It follows the shop's data version, since
    that moves with every change; `clock` is what follows from the present instant alone."""
    shop = question.shop
    asked = [
        (name, sorted(value) if isinstance(value, frozenset) else value)
        for name, value in arguments.items()
    ]
    name = digest(shop.key, shop.data_version, shop.moved_at, path, question.form_id, asked, clock)
    return State(name, shop.moved_at)


def entity_tag(question: Question, state: State, kind: str) -> str:
    """The tag of an answer in a format (`json`, `csv`)."""
    window = question.window
    frame = digest(REPRESENTATION, question.credential_id, window.start_text, window.end_text, kind)
    return f'W/"{state.name}.{frame}"'


def validators(question: Question, state: State, kind: str) -> dict[str, str]:
    """The headers of a GET: to be kept by the client alone, and asked about before every use."""
    return {
        "ETag": entity_tag(question, state, kind),
        "Last-Modified": http_date(min(state.since, question.now) // MICROS_PER_SECOND),
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Accept, Accept-Encoding",
    }


def client_has(tag: str) -> bool:
    """Whether `If-None-Match` of the request at hand names an answer's tag."""
    opaque = tag.removeprefix("W/").strip('"')
    return "If-None-Match" in request.headers and request.if_none_match.contains_weak(opaque)


def not_modified(headers: Mapping[str, str]) -> Response:
    answer = Response(status=304, headers=dict(headers))
    del answer.headers["Content-Type"]
    return answer


def is_conditional() -> bool:
    """Whether the request at hand is to change a form in one state only."""
    return "If-Match" in request.headers and not request.if_match.star_tag


def require_match(state: State) -> None:
    """Raises the 412 where `If-Match` of the request at hand names other states than this one."""
    # Of an empty tag the parser makes None.
    tags = filter(None, request.if_match.as_set(include_weak=True))
    named = {tag.partition(".")[0] for tag in tags}
    if state.name not in named:
        raise precondition_failed()


def precondition_failed() -> Refusal:
    return Refusal(
        412,
        "precondition_failed",
        "The form is no longer the one that `If-Match` names. Get it again, and then change it.",
    )
