"""Ids of texts: a 64-bit hash, the same on every machine, in every edition and order of arrival.

Two batches, or two parts of the system, give a text the same id independently. So facts can be
merged, and rebuilds compared. Among ten million texts of a shop, the chance that two share an id is
1 in 370,000.
"""

import struct
from hashlib import blake2b

# Between the parts of an id made of several texts: import rejects texts that contain it.
SEPARATOR = "\0"


def text_id(text: str) -> int:
    """The id of a text: 0, which means none, for "" alone."""
    if not text:
        return 0
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


def shop_text_id(shop_key: int, text: str) -> int:
    """The id of a text within its shop: that of an order, a visitor or a customer."""
    return text_id(f"{shop_key}{SEPARATOR}{text}") if text else 0


def text_ids(texts: list[str]) -> list[int]:
    """The ids of many texts."""
    digests = b"".join(
        [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts]
    )
    numbers = struct.unpack(f"<{len(texts)}q", digests)
    return [(number or 1) if text else 0 for text, number in zip(texts, numbers, strict=True)]
