"""When a key was last used: recorded at most once a minute, beside the request.

What cannot be written is tried again with the key's next use, a minute later.
"""

from typing import Final

from sqlalchemy import update

from warehouse.days import MICROS_PER_SECOND
from warehouse.schema import api_key
from web.callers import Caller
from web.later import Later

INTERVAL: Final = 60 * MICROS_PER_SECOND


class LastUse:
    """One per process."""

    def __init__(self, later: Later) -> None:
        self._later = later
        self._noted: dict[str, int] = {}

    def note(self, caller: Caller, now: int) -> None:
        """Record that the key was used at the instant `now`."""
        known = max(caller.last_used_at, self._noted.get(caller.credential_id, 0))
        if now - known < INTERVAL:
            return
        self._noted[caller.credential_id] = now
        self._later.write(
            update(api_key)
            .where(api_key.c.credential_id == caller.credential_id, api_key.c.last_used_at < now)
            .values(last_used_at=now)
        )
