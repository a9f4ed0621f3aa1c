"""Passwords: Argon2id, with the parameters that its library recommends.

One hash takes 64 MiB for some 50 ms. At most two at a time in one process, so that a flood of
sign-ins cannot take the memory of everything else.
"""

import unicodedata
from threading import BoundedSemaphore
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

SHORTEST: Final = 12
LONGEST: Final = 256

# A password that nobody has: compared where there is no account, so that the answer takes as long.
NOBODYS: Final = (
    "$argon2id$v=19$m=65536,t=3,p=4$xvyV+758xoCeaiSLy4cpOQ$"
    "T5NryWUNvrwxtYmlQPrT+NZnfmCyfy1MQH+xH+ki3/E"
)

_hasher = PasswordHasher()
_at_once = BoundedSemaphore(2)


def hashed(password: str) -> str:
    with _at_once:
        return _hasher.hash(_plain(password))


def matches(stored: str, password: str) -> bool:
    """Whether the password is the one hashed. Costs one hash, also where `stored` is ""."""
    with _at_once:
        try:
            return _hasher.verify(stored or NOBODYS, _plain(password)) and bool(stored)
        except (VerificationError, InvalidHashError):
            return False


def is_outdated(stored: str) -> bool:
    """Whether a hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


def objection(password: str, email: str) -> str:
    """Why a new password cannot be taken, as a sentence; "" where it can."""
    plain = _plain(password)
    if len(plain) < SHORTEST:
        return f"Use at least {SHORTEST} characters."
    if len(plain) > LONGEST:
        return f"Use at most {LONGEST} characters."
    if plain.lower() == email or len(set(plain)) < 5:
        return "That is too easy to guess."
    return ""


def _plain(password: str) -> str:
    """One spelling for what looks the same, whatever keyboard it was typed on."""
    return unicodedata.normalize("NFC", password)
