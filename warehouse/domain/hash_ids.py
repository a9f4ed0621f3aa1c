"""Ids that are hashes: 64 bits for a text, a UUID for a form of another system. They are the same on every
machine, in every edition and order of arrival.

Two batches, or two parts of the system, give a text the same id independently. So facts can be
merged, and rebuilds compared. Among ten million texts of a shop, the chance that two share an id is
1 in 370,000.
"""

import re
import struct
from hashlib import blake2b
from typing import Final
from uuid import UUID, uuid5

# Between the parts of an id made of several texts: import rejects texts that contain it.
SEPARATOR: Final = "\0"

_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAMESPACE: Final = UUID("0e6b4f0c-3c1d-4d55-9f0a-6a7d5c1e8b42")


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
    return ids_of_bytes([text.encode("utf-8", "surrogatepass") for text in texts])


def ids_of_bytes(texts: list[bytes]) -> list[int]:
    """The same of texts in UTF-8."""
    digests = b"".join([blake2b(text, digest_size=8).digest() for text in texts])
    numbers = struct.unpack(f"<{len(texts)}q", digests)
    return [(number or 1) if text else 0 for text, number in zip(texts, numbers, strict=True)]


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID of 36 characters in lower case."""
    return _UUID.fullmatch(text) is not None


def part_id(form_id: str, path: str) -> str:
    """The id of the form as which a form's events on a page count once it is split by it."""
    return str(uuid5(UUID(form_id), path))


def form_id_of(shop_id: str, source: str, id: str) -> str:
    """Our id of the form that another system calls `id`: the same on every machine. A UUID stays, in
    lower case. `source`: the name of the format in which its events come. No text may contain NUL."""
    plain = id.lower()
    if is_uuid(plain):
        return plain
    return str(uuid5(_NAMESPACE, SEPARATOR.join((shop_id, source, id))))
