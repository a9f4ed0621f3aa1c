"""The browser of a request: its name as people read it, and a signed cookie by which it is known.

The cookie lets `web/auth/sign_in_limits.py` tell a member from a stranger before the password is checked
(OWASP calls it a device cookie). It opens nothing: whoever has it must still know the password, and has few
attempts.
"""

import hmac
import re
from hashlib import sha256
from secrets import token_hex
from typing import Final

from flask import Response, after_this_request, current_app, request
from itsdangerous import BadData, URLSafeSerializer

from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND

LIFETIME: Final = 180 * MICROS_PER_DAY
_SALT: Final = "known browser"

# The first that a browser's `User-Agent` contains; most name others for the sake of old sites.
_BROWSERS: Final = {
    "Edg": "Edge",
    "OPR": "Opera",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "Chrome": "Chrome",
    "CriOS": "Chrome",
    "Safari": "Safari",
}
_SYSTEMS: Final = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def name() -> str:
    """The browser of the request, as in `Firefox on Windows`; "" where nothing is known of it."""
    said = request.headers.get("User-Agent", "")
    return " on ".join(filter(None, (_first(_BROWSERS, said), _first(_SYSTEMS, said))))


def recognise(email: str, now: int) -> str:
    """The id of the request's browser, where this account signed in in it before; else ""."""
    return browser_id(_secret(), request.cookies.get(_cookie_name(), ""), email, now)


def browser_id(secret: str, text: str, email: str, now: int) -> str:
    """The id of the browser that gives a cookie's text; "" for a text that is not ours, another account's, or
    older than LIFETIME."""
    try:
        browser, account, since = _serializer(secret).loads(text)
    except BadData:
        return ""
    is_known = account == _account(secret, email) and since > now - LIFETIME
    return str(browser) if is_known else ""


def remember(email: str, now: int) -> None:
    """Set the cookie with the answer to this request: an account has just signed in."""
    secret = _secret()
    text = _serializer(secret).dumps([token_hex(16), _account(secret, email), now])

    @after_this_request
    def set_cookie(response: Response) -> Response:
        response.set_cookie(
            _cookie_name(),
            text,
            max_age=LIFETIME // MICROS_PER_SECOND,
            secure=_is_secure(),
            httponly=True,
            samesite="Lax",
        )
        return response


def _account(secret: str, email: str) -> str:
    """The account as the cookie names it. All who use the device can read that: only with the secret can a
    list of addresses be compared with it."""
    written = email.encode("utf-8", "surrogatepass")
    return hmac.new(f"{_SALT} account {secret}".encode(), written, sha256).hexdigest()


def _serializer(secret: str) -> URLSafeSerializer:
    return URLSafeSerializer(
        secret, _SALT, signer_kwargs={"key_derivation": "hmac", "digest_method": sha256}
    )


def _first(names: dict[str, str], text: str) -> str:
    return next((name for mark, name in names.items() if re.search(rf"\b{mark}\b", text)), "")


def _cookie_name() -> str:
    # Browsers accept a name with this prefix only over HTTPS and from this very host.
    return "__Host-browser" if _is_secure() else "browser"


def _is_secure() -> bool:
    return current_app.session_interface.get_cookie_secure(current_app)


def _secret() -> str:
    """The secret of the session's cookie, which has been opened by now; the two sign with different salts."""
    return str(current_app.secret_key)
