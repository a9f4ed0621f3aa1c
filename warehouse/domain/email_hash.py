"""The hash of an e-mail address: addresses themselves are not kept."""

from hashlib import sha256


def hashed_email(address: str) -> str:
    """SHA-256 of an address, trimmed and in lower case; "" for a blank one. 64 hexadecimal digits are
    such a hash already: a kept reject has it in the place of the address."""
    plain = address.strip().lower()
    if not plain:
        return ""
    return plain if is_sha256(plain) else sha256(plain.encode()).hexdigest()


def is_sha256(text: str) -> bool:
    """Whether a text is 64 hexadecimal digits in lower case."""
    return len(text) == 64 and not text.strip("0123456789abcdef")
