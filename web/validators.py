"""Validators: how a client learns that the answer it has is still the answer (RFC 9110, 8.8 and 13).

A tag has two parts, `W/"<state>.<frame>"`: the state of what was asked about, and what else an answer
says (`meta`, and its own form). It is weak, since no two answers have one `requestId`. `If-Match` asks
for the state of a form alone, which no two drafts share: so the tag serves there as it was given,
also a day later, with another key, or after a proxy has made something else of its weakness.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from flask import Response, request
from werkzeug.http import http_date, parse_etags

from warehouse.days import MICROS_PER_SECOND
from web.asking import Asked
from web.errors import Refusal
from web.parameters import RequestHeader
from web.ranges import Window

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


def shop_state(asked: Asked, clock: int) -> State:
    """The state of all that an endpoint tells of a shop. It follows the shop's data version, since
    that moves with every change; `clock` is what follows from the present instant alone."""
    shop = asked.caller.shop
    values = [sorted(one) if isinstance(one, frozenset) else one for one in asked.values]
    version = shop.key, shop.data_version, shop.moved_at
    return State(digest(version, asked.path, asked.form_id, values, clock), shop.moved_at)


def entity_tag(asked: Asked, state: State) -> str:
    return f'W/"{state.name}.{_frame(asked.caller.credential_id, asked.window, asked.kind)}"'


@lru_cache(maxsize=4096)
def _frame(credential_id: str, window: Window, kind: str) -> str:
    return digest(REPRESENTATION, credential_id, window.start_text, window.end_text, kind)


def validators(asked: Asked, state: State) -> dict[str, str]:
    """The headers of a GET: to be kept by the client alone, and asked about before every use."""
    return {
        "ETag": entity_tag(asked, state),
        "Last-Modified": _date(min(state.since, asked.now) // MICROS_PER_SECOND),
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Accept, Accept-Encoding",
    }


_date = lru_cache(maxsize=4096)(http_date)


def client_has(tag: str) -> bool:
    """Whether `If-None-Match` of the request at hand names an answer's tag."""
    named = request.headers.get("If-None-Match")
    return named is not None and parse_etags(named).contains_weak(tag[3:-1])


class NotModified(Response):
    """A 304, which has no content and so no type of it."""

    default_status = 304
    default_mimetype = None


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
