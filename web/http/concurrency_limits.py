"""How many requests are in progress at once: of one shop, and in all.

A thread of the server belongs to a request until it is answered. So that one shop cannot take them all,
it may hold half of them, and the others are there for other shops. Two threads are always left to what
needs no warehouse (`/healthz`, `/readyz`), however long the warehouse does not answer.

Python runs one thread at a time. Where several shops ask, the answers to each are worked out one after the
other: a request of another shop then waits for one thread, not for eight. Requests that write take no turns:
they wait for bodies and locks, and compute next to nothing.
"""

from collections import Counter
from threading import Condition
from time import monotonic
from typing import Final

from web.http.errors import CODES, RETRY_SOON, Refusal
from web.server.threads import THREADS

PER_SHOP: Final = THREADS // 2
"""Requests of one shop in progress. A browser sends at most six at once to a server."""

AT_THE_DOOR: Final = THREADS // 4
"""Further requests of one shop that wait for a moment until one of those is answered."""

IN_ALL: Final = THREADS - 2
"""Requests in progress of all shops."""

# How long a request waits at the door.
_DOOR_SECONDS: Final = 0.25
# How long a request waits for the one before it. If that takes longer, the database works and not Python.
_TURN_SECONDS: Final = 2.0
# How long the requests of a shop take turns after another shop has asked.
_SHARED_SECONDS: Final = 60.0
# How long a request waits while no other is answered: then none is likely to be answered soon. All that
# compute at once may well take a second on a busy machine.
_STUCK_SECONDS: Final = 2.0


class ConcurrencyLimits:
    """The requests in progress; one per process."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._in_all = 0
        self._of_shop: Counter[int] = Counter()
        self._at_the_door: Counter[int] = Counter()
        self._at_work: Counter[int] = Counter()
        self._last_change = 0.0
        self._last_shop: int | None = None
        self._shared_until = 0.0

    def admit(self) -> "Admission":
        """Begin a request, which ends with `Admission.end`. Raises the 503."""
        with self._changed:
            while self._in_all >= IN_ALL:
                left = self._last_change + _STUCK_SECONDS - monotonic()
                if left <= 0:
                    raise Refusal(503, CODES[503], _STUCK, RETRY_SOON)
                self._changed.wait(left)
            self._in_all += 1
            self._last_change = monotonic()
        return Admission(self)

    def enter(self, shop_key: int, *, takes_turns: bool) -> None:
        """Begin to work for a shop. Raises the 429."""
        with self._changed:
            if self._last_shop not in (None, shop_key):
                self._shared_until = monotonic() + _SHARED_SECONDS
            self._last_shop = shop_key
            if not self._is_let_in(shop_key):
                raise Refusal(429, CODES[429], _TOO_MANY, RETRY_SOON)
            self._of_shop[shop_key] += 1
            if not takes_turns:
                return
            self._changed.wait_for(lambda: self._may_work(shop_key), _TURN_SECONDS)
            self._at_work[shop_key] += 1

    def leave(self, shop_key: int | None, *, took_turns: bool) -> None:
        """End a request, of a shop where it had one."""
        with self._changed:
            self._in_all -= 1
            self._last_change = monotonic()
            if shop_key is not None:
                _count_down(self._of_shop, shop_key)
                if took_turns:
                    _count_down(self._at_work, shop_key)
            self._changed.notify_all()

    def _is_let_in(self, shop_key: int) -> bool:
        if self._of_shop[shop_key] < PER_SHOP:
            return True
        if self._at_the_door[shop_key] >= AT_THE_DOOR:
            return False
        self._at_the_door[shop_key] += 1
        try:
            return self._changed.wait_for(lambda: self._of_shop[shop_key] < PER_SHOP, _DOOR_SECONDS)
        finally:
            _count_down(self._at_the_door, shop_key)

    def _may_work(self, shop_key: int) -> bool:
        return not self._at_work[shop_key] or monotonic() > self._shared_until


class Admission:
    """One request in progress."""

    def __init__(self, limits: ConcurrencyLimits) -> None:
        self._limits = limits
        self._shop_key: int | None = None
        self._takes_turns = False

    def enter(self, shop_key: int, *, takes_turns: bool) -> None:
        """The request is one of this shop. Raises the 429."""
        self._limits.enter(shop_key, takes_turns=takes_turns)
        self._shop_key, self._takes_turns = shop_key, takes_turns

    def end(self) -> None:
        self._limits.leave(self._shop_key, took_turns=self._takes_turns)


def _count_down(counter: Counter[int], shop_key: int) -> None:
    counter[shop_key] -= 1
    if not counter[shop_key]:
        del counter[shop_key]


_STUCK: Final = "The service is busy, and no request is answered. Try again in a second."
_TOO_MANY: Final = (
    f"{PER_SHOP} requests of this shop are in progress. Try again when one of them is answered."
)
