"""The type of a device, from its user agent or from what an app states.

User agents of phones have `Mobi`; those of tablets `iPad`, `Tablet`, or `Android` without `Mobi`; others
on a desktop's system are desktops. Robots, televisions and consoles are `other`. Since iPadOS 13 an iPad
asks for desktop pages: its user agent is a Macintosh's, and it counts as a desktop.
"""

import re
from functools import lru_cache
from typing import Any, Final

from warehouse.domain.vocabulary import DEVICES

_STATED: Final = frozenset(DEVICES) - {"", "other"}
# SDKs for apps state the system; the model's name tells phones from tablets.
_APPS: Final = ("ios", "ipados", "android")
# User agents are far shorter. The rest is neither looked at nor remembered.
_LOOKED_AT: Final = 1_000
_TABLETS: Final = re.compile(r"ipad|tablet|\btab\b", re.IGNORECASE)

# The first pattern that matches decides.
_AGENTS: Final = (
    (re.compile(r"(?<!cu)bot\b|crawl|spider|slurp|headless|preview", re.IGNORECASE), "other"),
    (re.compile(r"\bTV\b|SmartTV|BRAVIA|\bAFT[A-Z]|CrKey|PlayStation|Nintendo|Xbox"), "other"),
    (re.compile(r"iPad|Tablet|PlayBook|Kindle|Silk(?!.*Mobi)|Android(?!.*Mobi)"), "tablet"),
    (re.compile(r"Mobi|iPhone|iPod|Opera Mini|Windows Phone"), "mobile"),
    (re.compile(r"Windows NT|Macintosh|X11|CrOS|Linux"), "desktop"),
)


def device_of(kind: Any, model: Any, agent: Any) -> str:
    """The device type of an event: by the stated type (`desktop`, `ios`, ...) and the model's name, or
    else by the user agent; "" without either."""
    stated = kind.lower() if isinstance(kind, str) else ""
    if stated in _STATED:
        return stated
    if stated in _APPS:
        return (
            "tablet" if isinstance(model, str) and _TABLETS.search(model[:_LOOKED_AT]) else "mobile"
        )
    return of_agent(agent[:_LOOKED_AT]) if isinstance(agent, str) else ""


@lru_cache(maxsize=1 << 16)
def of_agent(agent: str) -> str:
    """The device type of a user agent; "" without one."""
    if not agent:
        return ""
    return next((device for pattern, device in _AGENTS if pattern.search(agent)), "other")
