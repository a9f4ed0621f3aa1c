"""What a request asks, once its parameters are read."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from web.callers import Caller
from web.ranges import Window

JSON: Final = "json"
CSV: Final = "csv"


@dataclass(frozen=True, slots=True)
class Asked:
    """An endpoint's path and its parameters' values, a window on the shop's day `today`, and who asks
    at the instant `now`, for an answer of this `kind` (JSON or CSV). `form_id` as in a `Question`."""

    caller: Caller
    path: str
    form_id: str
    values: tuple[Hashable, ...]
    window: Window
    today: int
    now: int
    kind: str

    @property
    def key(self) -> tuple[Hashable, ...]:
        """All that tells one question from another, whoever of the shop asks, and for which kind of
        answer."""
        window = self.window
        place = self.caller.shop.key, self.path, self.form_id
        return (*place, self.values, window.first, window.last, self.today)
