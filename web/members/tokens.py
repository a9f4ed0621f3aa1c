"""Random tokens of cookies and links, stored as a hash: who reads the warehouse cannot use them."""

from hashlib import sha256
from secrets import token_urlsafe


def new_token() -> str:
    """256 random bits, in 43 letters that an address can hold."""
    return token_urlsafe(32)


def token_hash(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
