"""Limits on the calls that an address and a write key may send, and on the bytes of a shop:
COLLECT_CALLS_PER_ADDRESS, COLLECT_CALLS_PER_KEY and COLLECT_MB_PER_SHOP.

Calls that are dropped count for their address alone. A write key is public. So that a few addresses cannot
use all of its calls, the last quarter of them is for addresses that send few.

The counts are in a file that the processes of one server share. It names no address: each is replaced by
a hash under a key that these processes alone know, and that ends with them.
"""

import hmac
from typing import Final

from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND
from warehouse.settings import (
    COLLECT_CALLS_PER_ADDRESS,
    COLLECT_CALLS_PER_KEY,
    COLLECT_MB_PER_SHOP,
)
from web.http.rate_limits import RateBuckets
from web.limits.gcra import RateLimit, client_network

_MINUTE: Final = 60 * MICROS_PER_SECOND
# An address sends few calls with a key if it sends no more than so much of the key's.
_FEW: Final = 1 / 200
# The share of a key's calls that is for addresses that send many.
_FOR_MANY: Final = 3 / 4


class SendLimits:
    """Limits on what one sender may send. A process has one object; `file` is that of RateBuckets, and
    `secret` the key of the hash.

    Each method counts, and returns 0, or the seconds after which the sender may try again.
    """

    def __init__(self, file: str | None, secret: bytes) -> None:
        self._buckets = RateBuckets(file)
        self._secret = secret
        of_address, of_key = COLLECT_CALLS_PER_ADDRESS.get(), COLLECT_CALLS_PER_KEY.get()
        # The calls of a request are known once it is read: they may be more than are left.
        self._address = RateLimit(of_address, _MINUTE, debt=of_address) if of_address else None
        self._key, self._few, self._many = (
            RateLimit(max(int(of_key * share), 1), _MINUTE) if of_key else None
            for share in (1, _FEW, _FOR_MANY)
        )
        megabytes = COLLECT_MB_PER_SHOP.get()
        self._shop = RateLimit(megabytes * 1_000, MICROS_PER_DAY) if megabytes else None

    def count_request(self, address: str, now: int) -> int:
        """Count a request of an address as one call."""
        return self._take(self._of(address), self._address, now)

    def count_calls(self, address: str, calls: int, now: int) -> int:
        """Count the calls of a request that `count_request` has counted."""
        if calls < 2:
            return 0
        return self._take(self._of(address), self._address, now, calls - 1, may_owe=True)

    def count_kept(self, key: str, address: str, calls: int, now: int) -> int:
        """Count calls with a write key that are not dropped."""
        if self._few is None:
            return 0
        few = f"few {key} {self._of(address)}"
        is_many = calls > self._few.times or self._take(few, self._few, now, calls)
        wait = self._take(f"many {key}", self._many, now, calls) if is_many else 0
        return wait or self._take(f"key {key}", self._key, now, calls)

    def count_bytes(self, shop_id: str, size: int, now: int) -> int:
        """Count bytes of a shop, by the thousand."""
        return self._take(f"shop {shop_id}", self._shop, now, -(-size // 1_000))

    def close(self) -> None:
        self._buckets.close()

    def _of(self, address: str) -> str:
        network = client_network(address).encode()
        return f"address {hmac.digest(self._secret, network, 'sha256').hex()}"

    def _take(
        self,
        subject: str,
        limit: RateLimit | None,
        now: int,
        uses: int = 1,
        *,
        may_owe: bool = False,
    ) -> int:
        if limit is None:
            return 0
        return self._buckets.take(subject, limit, now, uses, may_owe=may_owe).retry_after
