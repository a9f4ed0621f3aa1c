"""Browsers in which a member signed in before: a signed text that the browser keeps as a cookie.

It lets `sign_in_limits.py` tell a member from a stranger before the password is checked (OWASP calls it a
device cookie). It opens nothing: whoever has it must still know the password, and has few attempts.
"""

from hashlib import sha256
from secrets import token_hex
from typing import Final

from itsdangerous import BadData, URLSafeSerializer

from warehouse.domain.time import MICROS_PER_DAY
from web.auth.sign_in_limits import account_hash

LIFETIME: Final = 180 * MICROS_PER_DAY
_SALT: Final = "known browser"


def remember(secret: str, email: str, now: int) -> str:
    """The text for a browser in which an account has just signed in, at the instant `now`."""
    return _serializer(secret).dumps([token_hex(16), account_hash(email), now])


def recognise(secret: str, text: str, email: str, now: int) -> str:
    """The id of the browser that gives this text; "" for a text that is not ours, another account's, or
    older than LIFETIME."""
    try:
        browser, account, since = _serializer(secret).loads(text)
    except BadData:
        return ""
    is_known = account == account_hash(email) and since > now - LIFETIME
    return str(browser) if is_known else ""


def _serializer(secret: str) -> URLSafeSerializer:
    return URLSafeSerializer(
        secret, _SALT, signer_kwargs={"key_derivation": "hmac", "digest_method": sha256}
    )
