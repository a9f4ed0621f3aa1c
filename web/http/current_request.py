"""All that is known of the request at hand: its id, its caller, and what it holds until it is answered."""

import secrets
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from flask import g, request
from sqlalchemy import Connection

from warehouse.domain.time import MICROS_PER_MS


@dataclass(frozen=True, slots=True)
class Shop:
    """The tenant of a request.

    `edition` is the one that answers are read from, 0 before the first rollup: then no daily row
    matches. `timezone` is the one in whose days those rows are kept. `data_version` moves with
    everything that can change an answer; `data_changed_at` is the instant at which it last did.
    `window_days` is how long after a submission an order is credited to it; None before the first rollup.
    """

    timezone: str
    key: int
    shop_id: str
    currency: str
    edition: int
    data_version: int
    data_changed_at: int
    window_days: int | None


@dataclass(frozen=True, slots=True)
class Caller:
    """A valid key. `last_used_at` is what the warehouse has recorded so far."""

    credential_id: str
    scopes: frozenset[str]
    last_used_at: int
    shop: Shop


@dataclass
class CurrentRequest:
    """`now` is the instant at which it came, `started` the reading of a stopwatch.

    `connection` is closed with the request: a request with a key has one snapshot, in which its `caller`
    was found; `looked_up` are the values by which it was, and the row. `form_exists`: whether the form id in
    the address is a form of the caller's shop. `template` is the address with `{id}` for ids. `error` is the
    code of a refusal. `key` is the API key that it came with, "" where no text of a key came. `credential` is
    a number for the key or the sign-in, and `known_shop` the shop that it was found to open before. `slots`
    are given back at its end.
    """

    request_id: str
    now: int
    started: float
    key: str = ""
    credential: int = 0
    known_shop: int | None = None
    slots: ExitStack = field(default_factory=ExitStack)
    connection: Connection | None = None
    caller: Caller | None = None
    looked_up: tuple[Mapping[str, str], Any] | None = None
    form_exists: bool = False
    template: str | None = None
    rate_limit_headers: dict[str, str] = field(default_factory=dict)
    error: str | None = None


def current_request() -> CurrentRequest:
    current: CurrentRequest = g.current_request
    return current


def request_id() -> str:
    """In `meta`, in every error, in `X-Request-Id`, in the log."""
    return current_request().request_id


def is_static_file() -> bool:
    """Whether the request at hand is for a file of the pages, which are everyone's."""
    return (request.endpoint or "").endswith(".static")


def new_request_id(now: int) -> str:
    """`req_` and a UUIDv7."""
    return f"req_{uuid7(now)}"


def uuid7(instant: int) -> UUID:
    """An id made at `instant` (microseconds): 48 bits of milliseconds, 74 random bits (RFC 9562, 5.7).
    Such ids sort by the time at which they were made."""
    number = (instant // MICROS_PER_MS) << 80 | secrets.randbits(80)
    number = number & ~(0xF << 76) | 0x7 << 76
    return UUID(int=number & ~(0x3 << 62) | 0x2 << 62)
