"""How often a write key and an address may send: the setting COLLECT_RATE_LIMIT, and a tenth of it.

The counts are in a file that the processes of one server share. It names no address: each is replaced by
a hash under a key that these processes alone know, and that ends with them.
"""

import hmac
from typing import Final

from warehouse.settings import COLLECT_RATE_LIMIT
from web.auth.gcra import RateLimit, client_network
from web.http.rate_limits import RateBuckets, limit_of

# A key is for a whole shop, an address for a visitor, or for an office of them.
_ADDRESS_SHARE: Final = 10


class SendLimits:
    """One per process; `file` is that of RateBuckets, and `secret` the key of the hash."""

    def __init__(self, file: str | None, secret: bytes) -> None:
        self._buckets = RateBuckets(file)
        self._secret = secret
        self._of_keys = limit_of(COLLECT_RATE_LIMIT)
        self._of_addresses = limit_of(COLLECT_RATE_LIMIT, _ADDRESS_SHARE)

    def count_address(self, address: str, now: int) -> int:
        """Count a request. 0, or the seconds until the address may send again."""
        network = client_network(address).encode()
        hashed = hmac.digest(self._secret, network, "sha256").hex()
        return self._count(f"address {hashed}", self._of_addresses, now)

    def count_key(self, text: str, now: int) -> int:
        """Count a request. 0, or the seconds until the key may send again."""
        return self._count(f"key {text}", self._of_keys, now)

    def close(self) -> None:
        self._buckets.close()

    def _count(self, subject: str, limit: RateLimit | None, now: int) -> int:
        return self._buckets.take(subject, limit, now).retry_after if limit else 0
