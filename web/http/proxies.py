"""Trusted proxies: `X-Forwarded-For` and `X-Forwarded-Proto` count only where the
connection comes from a proxy that the setting TRUSTED_PROXIES names. Anyone else can write what they
like into them, and would choose the address that sign-in attempts are counted by.
"""

from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any

from werkzeug.middleware.proxy_fix import ProxyFix


class TrustedProxies:
    """WSGI middleware. One proxy is believed: the last address and protocol of the headers."""

    def __init__(
        self, app: Callable[..., Any], networks: Iterable[IPv4Network | IPv6Network]
    ) -> None:
        self._plain = app
        self._behind = ProxyFix(app, x_for=1, x_proto=1, x_host=0)
        self._networks = tuple(networks)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        trusted = is_within(environ.get("REMOTE_ADDR", ""), self._networks)
        return (self._behind if trusted else self._plain)(environ, start_response)


def is_within(address: str, networks: Iterable[IPv4Network | IPv6Network]) -> bool:
    """Whether one of the networks has the address; False for a text that is none."""
    try:
        client = ip_address(address)
    except ValueError:
        return False
    return any(client in network for network in networks)
