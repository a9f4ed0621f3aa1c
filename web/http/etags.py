"""Validators: how a client learns that the answer it has is still the answer (RFC 9110, 8.8 and 13).

A tag has two parts, `W/"<state>.<frame>"`: the state of what was asked about, and what else an answer
says (`meta`, and its own form). It is weak, since no two answers have one `requestId`. `If-Match` asks
for the state of a form alone, which no two drafts share: so the tag serves there as it was given,
also a day later, with another key, or after a proxy has made something else of its weakness.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from flask import Response, request
from werkzeug.http import http_date, parse_etags

from warehouse.domain.time import MICROS_PER_SECOND
from web.http.current_request import Shop
from web.http.date_range import Window
from web.http.errors import Refusal
from web.http.parameters import RequestHeader

# Raise it whenever the same data are answered in another way.
REPRESENTATION: Final = 2


IF_NONE_MATCH: Final = RequestHeader(
    "If-None-Match",
    "The `ETag` of an answer that the client has. If the answer is still the same, it is not sent again "
    "(304).",
    {"type": "string"},
    {},
)
IF_MATCH: Final = RequestHeader(
    "If-Match",
    "The `ETag` of the form that the client has seen. If the form has changed since, nothing is replaced "
    "(412).",
    {"type": "string"},
    {412: "precondition_failed"},
)


@dataclass(frozen=True, slots=True)
class State:
    """A state of a resource: no other state has its `name`; `since` is the instant at which it came
    about."""

    name: str
    since: int


def digest(*parts: Any) -> str:
    """A short text that stands for these values."""
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def entity_tag(state: State, shop: Shop, credential_id: str, window: Window, format: str) -> str:
    of_shop = shop.currency, shop.timezone
    days = window.start_text, window.end_text
    frame = digest(REPRESENTATION, credential_id, *of_shop, *days, format)
    return f'W/"{state.name}.{frame}"'


def validators(tag: str, since: int, now: int) -> dict[str, str]:
    """The headers of a GET whose answer is as it has been `since`: the client alone keeps the answer, and
    asks before every use whether it is still the same."""
    return {
        "ETag": tag,
        "Last-Modified": http_date(min(since, now) // MICROS_PER_SECOND),
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Accept, Accept-Encoding",
    }


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
    """Raise the 412 where `If-Match` of the request at hand names other states than this one."""
    # The parser turns an empty tag into None.
    tags = filter(None, request.if_match.as_set(include_weak=True))
    named = {tag.partition(".")[0] for tag in tags}
    if state.name not in named:
        raise precondition_failed()


def precondition_failed() -> Refusal:
    return Refusal(
        412,
        "precondition_failed",
        "The form is no longer the version that `If-Match` names. Get the form again, then change it.",
    )
