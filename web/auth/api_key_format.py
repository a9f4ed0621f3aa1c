"""The text of an API key: `frk_live_`, 30 random characters, 6 characters of checksum.

The prefix lets people and secret scanners recognise a key. 30 characters out of 62 hold 178 bits of
randomness. The checksum (CRC-32, as in GitHub's tokens) lets a typo be refused without a look-up.
"""

import secrets
from hashlib import sha256
from string import ascii_letters, digits
from typing import Final
from zlib import crc32

PREFIX: Final = "frk_live_"
_ALPHABET: Final = digits + ascii_letters
_RANDOM_LENGTH: Final = 30
_CHECKSUM_LENGTH: Final = 6
# Enough of a key to recognise it in a list, far too little to use it.
_HINT_LENGTH: Final = len(PREFIX) + 4


def new_key() -> str:
    body = PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
    return body + _checksum(body)


def is_well_formed(key: str) -> bool:
    """Whether a text can be a key: prefix, length and checksum are right."""
    body, checksum = key[:-_CHECKSUM_LENGTH], key[-_CHECKSUM_LENGTH:]
    return (
        len(key) == len(PREFIX) + _RANDOM_LENGTH + _CHECKSUM_LENGTH
        and key.isascii()
        and key.startswith(PREFIX)
        and checksum == _checksum(body)
    )


def key_hash(key: str) -> str:
    """The stored form of a key. A key is random enough to need no salt and no slow hash."""
    return sha256(key.encode()).hexdigest()


def hint(key: str) -> str:
    """The first characters of a key, for lists."""
    return key[:_HINT_LENGTH]


def _checksum(body: str) -> str:
    number, text = crc32(body.encode()), ""
    for _ in range(_CHECKSUM_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        text = _ALPHABET[digit] + text
    return text
