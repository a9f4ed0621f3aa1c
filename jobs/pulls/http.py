"""Requests to sources: to addresses that may be asked, with time limits, retries with growing pauses, and
messages without secrets."""

import json
import socket
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, Self
from urllib.parse import urljoin, urlsplit
from weakref import WeakSet

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError
from urllib3.util.retry import Retry

from jobs.pulls import limits
from jobs.pulls.limits import PullFailed
from warehouse import VERSION

# Seconds to connect, and between two pieces of an answer.
_TIMEOUTS: Final = (10.0, 60.0)
TRIES: Final = 5
_LONGEST_PAUSE_SECONDS: Final = 600.0
_WORTH_A_RETRY: Final = (429, 500, 502, 503, 504)
_MAX_REDIRECTS: Final = 5
_CHUNK_BYTES: Final = 1 << 16
# Addresses that lead to the IPv4 address in them, with the bits behind it: mapped, translated and compatible
# ones, NAT64, 6to4.
_HOLD_IPV4: Final = (
    *((IPv6Network(network), 0) for network in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96")),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)
_IPV4_MASK: Final = 0xFFFF_FFFF
# NAT64 within a network, which chooses where in it the IPv4 address is.
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
# The first pause; each further one is longer.
_FIRST_PAUSE_SECONDS = 1.0

_connections: WeakSet[HTTPConnection] = WeakSet()


class _Patient(Retry):
    """Retries with pauses as the server asks (`Retry-After`), or ever longer ones; a signal ends one."""

    def increment(self, *arguments: Any, **named: Any) -> Self:
        following = super().increment(*arguments, **named)
        if response := named.get("response"):
            # The text of an error may be of any size, and urllib3 would read it.
            response.close()
        return following

    def sleep(self, response: Any = None) -> None:
        stated = self.get_retry_after(response) if response is not None else None
        limits.pause(min(stated or self.get_backoff_time(), _LONGEST_PAUSE_SECONDS))


class _Session(requests.Session):
    """A session that follows no redirect: requests would read its body, which may be of any size."""

    def resolve_redirects(self, *_: Any, **__: Any) -> Generator[Any]:
        yield from ()


def pauses(factor: float = 2.0, longest: float = _LONGEST_PAUSE_SECONDS) -> Iterator[float]:
    """Seconds between the tries of something that HTTP does not show as failed, ever more."""
    seconds = _FIRST_PAUSE_SECONDS
    while True:
        yield seconds
        seconds = min(factor * seconds, longest)


def open_session(own_url: str = "") -> requests.Session:
    """Open a session. `own_url`: the address that an operator has set, which may be one within a network."""
    session = _Session()
    # A packed answer may unpack to any size.
    session.headers["Accept-Encoding"] = "identity"
    session.headers["User-Agent"] = f"formrevenue/{VERSION}"
    retries = _Patient(
        total=TRIES,
        backoff_factor=_FIRST_PAUSE_SECONDS,
        status_forcelist=_WORTH_A_RETRY,
        # Also POST: what is sent to sources may be sent again.
        allowed_methods=None,
        raise_on_status=False,
    )
    adapter = HTTPAdapter(max_retries=retries)
    # The addresses that the host of this URL has now.
    own = set[str]()
    with suppress(OSError, ValueError):
        if host := urlsplit(own_url).hostname:
            own.update(str(entry[4][0]) for entry in socket.getaddrinfo(host, None))
    adapter.poolmanager.pool_classes_by_scheme = _pools(own)
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    return session


def checked_address(url: str) -> str:
    """An address that may be asked. Raises ValueError unless it is HTTPS, or HTTP on this machine."""
    parts = urlsplit(url)
    is_near = parts.hostname == "localhost"
    with suppress(ValueError):
        is_near = ip_address(parts.hostname or "").is_loopback
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_near)
    if not parts.hostname or not is_safe:
        raise ValueError(f"{url!r} must begin with https://")
    return url


@contextmanager
def asking(
    session: requests.Session, method: str, url: str, what: str, **sent: Any
) -> Iterator[requests.Response]:
    """The answer to a request, whose body is not read yet; a GET follows redirects. Raises PullFailed for
    what goes wrong, also in the block. Addresses may hold secrets, so the message names the host alone."""
    for _ in range(_MAX_REDIRECTS):
        try:
            checked_address(url)
        except ValueError:
            place = f"{url.partition(':')[0]}://{_host(url)}"
            raise PullFailed(
                f"{what}: {place} is not asked, since only https:// is. Look at what leads there"
            ) from None
        with (
            _plain_errors(what, url),
            session.request(
                method, url, timeout=_TIMEOUTS, stream=True, allow_redirects=False, **sent
            ) as answer,
        ):
            target = session.get_redirect_target(answer) if method == "GET" else None
            if not target:
                packing = answer.headers.get("Content-Encoding", "identity")
                if packing.lower() != "identity":
                    raise PullFailed(
                        _strange(what, f"{_host(url)} answered packed ({packing}), which")
                    )
                yield answer
                return
        # The next check refuses what cannot be read.
        with suppress(ValueError):
            target = urljoin(url, target)
        url = target
    raise PullFailed(
        f"{what}: {_host(url)} redirects {_MAX_REDIRECTS} times. Look at what answers there"
    )


def refuse(answer: requests.Response, what: str) -> None:
    """Raise PullFailed unless an answer is a success."""
    if not answer.ok:
        raise PullFailed(
            f"{what}: {_host(answer.url)} answered {answer.status_code} {answer.reason}"
        )


def read_json(answer: requests.Response, what: str) -> Any:
    """The value in an answer, None if that is no JSON. Raises PullFailed if it is too long."""
    body = bytearray()
    for piece in pieces(answer):
        body += piece
        if len(body) > limits.MAX_JSON_MB * limits.MEGABYTE:
            size = f"has more than {limits.MAX_JSON_MB} MB, and"
            raise PullFailed(_strange(what, f"the answer of {_host(answer.url)} {size}"))
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    return None


def download(answer: requests.Response, what: str, write: Callable[[bytes], object]) -> int:
    """Write the body of an answer; returns its bytes. Raises PullFailed if it is too long."""
    size = 0
    for piece in pieces(answer):
        size += len(piece)
        limits.check_size(what, size)
        write(piece)
    return size


def pieces(answer: requests.Response) -> Iterator[bytes]:
    """The body of an answer. Raises PullFailed after the time of a pull, and Stopped after a signal."""
    for piece in answer.iter_content(_CHUNK_BYTES):
        limits.pause(0)
        yield piece


def end_connections() -> None:
    """End what waits for a server; to be called in another thread."""
    for connection in list(_connections):
        with suppress(OSError, AttributeError):
            connection.sock.shutdown(socket.SHUT_RDWR)


@contextmanager
def _plain_errors(what: str, url: str) -> Iterator[None]:
    host = _host(url)
    try:
        yield
    except requests.Timeout:
        raise PullFailed(f"{what}: {host} did not answer in time") from None
    except requests.exceptions.SSLError:
        raise PullFailed(f"{what}: the certificate of {host} is not valid") from None
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
        raise PullFailed(f"{what}: the answer of {host} was cut off") from None
    except (requests.RequestException, HTTPError) as error:
        raise PullFailed(f"{what}: {host} cannot be reached ({type(error).__name__})") from None
    except _WithinError as error:
        raise PullFailed(f"{what}: {error}") from None


class _WithinError(Exception):
    """The server has an address within a network, which others than its own must not make us ask."""


def _pools(own: set[str]) -> dict[str, Any]:
    """Pools whose connections are to the internet's addresses and to those in `own`. The address is that of
    the open connection, since a name may have another one at each look. A proxy is not checked."""

    def checked(connection: HTTPConnection, opened: socket.socket) -> socket.socket:
        peer = opened.getpeername()[0]
        if peer not in own and not is_public(peer):
            opened.close()
            raise _WithinError(
                f"{connection.host} is the address {peer}, which is within a network and not asked. "
                "Set up the pull with --url, if that is where it shall ask"
            )
        _connections.add(connection)
        return opened

    class Http(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return checked(self, super()._new_conn())

    class Https(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return checked(self, super()._new_conn())

    class HttpPool(HTTPConnectionPool):
        ConnectionCls = Http

    class HttpsPool(HTTPSConnectionPool):
        ConnectionCls = Https

    return {"http": HttpPool, "https": HttpsPool}


def is_public(peer: str) -> bool:
    """Whether an address is one of the internet, and so is the IPv4 address to which it leads."""
    address = ip_address(peer.partition("%")[0])
    for network, bits_behind in _HOLD_IPV4:
        if address in network:
            address = IPv4Address(int(address) >> bits_behind & _IPV4_MASK)
    # Python takes groups of receivers for addresses of the internet, and old local addresses of IPv6.
    is_local = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not (is_local or address.is_multicast or address in _LOCAL_NAT64)


def _host(url: str) -> str:
    with suppress(ValueError):
        return urlsplit(url).hostname or "?"
    return "?"


def _strange(what: str, happened: str) -> str:
    return f"{what}: {happened} is not read. Look at what answers there"
