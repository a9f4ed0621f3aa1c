"""The state of the request at hand: its id, its caller, and what it holds until it is answered."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from flask import g, request
from sqlalchemy import Connection

from warehouse.domain.time import MICROS_PER_MS


@dataclass(frozen=True, slots=True)
class Shop:
    """The tenant of a request. Instants are in microseconds."""

    # The zone in whose days the rows of `edition` are kept.
    timezone: str
    key: int
    shop_id: str
    currency: str
    # The edition that answers are read from, 0 before the first rollup: then no daily row matches.
    edition: int
    # It moves with everything that can change an answer; `data_changed_at` is when it last did.
    data_version: int
    data_changed_at: int
    # How long after a submission an order is credited to it; None before the first rollup.
    window_days: int | None
    # When the shop's next edition was asked for, 0 if none is to replace this one.
    recomputing_since: int = 0


@dataclass(frozen=True, slots=True)
class Caller:
    """A valid key. `last_used_at` is what the warehouse has recorded so far."""

    credential_id: str
    scopes: frozenset[str]
    last_used_at: int
    shop: Shop


@dataclass
class CurrentRequest:
    """A request that is being answered."""

    request_id: str
    # The instant at which it came, and the reading of a stopwatch then.
    now: int
    started: float
    # The API key that it came with, "" where no text of a key came.
    key: str = ""
    # A number for the key or the sign-in, and the shop that it was found to open before.
    credential: int = 0
    known_shop: int | None = None
    # Given back when it is answered.
    slots: ExitStack = field(default_factory=ExitStack)
    # The snapshot that it reads from, in which its caller was found; closed when it is answered.
    connection: Connection | None = None
    caller: Caller | None = None
    # The values by which the caller was found, and the row.
    looked_up: tuple[Mapping[str, str], Any] | None = None
    # Whether the form id in the address is a form of the caller's shop.
    form_exists: bool = False
    # The address with `{id}` for ids.
    template: str | None = None
    rate_limit_headers: dict[str, str] = field(default_factory=dict)
    # The code of a refusal.
    error: str | None = None


def current_request() -> CurrentRequest:
    current: CurrentRequest = g.current_request
    return current


def request_id() -> str:
    """The id of the request at hand: in `meta`, in every error, in `X-Request-Id`, in the log."""
    return current_request().request_id


def is_static_file() -> bool:
    """Whether the request at hand is for a file of the pages, which are everyone's."""
    return (request.endpoint or "").endswith(".static")


def new_request_id(now: int) -> str:
    """`req_` and a UUIDv7."""
    return f"req_{uuid7(now)}"


def uuid7(instant: int) -> str:
    """An id made at `instant` (microseconds): 48 bits of milliseconds, 74 random bits (RFC 9562, 5.7).
    Such ids sort by the time at which they were made."""
    number = (instant // MICROS_PER_MS) << 80 | int.from_bytes(os.urandom(10), "big")
    number = number & ~(0xF << 76) | 0x7 << 76
    digits = f"{number & ~(0x3 << 62) | 0x2 << 62:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
