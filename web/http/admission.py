"""The admission of requests: how many are in progress at once, of one shop and in all, and how many of them
work.

Python runs one thread at a time, so requests that work at once make each other slow. So the reads of a shop
take turns, and a request of another shop waits for none of them. A turn that takes long shows that the
database works and not Python: then a few of the shop work side by side. Writes wait for bodies and locks, and
compute next to nothing: they have slots of their own.

Requests wait before anything is read for them: only what works has a connection to the database. A write
works once its body is here and whole: a client that sends none, or a bad one, takes no slot from others.
"""

from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from flask import request, session

from web.http.current_request import CurrentRequest, is_static_file
from web.http.errors import CODES, RETRY_SOON, Refusal, is_page
from web.limits.gcra import client_network
from web.limits.slots import READS, SIGN_INS, THREADS, UPLOAD_THREADS, WRITES, NoSlot, Slots

PER_SHOP: Final = THREADS // 2
"""Requests of one shop in progress, at work or waiting. Many may wait, since a client that asks again as soon
as it is refused takes more of the processor than one that waits."""

MAX_IN_PROGRESS: Final = THREADS - 2
"""Requests in progress of all shops. Others wait in the threads that are left, and in the server's
queue. Where no request ends for a while they are refused at once: then these threads are for what needs
no warehouse (`/healthz`, `/readyz`), however long the warehouse does not answer."""

UPLOADS: Final = ("dashboard.drop",)
"""The views that take a file, which may come for minutes: they have places of their own."""

# Where the read of a shop that has the turn takes longer, the next ones do not wait for it. An answer of ten
# thousand rows computes for half of it: four at once took the interpreter from all other shops.
_TURN_SECONDS: Final = 1.0
# Reads of one shop at work, where they take long and no other shop reads.
_READS_EACH: Final = 4
# Sessions and keys whose shop is known.
_MAX_KNOWN: Final = 10_000


class Admission:
    """The slots that requests of a process hold while they are answered. A process has one object."""

    def __init__(self) -> None:
        self.threads = Slots(MAX_IN_PROGRESS, PER_SHOP, seconds=2.0, queued_each=2)
        self._turns = Slots(THREADS, 1, seconds=_TURN_SECONDS)
        self._reads = Slots(READS, _READS_EACH, seconds=5.0, shared=_READS_EACH)
        self._writes = Slots(WRITES, WRITES // 2, seconds=1.0)
        # Nobody waits for one: it is given back after minutes.
        self._uploads = Slots(UPLOAD_THREADS, 1, seconds=0.0)
        # A sign-in waits for a place to hash, and no form of a shop waits behind it.
        self._sign_ins = Slots(SIGN_INS, SIGN_INS - 1, seconds=2.0)
        # The shop by the credential of a request: known before the credential is looked up, to queue by it.
        self._shops: dict[int, int] = {}

    def admit(self, current: CurrentRequest) -> None:
        """Let the request at hand go on; until it ends, it holds its slots. A write has none to work with
        yet. Raises the 429 and the 503."""
        is_file = request.blueprint == "openapi" or is_static_file()
        if not is_file:
            # Nothing else that a request sends makes it another sender, who would have other slots.
            secret = session.get("token", "") if is_page(request.path) else current.key
            current.credential = hash(secret)
        current.known_shop = self._shops.get(current.credential)
        self._take(self.threads, current.slots, current)
        # A file needs no warehouse, and the page of an error loads some.
        if not is_file and request.method in ("GET", "HEAD"):
            self.admit_read(current)

    def admit_read(self, current: CurrentRequest) -> None:
        """Let the request at hand read; it holds the slot until it ends. Raises the 503."""
        self._take_read(current.slots, current)

    @contextmanager
    def reading(self, current: CurrentRequest) -> Iterator[None]:
        """A slot to read with during the block, for a request that writes later. Raises the 503."""
        with ExitStack() as slots:
            self._take_read(slots, current)
            yield

    def admit_write(self, current: CurrentRequest) -> None:
        """Let the request at hand write, whose body is here; it holds the slot until it ends. Raises the
        503."""
        is_sign_in = request.blueprint == "sign_in"
        self._take(self._sign_ins if is_sign_in else self._writes, current.slots, current)

    def admit_upload(self, current: CurrentRequest) -> None:
        """Let a member's file come, until the request ends, in a place of its own instead of those that the
        request had. Raises the 429 and the 503."""
        current.slots.close()
        current.known_shop = self._shops.get(current.credential)
        try:
            _hold(self._uploads, current.slots, _sender(current))
        except NoSlot as refused:
            status, message = (429, _OWN_UPLOAD) if refused.is_own else (503, _OTHER_UPLOADS)
            raise Refusal(status, CODES[status], message, {"Retry-After": "30"}) from None

    def remember(self, credential: int, shop_key: int) -> None:
        """Remember the shop of a credential: from now on, its requests count as the shop's. Requests with
        another count by themselves, and those without any by their address."""
        if self._shops.get(credential) != shop_key:
            if len(self._shops) >= _MAX_KNOWN:
                self._shops.clear()
            self._shops[credential] = shop_key

    def forget(self, credential: int) -> None:
        """Forget the shop of a credential."""
        self._shops.pop(credential, None)

    def _take_read(self, held: ExitStack, current: CurrentRequest) -> None:
        with suppress(NoSlot):
            _hold(self._turns, held, _sender(current))
        self._take(self._reads, held, current)

    def _take(self, slots: Slots, held: ExitStack, current: CurrentRequest) -> None:
        try:
            _hold(slots, held, _sender(current))
        except NoSlot as refused:
            # A shop has too many requests only where it has all of its threads. Where its reads or writes
            # end too late, the warehouse is slow.
            is_own = refused.is_own and slots is self.threads
            status, message = (429, _TOO_MANY) if is_own else (503, _BUSY)
            raise Refusal(status, CODES[status], message, RETRY_SOON) from None


def _hold(slots: Slots, held: ExitStack, sender: Hashable) -> None:
    """Hold a slot until the stack is closed. Raises NoSlot."""
    slots.take(sender)
    held.callback(slots.give_back, sender)


def _sender(current: CurrentRequest) -> Hashable:
    if current.known_shop is not None:
        return current.known_shop
    return client_network(request.remote_addr or ""), current.credential


_BUSY: Final = "The service is busy, and no request is answered. Try again in a second."
_OWN_UPLOAD: Final = (
    "Another file of this shop is being received. Wait for its end, and send this one again."
)
_OTHER_UPLOADS: Final = "Files of other shops are being received. Send this one again in a minute."
_TOO_MANY: Final = (
    f"{PER_SHOP} requests of this shop or address are in progress. Try again when one of them is "
    "answered."
)
