"""Tracking calls as rows of kind `events`: the fields that the import reads, and nothing else.

An e-mail address becomes its SHA-256, a user agent the type of a device, and a free answer the fact that
there was one: none of them reaches the disk. (The import stores the hash under the warehouse's secret, which
this process does not know.) A row without an id of its visitor or form session is dropped: broken scripts
send one text as the id of all visitors. Everything else that the import might refuse is passed on, so that
the shop sees it among its rejects; of an answer with too many choices, as much as shows that.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import uuid4

import msgspec
from crawleruseragents import is_crawler

from warehouse.domain.addresses import has_at, masked
from warehouse.domain.email_hash import hashed_email, names_address, plain_mark
from warehouse.domain.hash_ids import form_id_of
from warehouse.domain.text_rules import is_no_id
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND, from_micros, to_micros
from warehouse.domain.tracking_calls import (
    ON_OWN_PAGE,
    SOURCE,
    Call,
    Row,
    event_type,
    member,
    row_of,
)
from warehouse.domain.vocabulary import AGGREGATABLE_FIELD_TYPES, MOST_CHOICES
from warehouse.forms.form_sightings import FINDING, Sighting
from warehouse.operations.collectors import NO_ID
from web.collector.known_keys import KnownKey

# Characters of an id, a name or a path.
_LONGEST: Final = 255

MAX_EVENT_BYTES: Final = 32 * 1024
MAX_BATCH_BYTES: Final = 500 * 1024
# The bound of Segment. A batch of empty calls would cost as much as a hundred others.
MAX_CALLS: Final = 2_500

# Calls of this name tell of forms that the line for pages sees and cannot count.
_FINDING_EVENT: Final = "Line Finding"
_FINDINGS: Final = {"no_key", "foreign_frame", "closed_shadow_root"}

# Outcomes of calls.
TAKEN: Final = "taken"
OTHER: Final = "other"
CRAWLER: Final = "crawler"
REFUSED: Final = "refused"
UNREADABLE: Final = "unreadable"

# A client's clock that is off by less is believed: messages travel for a moment.
_MAX_CLOCK_ERROR: Final = 60 * MICROS_PER_SECOND
# Strangers have the keys of pages. They must not write a shop's history.
_MAX_AGE_ON_PAGES: Final = 7 * MICROS_PER_DAY
_NAMES: Final = ("form_name", "step_name")
# Choices of an answer that are passed on. Some may be one text: 1, "1" and 1.0.
_PASSED_CHOICES: Final = 4 * MOST_CHOICES
_NEEDED_IDS: Final = ("visitor_id", "form_session_id")
# Characters of a user agent that are looked at: each costs hundreds of patterns.
_MAX_AGENT: Final = 256
# User agents that nobody has sent before, of one request; whether others are crawlers is not asked.
_MAX_NEW_AGENTS: Final = 20
_REMEMBERED_AGENTS: Final = 1 << 14


class MalformedCalls(Exception):
    """A body that holds no calls. The message says why, for the one who sent it."""


class _Batch(msgspec.Struct):
    batch: list[msgspec.Raw]
    writeKey: Any = None  # noqa: N815
    sentAt: Any = None  # noqa: N815
    context: Any = None


class PostedCalls(NamedTuple):
    """The calls of one request. `write_key` is the one in the body, None without one. `dropped`: calls of a
    batch that cannot be read."""

    calls: list[Call]
    write_key: Any
    sent_at: Any
    context: Call
    dropped: int = 0


class ReducedCalls(NamedTuple):
    """Lines, each with its line end; a number for each form that they name; calls by outcome; the last
    sighting of each form, by our id."""

    lines: bytes
    forms: set[int]
    outcomes: Counter[str]
    sightings: dict[str, Sighting]


_BATCH: Final = msgspec.json.Decoder(_Batch)
_CALL: Final = msgspec.json.Decoder(Call, float_hook=Decimal)
_LINE: Final = msgspec.json.Encoder(decimal_format="number")


def read_call(body: bytes) -> PostedCalls:
    """The call that is the body of `/v1/track`. Raises MalformedCalls."""
    call = _decoded(body)
    return PostedCalls([call], call.get("writeKey"), call.get("sentAt"), {})


def read_batch(body: bytes) -> PostedCalls:
    """The calls in the body of `/v1/batch`, without those that cannot be read. Raises MalformedCalls."""
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
    calls = []
    for call in posted.batch:
        # A library sends a batch that is refused again and again, or drops it whole.
        with suppress(MalformedCalls):
            calls.append(_decoded(bytes(call)))
    context = posted.context if isinstance(posted.context, dict) else {}
    dropped = len(posted.batch) - len(calls)
    return PostedCalls(calls, posted.writeKey, posted.sentAt, context, dropped)


def _decoded(text: bytes) -> Call:
    if len(text) > MAX_EVENT_BYTES:
        raise MalformedCalls(
            f"An event has {len(text)} bytes; send events of at most {MAX_EVENT_BYTES} bytes."
        )
    try:
        return _CALL.decode(text)
    # An ArithmeticError: a number with an exponent of twenty digits.
    except (msgspec.DecodeError, UnicodeError, RecursionError, ArithmeticError):
        raise MalformedCalls("An event is not a JSON object in UTF-8; send one.") from None


def reduce_calls(
    posted: PostedCalls, key: KnownKey, header_agent: str, now: int, *, on_own_page: bool = False
) -> ReducedCalls:
    """The calls about forms as rows of the key's shop. `header_agent` is the user agent of the request's
    browser, which counts for calls that name none; `now` the present instant; `on_own_page`: the key names
    the origin of the page."""
    outcomes: Counter[str] = Counter()
    lines: list[bytes] = []
    forms: set[int] = set()
    sightings: dict[str, Sighting] = {}
    new_agents: set[str] = set()
    for call in posted.calls:
        if event_type(call) is None:
            outcomes[OTHER] += 1
            told = member(call, "properties")
            kind = str(told.get("finding"))
            if is_finding(call) and kind in _FINDINGS:
                page = _short(member(member(call, "context"), "page").get("path"))
                what, path = _short(told.get("what")), _first_part(page)
                sightings[FINDING + kind] = Sighting(what, path, now, on_own_page)
            continue
        context = posted.context | member(call, "context")
        agent = context.get("userAgent")
        agent = (agent if isinstance(agent, str) else header_agent)[:_MAX_AGENT]
        if _is_crawler(agent, new_agents):
            outcomes[CRAWLER] += 1
            continue
        row = _without_persons(row_of(call | {"context": context | {"userAgent": agent}}) or {})
        if any(_says_nothing(row.get(name)) for name in _NEEDED_IDS):
            outcomes[NO_ID] += 1
            continue
        outcomes[TAKEN] += 1
        if _says_nothing(row.get("event_id")):
            row["event_id"] = str(uuid4())
        row["occurred_at"] = _time(call, call.get("sentAt") or posted.sent_at, key, now)
        row["shop_id"] = key.shop_id
        if on_own_page:
            row[ON_OWN_PAGE] = True
        if path := _short(row.pop("page_path", None)):
            row["page_path"] = path
        lines.append(_LINE.encode(row) + b"\n")
        forms.add(hash((key.shop_id, row.get("form_id"))))
        form_id = row.get("form_id")
        if isinstance(form_id, str) and len(form_id) <= _LONGEST and "\0" not in form_id:
            own_id = form_id_of(key.shop_id, SOURCE, form_id)
            name = _short(row.get("form_name"))
            sightings[own_id] = Sighting(name, _first_part(path), now, on_own_page)
    return ReducedCalls(b"".join(lines), forms, outcomes, sightings)


def is_finding(call: Call) -> bool:
    """Whether a call says what the snippet has seen and cannot count."""
    return call.get("event") == _FINDING_EVENT


def _short(value: Any) -> str:
    """A text that a person reads, without addresses and what follows a path."""
    return (
        masked(value.split("?")[0].replace("\0", ""), _hidden)[:_LONGEST]
        if isinstance(value, str)
        else ""
    )


def _first_part(path: str) -> str:
    """`/account` of `/account/ada/orders`: what follows may name a person."""
    return "/".join(path.split("/")[:2])


_crawlers: dict[str, bool] = {}
"""Whether each user agent that was looked at is a crawler's."""


def _is_crawler(agent: str, new_agents: set[str]) -> bool:
    """Whether a user agent is a crawler's. `new_agents`: those of the request that were looked at, to which
    this one is added."""
    known = _crawlers.get(agent)
    if known is not None or len(new_agents) >= _MAX_NEW_AGENTS:
        return known or False
    new_agents.add(agent)
    if len(_crawlers) >= _REMEMBERED_AGENTS:
        _crawlers.clear()
    _crawlers[agent] = bool(is_crawler(agent))
    return _crawlers[agent]


def _says_nothing(id: Any) -> bool:
    return id is None or (isinstance(id, str) and is_no_id(id))


def _without_persons(row: Row) -> Row:
    """A row in which hashes stand for addresses, and nothing for a free answer."""
    email, stated_hash = row.pop("email", None), row.pop("email_sha256", None)
    kept = {
        # An import stores names as they are, so not even a hash may be in them.
        name: _plain(value, _hidden) if name in _NAMES else _plain(value)
        for name, value in row.items()
        if name != "value"
    }
    kept["email_sha256"] = (
        hashed_email(email) if isinstance(email, str) and names_address(email) else ""
    ) or _plain(stated_hash, _hidden)
    value = row.get("value")
    if "value" in row and row.get("field_type") not in AGGREGATABLE_FIELD_TYPES:
        # Only that there is an answer.
        kept["value"] = True if value not in ("", []) else None
    elif isinstance(value, list):
        choices = [_plain(item) for item in value]
        if len(choices) > _PASSED_CHOICES:
            choices = [*{(type(item), item): item for item in choices}.values()][:_PASSED_CHOICES]
        kept["value"] = choices
    elif "value" in row:
        kept["value"] = _plain(value)
    return {name: value for name, value in kept.items() if value not in (None, "")}


def _plain(value: Any, instead: Callable[[str], str] = plain_mark) -> Any:
    """A text without addresses, a number or a boolean; None for anything else. Addresses become their
    hashes: equal ids stay equal."""
    if isinstance(value, str):
        return masked(value, instead) if has_at(value) else value
    return value if isinstance(value, int | Decimal) else None


def _hidden(_address: str) -> str:
    return "***"


def _time(call: Call, sent_at: Any, key: KnownKey, now: int) -> str:
    """The instant of a call by the client's clock, or by this one where the client's is wrong."""
    occurred = _instant(call.get("timestamp")) or _instant(call.get("originalTimestamp"))
    sent = _instant(sent_at)
    if occurred is None:
        return from_micros(now).isoformat()
    if sent is not None and abs(now - sent) > _MAX_CLOCK_ERROR:
        occurred += now - sent
    if key.origins and abs(now - occurred) > _MAX_AGE_ON_PAGES:
        occurred = now
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
