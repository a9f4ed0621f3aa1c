"""The type of a device, as what a browser or an app says of itself tells it.

Browsers on phones say `Mobi`; those on tablets `iPad`, `Tablet`, or `Android` without `Mobi`; what runs on
a desktop's system and is none of these is a desktop. Robots, televisions and consoles are others. An iPad
that asks for desktop pages, as they do since iPadOS 13, says that it is a Macintosh and counts as one.
"""

import re
from functools import lru_cache
from typing import Any, Final

_TYPES: Final = ("desktop", "mobile", "tablet")
# What the SDKs for apps say; whether it is a phone or a tablet is in the name of the model.
_APPS: Final = ("ios", "ipados", "android")
_TABLETS: Final = re.compile(r"ipad|tablet|\btab\b", re.IGNORECASE)

# The first that is found says which.
_AGENTS: Final = (
    (re.compile(r"(?<!cu)bot\b|crawl|spider|slurp|headless|preview", re.IGNORECASE), "other"),
    (re.compile(r"\bTV\b|SmartTV|BRAVIA|\bAFT[A-Z]|CrKey|PlayStation|Nintendo|Xbox"), "other"),
    (re.compile(r"iPad|Tablet|PlayBook|Kindle|Silk(?!.*Mobi)|Android(?!.*Mobi)"), "tablet"),
    (re.compile(r"Mobi|iPhone|iPod|Opera Mini|Windows Phone"), "mobile"),
    (re.compile(r"Windows NT|Macintosh|X11|CrOS|Linux"), "desktop"),
)


def device_of(kind: Any, model: Any, agent: Any) -> str:
    """The device type of an event: by the type that it states (`desktop`, `ios`, ...) with the name of
    the model, else by the user agent; "" where nothing is said."""
    stated = kind.lower() if isinstance(kind, str) else ""
    if stated in _TYPES:
        return stated
    if stated in _APPS:
        return "tablet" if isinstance(model, str) and _TABLETS.search(model) else "mobile"
    return of_agent(agent) if isinstance(agent, str) else ""


@lru_cache(maxsize=1 << 16)
def of_agent(agent: str) -> str:
    """The device type that a user agent tells of; "" without one."""
    if not agent:
        return ""
    return next((found for pattern, found in _AGENTS if pattern.search(agent)), "other")
