"""A request whose parameters have been read."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from web.http.current_request import Caller
from web.http.date_range import Window

JSON: Final = "json"
CSV: Final = "csv"


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """An endpoint's path (with `{id}`), the values of its parameters in the order of their declaration,
    the days `window` as they are on the shop's day `today`, the instant `now`, and the `format` of the
    answer (JSON or CSV). `form_id` is in lower case, "" where the endpoint is about no form."""

    caller: Caller
    path: str
    form_id: str
    values: tuple[Hashable, ...]
    window: Window
    today: int
    now: int
    format: str

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Requests with one key have the same `data`, whichever key of the shop and format they have."""
        window, shop_key = self.window, self.caller.shop.key
        days = window.first, window.last, self.today
        return (shop_key, self.path, self.form_id, self.values, *days)
