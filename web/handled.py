"""A request that was handled, as the log and the metrics tell of it."""

from collections.abc import Callable
from typing import NamedTuple

from flask import Flask


class Handled(NamedTuple):
    """`path` is the template of the address, None for an unknown one; `ended` the instant of the
    answer; shop and credential are None without a valid key; `error` is the code of a refusal."""

    request_id: str
    method: str
    path: str | None
    status: int
    seconds: float
    ended: int
    shop_id: str | None
    credential_id: str | None
    error: str | None


Listener = Callable[[Handled], None]


def listen(app: Flask, listener: Listener) -> None:
    """Have every request of the application told to the listener, once it is handled."""
    listeners(app).append(listener)


def listeners(app: Flask) -> list[Listener]:
    found: list[Listener] = app.extensions.setdefault("listeners", [])
    return found
