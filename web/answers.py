"""Answers that have been given, kept for as long as they are still the answer.

An answer is kept under what was asked, with the data version of the snapshot that it was read in. As
long as the key of a request opens a shop of that version, and nothing in it has become otherwise by
time alone, the warehouse need not be asked again: not for the answer, and not for its tag.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from web.asking import Asked
from web.callers import Shop
from web.recent import Recent
from web.validators import State

MOST_BYTES: Final = 32 * 1024 * 1024
# What an answer takes beside its data: its key, its state, its place.
_OVERHEAD: Final = 1024


@dataclass(frozen=True, slots=True)
class Kept:
    """`data` as JSON, None as long as only the state was asked for; `until` is the first instant at
    which the state is another although the data version is the same."""

    state: State
    until: int
    data: bytes | None
    meta: Mapping[str, Any]


class Answers:
    """One per process: those asked for last."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        # By what was asked: the version that the answer was read of, and the answer.
        self._recent: Recent[tuple[tuple[int, int], Kept]] = Recent(most)

    def get(self, key: Hashable, shop: Shop, now: int) -> Kept | None:
        """The answer to what has this key (that of `Asked`), of the shop as it is at the instant
        `now`."""
        version, kept = self._recent.get(key) or (None, None)
        return kept if kept and version == _version(shop) and now < kept.until else None

    def keep(self, asked: Asked, kept: Kept) -> None:
        """Keep an answer that was read in the snapshot in which the shop was as it is in `asked`."""
        size = _OVERHEAD + len(repr(asked.values)) + len(kept.data or b"")
        self._recent.keep(asked.key, (_version(asked.caller.shop), kept), size)


def _version(shop: Shop) -> tuple[int, int]:
    return shop.data_version, shop.moved_at
