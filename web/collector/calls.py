"""Tracking calls as lines of the landing folder: the fields that the import reads, and nothing else.

An e-mail address becomes its SHA-256, a user agent the type of a device, and a free answer the fact that
there was one: none of them reaches the disk. (The import stores the hash under the warehouse's secret, which
this process does not know.) Everything else that the import might refuse is passed on, so
that the shop sees it among its rejects.
"""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import uuid4

import msgspec
from crawleruseragents import is_crawler

from warehouse.domain.addresses import has_at, masked
from warehouse.domain.devices import device_of
from warehouse.domain.email_hash import hashed_email, plain_mark
from warehouse.domain.time import MICROS_PER_SECOND, from_micros, to_micros
from warehouse.domain.tracking_calls import CAMPAIGN, Call, event_type, fields_of, member, user_of
from warehouse.domain.vocabulary import AGGREGATABLE_FIELD_TYPES

MAX_EVENT_BYTES: Final = 32 * 1024
MAX_BATCH_BYTES: Final = 500 * 1024
# As Segment has it. A batch of empty calls would cost as much as a hundred others.
MAX_CALLS: Final = 2_500

# Outcomes of calls.
TAKEN: Final = "taken"
OTHER: Final = "other"
CRAWLER: Final = "crawler"
REFUSED: Final = "refused"

# A client's clock that is off by less is believed: messages travel for a moment.
_MAX_CLOCK_ERROR: Final = 60 * MICROS_PER_SECOND
_NAMES: Final = ("form_name", "step_name")
# User agents are far shorter.
_MAX_AGENT: Final = 1_000


class MalformedCalls(Exception):
    """A body that holds no calls. The message says why, for the one who sent it."""


class _Batch(msgspec.Struct):
    batch: list[msgspec.Raw]
    writeKey: Any = None  # noqa: N815
    sentAt: Any = None  # noqa: N815
    context: Any = None


class PostedCalls(NamedTuple):
    """The calls of one request. `write_key` is the one in the body, None without one."""

    calls: list[Call]
    write_key: Any
    sent_at: Any
    context: Call


class ReducedCalls(NamedTuple):
    """Lines, each with its line end, and the number of calls by outcome (TAKEN, OTHER, CRAWLER)."""

    lines: bytes
    outcomes: Counter[str]


_BATCH: Final = msgspec.json.Decoder(_Batch)
_CALL: Final = msgspec.json.Decoder(Call, float_hook=Decimal)
_LINE: Final = msgspec.json.Encoder(decimal_format="number")


def read_call(body: bytes) -> PostedCalls:
    """The call that is the body of `/v1/track`. Raises MalformedCalls."""
    call = _decoded(body)
    return PostedCalls([call], call.get("writeKey"), call.get("sentAt"), {})


def read_batch(body: bytes) -> PostedCalls:
    """The calls in the body of `/v1/batch`. Raises MalformedCalls."""
    try:
        posted = _BATCH.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise MalformedCalls(
            'The body is not a JSON object with a list `batch`; send `{"batch": [...]}` in UTF-8.'
        ) from None
    if len(posted.batch) > MAX_CALLS:
        raise MalformedCalls(
            f"The batch has {len(posted.batch)} events; send at most {MAX_CALLS} in one."
        )
    calls = [_decoded(bytes(call)) for call in posted.batch]
    context = posted.context if isinstance(posted.context, dict) else {}
    return PostedCalls(calls, posted.writeKey, posted.sentAt, context)


def _decoded(text: bytes) -> Call:
    if len(text) > MAX_EVENT_BYTES:
        raise MalformedCalls(
            f"An event has {len(text)} bytes; send events of at most {MAX_EVENT_BYTES} bytes."
        )
    try:
        return _CALL.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise MalformedCalls("An event is not a JSON object in UTF-8; send one.") from None


def reduce_calls(posted: PostedCalls, header_agent: str, now: int) -> ReducedCalls:
    """The calls about forms as lines. `header_agent` is the user agent of the request's browser, which
    counts for calls that name none; `now` the present instant."""
    outcomes: Counter[str] = Counter()
    lines: list[bytes] = []
    for call in posted.calls:
        context = posted.context | member(call, "context")
        agent = context.get("userAgent")
        if not isinstance(agent, str):
            agent = header_agent
        if event_type(call) is None:
            outcomes[OTHER] += 1
        elif _is_crawler(agent[:_MAX_AGENT]):
            outcomes[CRAWLER] += 1
        else:
            outcomes[TAKEN] += 1
            sent_at = call.get("sentAt") or posted.sent_at
            lines.append(_LINE.encode(_line(call, context, agent, sent_at, now)) + b"\n")
    return ReducedCalls(b"".join(lines), outcomes)


@lru_cache(maxsize=1 << 14)
def _is_crawler(agent: str) -> bool:
    return bool(is_crawler(agent))


def _line(call: Call, context: Call, agent: str, sent_at: Any, now: int) -> Call:
    fields = fields_of(call)
    user, address = user_of(call)
    email, stated_hash = fields.pop("email", None), fields.pop("email_sha256", None)
    if not email and not stated_hash:
        email = member(context, "traits").get("email") or address
    visitor = call.get("anonymousId") or (None if user else plain_mark(address))
    device = member(context, "device")
    properties = {
        # An import stores names as they are, so not even a hash may be in them.
        name: _plain(value, _hidden) if name in _NAMES else _plain(value)
        for name, value in fields.items()
        if name != "value"
    }
    properties["email_sha256"] = _email_hash(email) or _plain(stated_hash, _hidden)
    if "value" in fields:
        properties["value"] = _answer(fields)
    campaign = member(context, "campaign").items()
    return _present(
        messageId=_plain(call.get("messageId")) or str(uuid4()),
        type="track",
        event=call["event"],
        anonymousId=_plain(visitor),
        userId=_plain(user),
        timestamp=_timestamp(call, sent_at, now),
        properties=_present(**properties),
        context=_present(
            campaign=_present(
                **{name: _plain(value) for name, value in campaign if name in CAMPAIGN}
            ),
            device=_present(type=device_of(device.get("type"), device.get("model"), agent)),
        ),
    )


def _present(**members: Any) -> Call:
    return {name: value for name, value in members.items() if value not in (None, "", {})}


def _plain(value: Any, instead: Callable[[str], str] = plain_mark) -> Any:
    """A text without addresses, a number or a boolean; None for anything else. Addresses become their
    hashes: equal ids stay equal."""
    if isinstance(value, str):
        return masked(value, instead) if has_at(value) else value
    return value if isinstance(value, int | Decimal) else None


def _hidden(_address: str) -> str:
    return "***"


def _email_hash(address: Any) -> str:
    return hashed_email(address) if isinstance(address, str) else ""


def _answer(fields: dict[str, Any]) -> Any:
    """The value of an answer whose type can be aggregated; of others only that there is one."""
    value = fields["value"]
    if fields.get("field_type") not in AGGREGATABLE_FIELD_TYPES:
        return True if value not in ("", []) else None
    return [_plain(item) for item in value] if isinstance(value, list) else _plain(value)


def _timestamp(call: Call, sent_at: Any, now: int) -> str:
    """When it happened, by the client's clock, or by this one where the client's is wrong."""
    occurred = _instant(call.get("timestamp")) or _instant(call.get("originalTimestamp"))
    sent = _instant(sent_at)
    if occurred is None:
        return from_micros(now).isoformat()
    if sent is not None and abs(now - sent) > _MAX_CLOCK_ERROR:
        occurred += now - sent
    try:
        return from_micros(occurred).isoformat()
    except OverflowError:
        return from_micros(now).isoformat()


def _instant(text: Any) -> int | None:
    """A time of ISO 8601 as an instant, in UTC where it has no offset; None for anything else."""
    try:
        moment = datetime.fromisoformat(text)
        return to_micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (TypeError, ValueError, OverflowError):
        return None
