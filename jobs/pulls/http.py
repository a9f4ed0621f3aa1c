"""Requests to sources: with time limits, retries with growing pauses, and messages without secrets."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from jobs.pulls.base import PullFailed
from jobs.run.signals import pause

# Seconds to connect, and between two pieces of an answer.
TIMEOUTS: Final = (10.0, 60.0)
TRIES: Final = 5
_LONGEST_PAUSE_SECONDS: Final = 600.0
_WORTH_A_RETRY: Final = (429, 500, 502, 503, 504)
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_CHUNK_BYTES: Final = 1 << 16
# The first pause; each further one is twice as long.
_FIRST_PAUSE_SECONDS = 1.0


class _Patient(Retry):
    """Pauses as the server asks (`Retry-After`), or longer each time; a signal ends the pause."""

    def sleep(self, response: Any = None) -> None:
        asked = self.get_retry_after(response) if response is not None else None
        pause(min(asked or self.get_backoff_time(), _LONGEST_PAUSE_SECONDS))


def growing_pauses() -> Iterator[float]:
    """Seconds between the tries of something that HTTP does not show as failed."""
    return (
        min(_FIRST_PAUSE_SECONDS * 2**number, _LONGEST_PAUSE_SECONDS) for number in range(TRIES)
    )


def open_session() -> requests.Session:
    session = requests.Session()
    retries = _Patient(
        total=TRIES,
        backoff_factor=_FIRST_PAUSE_SECONDS,
        status_forcelist=_WORTH_A_RETRY,
        # Also POST: what is sent to sources may be sent again.
        allowed_methods=None,
        raise_on_status=False,
    )
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retries))
    return session


def checked_address(url: str) -> str:
    """An address that may be asked. Raises ValueError unless it is HTTPS, or HTTP on this machine."""
    parts = urlsplit(url)
    is_near = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or is_near):
        raise ValueError(f"{url!r} must begin with https://")
    return url


@contextmanager
def plain_errors(what: str, url: str) -> Iterator[None]:
    """Raise PullFailed for what goes wrong with a request. Addresses may hold secrets, so the message
    names the host alone."""
    host = urlsplit(url).hostname
    try:
        yield
    except requests.Timeout:
        raise PullFailed(f"{what}: {host} did not answer in time") from None
    except requests.exceptions.SSLError:
        raise PullFailed(f"{what}: the certificate of {host} is not valid") from None
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
        raise PullFailed(f"{what}: the answer of {host} was cut off") from None
    except requests.RequestException as error:
        raise PullFailed(f"{what}: {host} cannot be reached ({type(error).__name__})") from None


def refuse(answer: requests.Response, what: str) -> None:
    """Raise PullFailed unless an answer is a success."""
    if not answer.ok:
        host = urlsplit(answer.url).hostname
        raise PullFailed(f"{what}: {host} answered {answer.status_code} {answer.reason}")


def pieces(answer: requests.Response) -> Iterator[bytes]:
    """The body of a streamed answer. Raises what `plain_errors` explains, and Stopped after a signal."""
    for piece in answer.iter_content(_CHUNK_BYTES):
        pause(0)
        yield piece
