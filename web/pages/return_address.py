"""Addresses of pages that come back from a browser, as the place to go on at."""

import re
from typing import Final
from urllib.parse import parse_qsl, urlencode

from flask import request

from web.http.errors import SETTINGS, is_page

# Nothing here can be read as an address of another site. The query may be any (RFC 3986, 3.4).
_OWN_PAGE: Final = re.compile(r"(/|(/[A-Za-z0-9_-]+)+)(\?[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*)?")

# The parameters that mean the same in every shop.
_DAYS: Final = ("range", "compare", "from", "to")
_SETTINGS_PAGES: Final = ("connections", "members", "activity", "account")


def is_own_page(address: str) -> bool:
    """Whether a browser can be sent to an address (a path, with or without a query)."""
    return bool(_OWN_PAGE.fullmatch(address))


def own_page_or(page: str) -> str:
    """The page that the address of the request at hand names as the next one (`next`), or this page."""
    stated = request.args.get("next", "")
    return stated if is_own_page(stated) else page


def same_view(address: str) -> str:
    """The address of the same page for another shop. Keeps the page and the days. A form or a key becomes the
    list it is in."""
    path, _, query = address.partition("?")
    if not is_own_page(address) or not is_page(path):
        return "/"
    _, first, *rest = path.split("/")
    if f"/{first}" == SETTINGS:
        return f"{SETTINGS}/{rest[0]}" if rest and rest[0] in _SETTINGS_PAGES else "/"
    days = [(name, value) for name, value in parse_qsl(query) if name in _DAYS]
    return f"/{first}?{urlencode(days)}" if days else f"/{first}"
