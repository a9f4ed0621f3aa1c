"""E-mail addresses in texts: found however they are written, and replaced.

Texts come from strangers: each pattern here takes time in proportion to a text's length, whatever it
holds. No pattern has a repeat that another one can share its letters with.
"""

import html
import re
from collections.abc import Callable, Iterator
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote

# The most characters before the @ and behind it: 254 is the longest address, and a domain of 253 may have
# a part of 63 too much.
_MOST_BEFORE: Final = 254
_MOST_BEHIND: Final = 317

# The @ as it is, full-width, and as URLs, HTML and JSON escape it.
_AT: Final = re.compile(
    r"[@\uff20\ufe6b]|%(?:25)*40|&(?:amp;)*(?:#0*64|#x0*40|commat);?|\\(?:u0040|x40)",
    re.IGNORECASE,
)
# The text right before the @, read backwards, so that it is looked at once: letters of an address, also
# as JSON escapes them (`\u0061`).
_BEFORE: Final = re.compile(r"(?:[0-9a-f]{4}u\\|[^\s\"<>,;:()\[\]{}\\@=|&?/*])++", re.IGNORECASE)
_NO_SPACE: Final = re.compile(r"\S++")
_BEHIND: Final = re.compile(
    r"(?:[\w.\-\uff0e\u3002\uff61]|\\u[0-9a-f]{4})++|\[[\w.:\-]++\]", re.IGNORECASE
)
_DOTS: Final = ".\uff0e\u3002\uff61"
_JSON_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")


def has_at(text: str) -> bool:
    """Whether a text has an @, however it is written."""
    return _AT.search(text) is not None


def masked(text: str, instead: Callable[[str], str], most: int | None = None) -> str:
    """A text with other words in the place of each address; `instead` makes them of the address, in its
    plain spelling. `most`: the text's characters after so many are left out; an address that begins before
    them is replaced whole."""
    most = len(text) if most is None else most
    parts: list[str] = []
    done = 0
    for start, end in _found(text, most):
        parts += text[done:start], instead(_plain(text[start:end]))
        done = end
    return "".join([*parts, text[done:most]]) if parts else text[:most]


def sole_address(text: str) -> str:
    """The address, in its plain spelling, that a text is, apart from spaces around it; "" for any other
    text. Its domain ends like one of the internet: `iphone@2.0` and `promo@home` are no addresses."""
    written = text.strip()
    if len(written) > _MOST_BEFORE or not has_at(written):
        return ""
    if next(_found(written, len(written)), None) != (0, len(written)):
        return ""
    plain = _plain(written)
    last = plain.rpartition("@")[2].rpartition(".")
    return plain if last[0] and len(last[2]) > 1 and last[2][0].isalpha() else ""


def _found(text: str, most: int) -> Iterator[tuple[int, int]]:
    """The places at which each address that begins before `most` starts and ends."""
    done = 0
    for at in _AT.finditer(text, 0, most + _MOST_BEHIND):
        if at.start() < done or not (
            behind := _BEHIND.match(text, at.end(), at.end() + _MOST_BEHIND)
        ):
            continue
        domain = behind[0].rstrip(".-" + _DOTS)
        start = _start(text, max(done, at.start() - _MOST_BEFORE), at.start())
        if start == at.start() or not _is_domain(domain):
            continue
        if start >= most:
            break
        done = at.end() + len(domain)
        yield start, done


def _start(text: str, first: int, at: int) -> int:
    """The place at which the part of an address before its @ begins, from `first` on; `at` if there is
    none."""
    before = text[first:at]
    if before.endswith('"') and (quote := before.rfind('"', 0, -1)) >= 0:
        return first + quote  # "ada love"@mail.example
    backwards = before[::-1]
    found = _BEFORE.match(backwards) or _NO_SPACE.match(backwards)
    if found is None:
        return at
    # An address between apostrophes is without them; that of o'brien has one.
    return at - len(found[0][::-1].lstrip("'`"))


def _is_domain(domain: str) -> bool:
    """Whether a domain has a dot, is an IP address in brackets, or is the name of a host: one letter is
    none."""
    return len(domain) > 1 and (
        any(dot in domain for dot in _DOTS) or domain[0] in "[\\" or domain[0].isalpha()
    )


def _plain(address: str) -> str:
    """The address, in lower case, that is written in any of the ways above."""
    plain = _JSON_ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), address)
    if "%" in plain or "&" in plain:  # possibly escaped twice
        plain = unquote(unquote(html.unescape(html.unescape(plain))))
    return normalize("NFKC", plain).lower()
