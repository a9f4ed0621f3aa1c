"""Hashes of e-mail addresses: addresses themselves are not kept.

The plain hash is SHA-256, which anybody can make of a list of addresses and compare. The keyed hash is
HMAC-SHA-256 of it under a secret of the warehouse; only this one is stored.
"""

import hmac
import re
from hashlib import sha256
from typing import Final

from warehouse.domain.addresses import has_at, masked, sole_address

# Before a hash that stands in the place of an address, in an id or another text: the plain one, which the
# collector writes and an import replaces; and the keyed one, which is stored.
_PLAIN: Final = "sha256:"
_KEYED: Final = "hmac:"
_MARKED: Final = re.compile(rf"(?:{_PLAIN}|{_KEYED})[0-9a-f]{{64}}", re.IGNORECASE)
_PLAIN_MARK: Final = re.compile(rf"{_PLAIN}([0-9a-f]{{64}})", re.IGNORECASE)
# The keyed hash as it stands in the place of an address.
KEYED_MARK: Final = rf"(?i)\b{_KEYED}[0-9a-f]{{64}}\b"
# Each text that is one of these marks, or an address, has one of these texts in it. They stand under one byte
# of theirs, which is found forty times as fast as they are, and few columns have it.
_HINTS: Final = {
    byte: tuple(hint.encode() for hint in hints)
    for byte, hints in {
        b"@": ("@",),
        b"%": ("%",),
        b"&": ("&",),
        b"\\": ("\\",),
        b"\xef": ("\uff20", "\ufe6b"),
        b":": (_PLAIN, _KEYED, _KEYED.upper()),
    }.items()
}


def hashed_email(address: str) -> str:
    """The plain hash of an address, trimmed and in lower case; "" for a blank one. The address may be
    `plain_mark` of it."""
    plain = address.strip().lower()
    if not plain:
        return ""
    digest = plain.removeprefix(_PLAIN)
    if len(digest) < len(plain) and is_sha256(digest):
        return digest
    return sha256(plain.encode("utf-8", "replace")).hexdigest()


def is_sha256(text: str) -> bool:
    """Whether a text is 64 hexadecimal digits in lower case."""
    return len(text) == 64 and not text.strip("0123456789abcdef")


def plain_mark(address: str) -> str:
    """The plain hash of an address as it stands in the place of the address; "" for a blank one."""
    hashed = hashed_email(address)
    return hashed and f"{_PLAIN}{hashed}"


def names_address(text: str) -> bool:
    """Whether a text is an address as far as its @ shows, or the mark of one."""
    return "@" in text or has_at(text) or _MARKED.fullmatch(text.strip()) is not None


def keyed_of(text: str) -> str:
    """The keyed hash that a text marks; "" for any other text."""
    keyed = text.removeprefix(_KEYED)
    return keyed if len(keyed) < len(text) and is_sha256(keyed) else ""


def keyed_mark(keyed: str) -> str:
    """A keyed hash as it stands in the place of an address; "" for ""."""
    return keyed and f"{_KEYED}{keyed}"


def without_hashes(text: str, instead: str) -> str:
    """A text with other words in the place of each marked hash."""
    return _MARKED.sub(instead, text)


def may_hold_address(data: bytes) -> bool:
    """Whether any of the texts in these bytes may have an address or the mark of a hash: a quick look."""
    return any(
        byte in data and any(hint in data for hint in hints) for byte, hints in _HINTS.items()
    )


class EmailHasher:
    """A maker of the keyed hashes of one warehouse, whose secret it has."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def keyed(self, plain_hash: str) -> str:
        """The keyed hash of an address by its plain one; "" for ""."""
        if not plain_hash:
            return ""
        return hmac.digest(self._secret, plain_hash.encode(), "sha256").hex()

    def mark(self, plain_hash: str) -> str:
        """The keyed hash as it stands in the place of an address; "" for ""."""
        return keyed_mark(self.keyed(plain_hash))

    def email(self, address: str) -> str:
        """The mark of an address; a mark stays."""
        return address if keyed_of(address) else self.mark(hashed_email(address))

    def text(self, text: str) -> str:
        """An id, an answer or a campaign parameter as it is stored: a mark where it is an address and
        nothing else; otherwise as it is, but for marks of plain hashes, which become keyed ones."""
        if address := sole_address(text):
            return self.mark(hashed_email(address))
        return _PLAIN_MARK.sub(lambda found: self.mark(found[1].lower()), text)

    def masked(self, text: str) -> str:
        """A text with a mark in the place of each address."""
        return masked(text, lambda address: self.mark(hashed_email(address)))
