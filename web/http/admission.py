"""How many requests are in progress at once, of one shop and in all, and how many of them work.

Python runs one thread at a time, so requests that work at once make each other slow (tests/bench/tenants.py
shows it). So the reads of a shop take turns, and a request of another shop waits for none of them. A turn
that takes long shows that the database works and not Python: then a few of the shop work side by side. Writes
wait for bodies and locks, and compute next to nothing: they have slots of their own.

Requests wait before anything is read for them: only what works has a connection to the database.
"""

from collections.abc import Hashable
from contextlib import suppress
from typing import Final

from flask import request

from web.auth.gcra import client_network
from web.http.current_request import current_request
from web.http.errors import CODES, RETRY_SOON, Refusal
from web.server.slots import READS, THREADS, WRITES, NoSlot, Slots

PER_SHOP: Final = THREADS // 2
"""Requests of one shop in progress, at work or waiting. Many may wait, since a client that asks again as soon
as it is refused takes more of the processor than one that waits."""

MAX_IN_PROGRESS: Final = THREADS - 2
"""Requests in progress of all shops. Others wait in the threads that are left, and in the server's
queue. Where no request ends for a while they are refused at once: then these threads are for what needs
no warehouse (`/healthz`, `/readyz`), however long the warehouse does not answer."""

# Where the read of a shop that has the turn takes longer, the next ones do not wait for it.
_TURN_SECONDS: Final = 0.25
# Reads of one shop at work, where they take long and no other shop reads.
_READS_EACH: Final = 4
# Sessions and keys whose shop is known.
_MAX_KNOWN: Final = 10_000


class Admission:
    """One per process."""

    def __init__(self) -> None:
        self.threads = Slots(MAX_IN_PROGRESS, PER_SHOP, seconds=2.0, queued_each=2)
        self._turns = Slots(THREADS, 1, seconds=_TURN_SECONDS)
        self._reads = Slots(READS, _READS_EACH, seconds=5.0, shared=_READS_EACH)
        self._writes = Slots(WRITES, WRITES // 2, seconds=1.0)
        # The shop by the credential of a request: known before the credential is looked up, to queue by it.
        self._shops: dict[int, int] = {}

    def admit(self) -> None:
        """Let the request at hand go on; until it ends, it holds its slots. Raises the 429 and the 503."""
        credential = _credential()
        address = client_network(request.remote_addr or "")
        sender = self._shops.get(credential) or (address, credential)
        self._take(self.threads, sender)
        if request.method in ("GET", "HEAD"):
            with suppress(NoSlot):
                current_request().slots.enter_context(self._turns.hold(sender))
            self._take(self._reads, sender)
        else:
            self._take(self._writes, sender)

    def remember(self, shop_key: int) -> None:
        """The credential of the request at hand belongs to this shop: from now on, it counts as one of the
        shop's. Others count by themselves, and requests without any by their address."""
        credential = _credential()
        if self._shops.get(credential) != shop_key:
            if len(self._shops) >= _MAX_KNOWN:
                self._shops.clear()
            self._shops[credential] = shop_key

    @staticmethod
    def _take(slots: Slots, sender: Hashable) -> None:
        try:
            current_request().slots.enter_context(slots.hold(sender))
        except NoSlot as refused:
            status, message = (429, _TOO_MANY) if refused.is_own else (503, _BUSY)
            raise Refusal(status, CODES[status], message, RETRY_SOON) from None


def _credential() -> int:
    """The key or the cookies of the request at hand, of which nothing but this number is kept."""
    return hash((request.headers.get("Authorization"), request.headers.get("Cookie")))


_BUSY: Final = "The service is busy, and no request is answered. Try again in a second."
_TOO_MANY: Final = (
    f"{PER_SHOP} requests of this shop or address are in progress. Try again when one of them is "
    "answered."
)
