"""The rules on whom to believe about the sender of a request, and about the host that it asks for.

A `Host` that names none is a 400 (RFC 9112, 3.2), whatever is asked for. The libraries would fail on some of
them, also where the error is rendered. So a request passes with another `Host` in its place, and is refused
where all requests begin.
"""

import re
from collections.abc import Callable
from ipaddress import IPv6Address
from typing import Any, Final

from flask import Flask, request
from granian.utils.proxies import wrap_wsgi_with_proxy_headers

from warehouse.settings import PUBLIC_URL, TRUSTED_PROXIES
from web.http.errors import malformed
from web.limits.gcra import plain_address

_IS_MALFORMED: Final = "formrevenue.host_is_malformed"
# Labels as in the DNS; with `_`, since names inside a network have it.
_NAME: Final = re.compile(r"(?!.{254})[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?", re.I | re.A)
_PORT: Final = re.compile(r"(:[0-9]{0,5})?")


def believe_proxies(app: Flask) -> None:
    """Take the client's address and protocol from `X-Forwarded-For` and `X-Forwarded-Proto` where the
    connection comes from a proxy that the setting TRUSTED_PROXIES names. Anyone else can write what they like
    into them, and would choose the address that sign-in attempts are counted by."""
    trusted = [str(network) for network in TRUSTED_PROXIES.get()]
    if trusted:
        # The address that a proxy writes is brought into one spelling, too.
        believing = wrap_wsgi_with_proxy_headers(_spelled(app.wsgi_app), trusted)
        app.wsgi_app = believing  # type: ignore[method-assign]
    app.wsgi_app = _spelled(app.wsgi_app)  # type: ignore[method-assign]


def _spelled(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The application, which is told the client's address in its one spelling."""

    def spelled(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        environ["REMOTE_ADDR"] = plain_address(environ.get("REMOTE_ADDR", ""))
        return answer(environ, start_response)

    return spelled


def mark_malformed_hosts(app: Flask) -> None:
    """Let the requests that `require_host` refuses pass, with another `Host`."""
    answer = app.wsgi_app

    def answer_marked(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        host = environ.get("HTTP_HOST", "")
        # Before HTTP/1.1 a request needs none.
        is_needed = environ.get("SERVER_PROTOCOL") not in ("HTTP/1", "HTTP/1.0")
        if not _is_host(host) and (host or is_needed):
            environ = {**environ, "HTTP_HOST": "localhost", _IS_MALFORMED: True}
        return answer(environ, start_response)

    app.wsgi_app = answer_marked  # type: ignore[method-assign]


def require_host() -> None:
    """Raise the 400 for a malformed `Host`."""
    if request.environ.get(_IS_MALFORMED):
        raise malformed(
            "invalid_host",
            "The header `Host` is missing or names no host. Send the name, and the port if it is not "
            "the usual one, as in `Host: forms.example.com:8000`.",
        )


def _is_host(text: str) -> bool:
    """Whether a text is the name or address of a host, with or without a port."""
    if text.startswith("["):
        address, bracket, port = text[1:].partition("]")
        try:
            IPv6Address(address)
        except ValueError:
            return False
        return bool(bracket and _PORT.fullmatch(port))
    name, colon, port = text.partition(":")
    return bool(_NAME.fullmatch(name) and _PORT.fullmatch(colon + port))


def own_address() -> str:
    """The address under which the request at hand reaches the service."""
    return PUBLIC_URL.get() or request.host_url.rstrip("/")
