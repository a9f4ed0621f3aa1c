"""The texts that stand for a person or a form, in their one form."""

from hashlib import sha256
from uuid import UUID


def hashed_email(text: str) -> str:
    """SHA-256 of an address, trimmed and in lower case. 64 hexadecimal digits are such a hash
    already: a kept reject holds it in the place of the address."""
    plain = text.strip().lower()
    if not plain:
        return ""
    return digest(plain) or sha256(plain.encode()).hexdigest()


def digest(text: str) -> str | None:
    """64 hexadecimal digits in lower case, or None."""
    plain = text.strip().lower()
    return plain if len(plain) == 64 and not plain.strip("0123456789abcdef") else None


def uuid(text: str) -> str | None:
    """A UUID of 36 characters in lower case, or None."""
    try:
        return text.lower() if len(text) == 36 and str(UUID(text)) == text.lower() else None
    except ValueError:
        return None
