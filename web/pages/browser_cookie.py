"""The cookie by which the service knows a browser in which an account signed in before, and the name of a
browser as people read it."""

import re
from typing import Final

from flask import Response, after_this_request, current_app, request

from warehouse.domain.time import MICROS_PER_SECOND
from web.auth import known_browsers

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
    browser, system = _first(_BROWSERS, said), _first(_SYSTEMS, said)
    return " on ".join(filter(None, (browser, system)))


def recognise(email: str, now: int) -> str:
    """The id of the request's browser, where this account signed in in it before; else ""."""
    text = request.cookies.get(_cookie_name(), "")
    return known_browsers.recognise(_secret(), text, email, now) if text else ""


def remember(email: str, now: int) -> None:
    """Have the answer to this request set the cookie."""
    text = known_browsers.remember(_secret(), email, now)

    @after_this_request
    def set_cookie(response: Response) -> Response:
        response.set_cookie(
            _cookie_name(),
            text,
            max_age=known_browsers.LIFETIME // MICROS_PER_SECOND,
            secure=_is_secure(),
            httponly=True,
            samesite="Lax",
        )
        return response


def _first(names: dict[str, str], text: str) -> str:
    return next((name for mark, name in names.items() if re.search(rf"\b{mark}\b", text)), "")


def _cookie_name() -> str:
    # Browsers accept a name with this prefix only over HTTPS and from this very host.
    return "__Host-browser" if _is_secure() else "browser"


def _is_secure() -> bool:
    return current_app.session_interface.get_cookie_secure(current_app)


def _secret() -> str:
    """The session's, which has been opened by now; the two sign with different salts."""
    return str(current_app.secret_key)
