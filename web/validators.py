"""Validators: how a client learns that the answer it has is still the answer (RFC 9110, 8.8 and 13).

A tag has two parts, `W/"<state>.<frame>"`: the state of what was asked about, and what else an answer
says (`meta`, and its own form). It is weak, since no two answers have one `requestId`. `If-Match` asks
for the state of a form alone, which no two drafts share: so the tag serves there as it was given,
also a day later, with another key, or after a proxy has made something else of its weakness.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from flask import Response, request
from werkzeug.http import http_date

from warehouse.days import MICROS_PER_SECOND
from web.callers import Shop
from web.errors import Refusal
from web.ranges import Window

# Raise it whenever the same data are answered in another way.
REPRESENTATION: Final = 1


@dataclass(frozen=True, slots=True)
class State:
    """A state of what is asked about: `name` is that of no other, `since` the instant at which it
    came about."""

    name: str
    since: int


def digest(*parts: Any) -> str:
    """A short text that stands for these values."""
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def shop_state(shop: Shop, clock: int, *asked: Any) -> State:
    """The state of all that an endpoint tells of a shop, of which this was asked. It follows the
    shop's data version, since that moves with every change; `clock` is what follows from the present
    instant alone."""
    plain = [sorted(part) if isinstance(part, frozenset) else part for part in asked]
    name = digest(shop.key, shop.data_version, shop.moved_at, clock, plain)
    return State(name, shop.moved_at)


def entity_tag(state: State, credential_id: str, window: Window) -> str:
    return f'W/"{state.name}.{_frame(credential_id, window)}"'


@lru_cache(maxsize=4096)
def _frame(credential_id: str, window: Window) -> str:
    return digest(REPRESENTATION, credential_id, window.start_text, window.end_text, "json")


def validators(state: State, credential_id: str, window: Window, now: int) -> dict[str, str]:
    """The headers of a GET: to be kept by the client alone, and asked about before every use."""
    return {
        "ETag": entity_tag(state, credential_id, window),
        "Last-Modified": _date(min(state.since, now) // MICROS_PER_SECOND),
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Accept, Accept-Encoding",
    }


_date = lru_cache(maxsize=4096)(http_date)


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
    named = {tag.partition(".")[0] for tag in request.if_match.as_set(include_weak=True)}
    if state.name not in named:
        raise precondition_failed()


def precondition_failed() -> Refusal:
    return Refusal(
        412,
        "precondition_failed",
        "The form is no longer the one that `If-Match` names. Get it again, and then change it.",
    )
