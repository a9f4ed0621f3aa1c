"""Passwords: hashes by Argon2id, with the parameters that its library recommends, and a check for weak ones.

One hash takes 64 MiB of memory and a tenth of a second. A process computes at most two at a time, and a
request waits while one becomes free within two seconds: a flood of sign-ins takes neither the memory nor the
threads of everything else. Neither a hash nor a score is computed while a transaction is open that writes.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from web.limits.slots import NoSlot, Slots

MIN_LENGTH: Final = 12
MAX_LENGTH: Final = 256
# zxcvbn's scores are 0 to 4; 3 needs more than 100 million guesses.
_MIN_SCORE: Final = 3
# zxcvbn's time grows faster than the square of the length: at worst 0.4 s for so many characters, 2.6 s for
# 72. A longer password is as hard to guess as its beginning, at least.
_SCORED_LENGTH: Final = 32

# The hash of a password that nobody has. It is compared where an account has no hash, so that the
# answer takes the same time.
DUMMY_HASH: Final = (
    "$argon2id$v=19$m=65536,t=3,p=4$xvyV+758xoCeaiSLy4cpOQ$"
    "T5NryWUNvrwxtYmlQPrT+NZnfmCyfy1MQH+xH+ki3/E"
)

_hasher = PasswordHasher()
# Places by network; a request waits for as long as places become free.
_hashing: Final = Slots(2, 1, seconds=2.0)
# The library keeps the words of a call where other threads see them.
_scoring = Lock()


class Busy(Exception):
    """The process hashes as many passwords as it may at once, and has done so for a while."""


class Weak(ValueError):
    """A new password that is too easy to guess; the message is a sentence."""


@contextmanager
def place_to_hash(network: str) -> Iterator[None]:
    """One of the process's two places, for a request that hashes within the block. A client's network has
    one of them at most. Raises Busy."""
    try:
        with _hashing.hold(network):
            yield
    except NoSlot:
        raise Busy from None


def hash_password(password: str) -> str:
    """Hash a password. To be called within `place_to_hash` where others may hash at the same time."""
    return _hasher.hash(_normalize(password))


def matches(stored_hash: str, password: str) -> bool:
    """Whether a password belongs to a hash. Costs one hash, also where `stored_hash` is "". Within
    `place_to_hash`."""
    try:
        verified = _hasher.verify(stored_hash or DUMMY_HASH, _normalize(password))
    except (VerificationError, InvalidHashError):
        return False
    return verified and bool(stored_hash)


def needs_rehash(stored_hash: str) -> bool:
    """Whether a hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored_hash)


def objection_to_length(password: str) -> str:
    """The reason why a new password is refused for its length, as a sentence; "" where it is not."""
    length = len(_normalize(password))
    if length < MIN_LENGTH:
        return f"Use at least {MIN_LENGTH} characters."
    if length > MAX_LENGTH:
        return f"Use at most {MAX_LENGTH} characters."
    return ""


def require_strong(password: str, words: Collection[str]) -> None:
    """Raise Weak for a new password that is easy to guess, by common passwords and words, names, keyboard
    runs, repeats and dates. `words` are those that everybody would try
    first: the member's e-mail address, the ids of their shops. Takes up to half a second."""
    # Imported here: its word lists take 14 MB, and few processes ever see a new password.
    from zxcvbn import zxcvbn

    # `best-shoes.example.com` is also tried as `bestshoes`.
    parts = [
        re.sub(r"[^a-z0-9]", "", part) for word in words for part in re.split("[@.]", word.lower())
    ]
    with _scoring:
        scored = zxcvbn(_normalize(password)[:_SCORED_LENGTH], [*words, *filter(None, parts)])
    if scored["score"] < _MIN_SCORE:
        raise Weak(
            "This password is too easy to guess. Choose another one: a whole sentence is hard to guess."
        )


def _normalize(password: str) -> str:
    """A password in Unicode NFC: keyboards encode the same letter in different ways."""
    return unicodedata.normalize("NFC", password)
