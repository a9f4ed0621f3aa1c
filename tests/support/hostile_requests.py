"""Random requests, as bytes: mostly almost right, since what is all wrong is refused at the door.

Each is made from a seed alone, so that one that did harm can be sent again.
"""

import random
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import quote, quote_from_bytes

import orjson

from web.reports import ENDPOINTS

Rng = random.Random

METHODS: Final = (
    "GET",
    "GET",
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "OPTIONS",
    "PATCH",
    "get",
    "X-Y",
)
PATHS: Final = (
    *(endpoint.address.replace("{id}", "{form}") for endpoint in ENDPOINTS),
    "/v1/openapi.json",
    "/v1",
    "/docs",
    "/docs/viewer/swagger-ui.css",
    "/docs/static/docs.js",
    "/healthz",
    "/readyz",
    "/settings",
    "/settings/sign-in",
    "/settings/connections",
    "/settings/connections/new",
    "/settings/connections/cred_0123456789abcdef01234567/rotate",
    "/settings/connections/cred_0123456789abcdef01234567/revoke",
    "/settings/connections/write-keys/new",
    "/settings/connections/write-keys/fwk_0123456789abcdef0123456789abcdef/revoke",
    "/settings/activity",
    "/settings/shop",
    "/settings/password/token",
    "/settings/static/pages.css",
    "*",
    "",
)
PARAMETERS: Final = {
    "range": ("7d", "30d", "90d", "2026-03-01..2026-03-12", "2026-03-12", "0001-01-01..0010-01-01"),
    "limit": ("1", "100", "101", "0"),
    "cursor": ("", "eyJhIjoxfQ", "MjAyNi0wMy0wMQ"),
    "form_ids": ("{form}", "{form},{form}"),
    "dimension": ("campaign", "attribution", "hierarchy", "form", "segment"),
    "fieldA": ("skin_type", "a"),
    "fieldB": ("concerns", "b"),
    "format": ("csv", "json"),
    "before": ("1", "999999999999999999"),
    "next": ("/settings/connections", "//other.example"),
}
HEADERS: Final = {
    "Accept": ("text/csv", "application/json", "*/*;q=0.1", ",,;q=nan", "text/csv;q=1e9"),
    "Accept-Encoding": ("gzip", "gzip;q=0", "*", "identity, br;q=x", "gzip;q=inf"),
    "Accept-Language": ("de", "x;q=y"),
    "Content-Type": (
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=b",
        "multipart/form-data",
        'application/json; charset="',
    ),
    "Content-Encoding": ("gzip",),
    "Cookie": ("member=a.b.c", "a=b; a=c; =;;", "__Host-member=eyJfZnJlc2giOmZhbHNlfQ.Zg.x"),
    "Expect": ("100-continue", "200-ok"),
    "Host": ("localhost", "a..b", ".", "[::1]", "x:99999", "-", "\xe9", "a" * 300),
    "Idempotency-Key": ("a", "a, b", "k" * 255, "k" * 256),
    "If-Match": ('W/"a"', "*", '"a", W/"b"', '"'),
    "If-Modified-Since": ("Thu, 12 Mar 2026 17:30:00 GMT", "x", "Thu, 99 Mar 9999 99:99:99 GMT"),
    "If-None-Match": ('W/"a"', "*", 'W/"', ","),
    "If-Range": ('"a"', "x"),
    "Origin": ("https://other.example", "null", "x"),
    "Range": ("bytes=0-1", "bytes=-", "bytes=9-1,2-3", "bytes=0-99999999999999999999", "x"),
    "Referer": ("https://localhost/settings", "x://[", "http://[::1"),
    "Transfer-Encoding": ("chunked", "gzip, chunked", "identity", "chunked, chunked"),
    "Upgrade": ("websocket", "h2c"),
    "X-CSRFToken": ("x",),
    "X-Forwarded-For": ("192.0.2.1", "x, y", ""),
    "X-Forwarded-Proto": ("https", "ftp"),
}
WRITTEN: Final = (
    "/v1/forms",
    "/settings/sign-in",
    "/settings/connections/new",
    "/settings/shop",
    "/settings/connections/cred_0123456789abcdef01234567/rotate",
    "/settings/password/token",
)
ODD: Final = (
    *(
        "",
        " ",
        "0",
        "-1",
        "1e999",
        "9" * 400,
        "NaN",
        "null",
        "true",
        "[]",
        "{}",
        "\0",
        "\r\n",
        "\x7f",
    ),
    *(
        "é",
        "٣",
        "🙂",
        "\u202e",
        "%",
        "%zz",
        "%00",
        "%ff",
        "../..",
        "..%2f",
        "' OR 1=1 --",
        "<script>",
        "=1+1",
    ),
    *(
        "2026-02-30",
        "0000-00-00",
        "9999-12-31",
        "a" * 5000,
        ";",
        "&",
        "#",
        "\\",
        '"',
        "{{7*7}}",
        "a,b",
        ":",
    ),
)


class Target:
    """The service that requests are for: a form, and the values of `Authorization` and `Cookie`, and of
    the hidden field of a member's forms."""

    def __init__(self, form: str, keys: Sequence[str], cookie: str, token: str) -> None:
        self.form, self.keys, self.cookie, self.token = form, keys, cookie, token


def hostile_request(target: Target, rng: Rng) -> bytes:
    """A request, or what might have been one."""
    if rng.random() < 0.03:
        return rng.randbytes(rng.randrange(1, 400))
    path = rng.choice(PATHS).replace("{form}", target.form)
    body, kind = _body(target, rng)
    writes = (path in WRITTEN) and rng.random() < 0.7
    method = "POST" if writes else "PUT" if path.endswith(target.form) and body else "GET"
    if rng.random() < 0.2:
        method = rng.choice(METHODS)
    head = [f"{method} {_address(path, target, rng)} HTTP/1.{rng.choice('1111110')}"]
    head += _headers(path, kind, target, rng)
    framing, body = _framed(body, rng)
    request = "\r\n".join([*head, *framing, "", ""]).encode("latin-1", "replace") + body
    return _mutated(request, rng) if rng.random() < 0.1 else request


def _odd(text: str, rng: Rng) -> str:
    """A text, or something odd in its place or in its middle."""
    chance = rng.random()
    if chance < 0.7:
        return text
    odd = rng.choice(ODD)
    if chance < 0.85:
        return odd
    place = rng.randrange(len(text) + 1)
    return text[:place] + odd + text[place + rng.randrange(2) :]


def _address(path: str, target: Target, rng: Rng) -> str:
    if rng.random() < 0.1:
        path = quote(_odd(path, rng), safe="/%*;=" if rng.random() < 0.8 else "/")
    if rng.random() < 0.05:
        path += quote_from_bytes(rng.randbytes(rng.randrange(1, 20)), safe="")
    if rng.random() < 0.02:
        path = f"http://{rng.choice(HEADERS['Host'])}{path}"
    pairs = []
    while rng.random() < 0.6:
        name = rng.choice(list(PARAMETERS))
        value = _odd(rng.choice(PARAMETERS[name]).replace("{form}", target.form), rng)
        pairs.append(
            f"{quote(_odd(name, rng))}={quote(value, safe=',.%') if rng.random() < 0.9 else value}"
        )
    query = "&".join(pairs).replace(" ", "+")
    return f"{path}?{query}" if query else path


def _headers(path: str, kind: str, target: Target, rng: Rng) -> list[str]:
    lines = []
    if rng.random() < 0.98:
        lines.append("Host: localhost")
    if kind:
        lines.append(f"Content-Type: {kind}")
    # Without a valid key an address is soon told to wait.
    if path.startswith("/v1") and rng.random() < 0.98:
        lines.append(f"Authorization: Bearer {rng.choice(target.keys)}")
    if path.startswith("/settings") and rng.random() < 0.8:
        lines.append(f"Cookie: {target.cookie}")
    while rng.random() < 0.6:
        name = rng.choice(list(HEADERS))
        value = _odd(rng.choice(HEADERS[name]), rng).replace("\r", "").replace("\n", "")
        lines.append(f"{name}: {value}")
    rng.shuffle(lines)
    return lines


def _body(target: Target, rng: Rng) -> tuple[bytes, str]:
    """A body and its type."""
    json, form = "application/json", "application/x-www-form-urlencoded"
    kinds: tuple[Callable[[], tuple[bytes, str]], ...] = (
        lambda: (b"", ""),
        lambda: (_json(rng), json),
        lambda: (_json(rng), json),
        lambda: (_form(target, rng), form),
        lambda: (_form(target, rng), form),
        lambda: (_parts(target, rng), "multipart/form-data; boundary=b"),
        lambda: (rng.randbytes(rng.randrange(300)), rng.choice((json, form))),
        lambda: (b"[" * rng.choice((10, 5_000, 200_000)), json),
    )
    return rng.choice(kinds)()


def _json(rng: Rng) -> bytes:
    def value(depth: int) -> object:
        if depth > 3 or rng.random() < 0.5:
            return rng.choice((None, True, 0, -1.5, 2**60, "x", *ODD[:30]))
        if rng.random() < 0.3:
            return [value(depth + 1) for _ in range(rng.randrange(4))]
        return {_odd("steps", rng): value(depth + 1) for _ in range(rng.randrange(4))}

    schema = {"steps": value(1)} if rng.random() < 0.8 else value(0)
    whole = {"name": _odd("A form", rng), "schema": schema, "draft_schema": schema}
    text = orjson.dumps(whole)
    return text if rng.random() < 0.7 else _mutated(text, rng)


def _form(target: Target, rng: Rng) -> bytes:
    fields = {"csrf_token": target.token, "email": "a@example.com", "password": "x", "shop": "x"}
    fields |= {"name": "x", "scopes": "analytics:read", "expires": "2027-01-01", "once": "x"}
    fields |= {"grace": "24h", "again": "x"}
    return "&".join(
        f"{name}={quote(_odd(value, rng) if name != 'csrf_token' else value)}"
        for name, value in fields.items()
        if rng.random() < 0.8
    ).encode()


def _parts(target: Target, rng: Rng) -> bytes:
    parts = [
        f'--b\r\nContent-Disposition: form-data; name="{name}"{_odd("", rng)}\r\n\r\n{_odd(value, rng)}\r\n'
        for name, value in (("csrf_token", target.token), ("email", "a"), ("password", "x"))
    ]
    return "".join([*parts, "--b--\r\n"]).encode()


def _framed(body: bytes, rng: Rng) -> tuple[list[str], bytes]:
    """The headers that say how long a body is, rightly or not, and its bytes."""
    chance = rng.random()
    if chance < 0.6:
        return [f"Content-Length: {len(body)}"], body
    if chance < 0.7:
        wrong = rng.choice(
            (len(body) + 1, 10**10, 10**20, -1, "x", "+1", "1, 2", max(len(body) - 1, 0))
        )
        return [f"Content-Length: {wrong}"], body
    if chance < 0.75:
        return [], body
    size = rng.randrange(1, 50)
    chunks = b"".join(
        f"{len(body[at : at + size]):x}\r\n".encode() + body[at : at + size] + b"\r\n"
        for at in range(0, min(len(body), 5_000), size)
    )
    end = rng.choice((b"0\r\n\r\n", b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"0\r\n bad\r\n\r\n", b""))
    framed = chunks + end
    return ["Transfer-Encoding: chunked"], framed if rng.random() < 0.6 else _mutated(framed, rng)


def _mutated(content: bytes, rng: Rng) -> bytes:
    """Bytes with some of them changed, lost, doubled or added."""
    changed = bytearray(content)
    for _ in range(rng.randrange(1, 4)):
        start = rng.randrange(len(changed) + 1)
        end = min(len(changed), start + rng.choice((1, 1, 1, 2, 10, 200)))
        replacement = rng.choice(
            (
                b"",
                rng.randbytes(end - start),
                bytes(changed[start:end]) * 2,
                rng.choice(
                    (b"\r\n", b"\n", b"\0", b" ", b":", b"-", b"\xff", b"fffffffffffffffff")
                ),
            )
        )
        changed[start:end] = replacement
    return bytes(changed)
