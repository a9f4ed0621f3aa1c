"""The text of an API key: `frk_live_`, 30 random characters, 6 characters of checksum.

The prefix lets people and secret scanners recognise a key; 30 characters of 62 are 178 bits of
randomness; the checksum (CRC-32, as in GitHub's tokens) lets a typo be refused without a look-up.
"""

import secrets
from hashlib import sha256
from string import ascii_letters, digits
from typing import Final
from zlib import crc32

PREFIX: Final = "frk_live_"
_ALPHABET: Final = digits + ascii_letters
_RANDOM: Final = 30
_CHECK: Final = 6
# What a list of keys shows of one: enough to recognise it, far too little to use it.
_HINT: Final = len(PREFIX) + 4


def new_key() -> str:
    body = PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM))
    return body + _checksum(body)


def is_well_formed(key: str) -> bool:
    """Whether a text can be a key at all."""
    body, check = key[:-_CHECK], key[-_CHECK:]
    return (
        len(key) == len(PREFIX) + _RANDOM + _CHECK
        and key.isascii()
        and key.startswith(PREFIX)
        and check == _checksum(body)
    )


def key_hash(key: str) -> str:
    """What is stored and looked up. A key is random enough to need no salt and no slow hash."""
    return sha256(key.encode()).hexdigest()


def hint(key: str) -> str:
    return key[:_HINT]


def _checksum(body: str) -> str:
    number, text = crc32(body.encode()), ""
    for _ in range(_CHECK):
        number, place = divmod(number, len(_ALPHABET))
        text = _ALPHABET[place] + text
    return text
