"""Ids of forms: UUIDs of ours, and those that stand for the ids of other systems."""

import re
from typing import Final
from uuid import UUID, uuid5

from warehouse.domain.hash_ids import SEPARATOR

_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAMESPACE: Final = UUID("0e6b4f0c-3c1d-4d55-9f0a-6a7d5c1e8b42")


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
