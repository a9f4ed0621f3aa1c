"""Cron expressions as cron means them, for APScheduler."""

import re
from datetime import UTC
from typing import Final

from apscheduler.triggers.cron import CronTrigger

# As cron numbers them, where Sunday is 0 and 7; APScheduler counts from Monday.
_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")


def cron(text: str) -> CronTrigger:
    """A cron expression of five fields, in UTC. Raises ValueError: what a text must be, or is not."""
    fields = text.split()
    if len(fields) != 5:
        raise ValueError("must be a cron expression of five fields")
    try:
        fields[4] = ",".join(_weekday_names(part) for part in fields[4].split(","))
        return CronTrigger.from_crontab(" ".join(fields), timezone=UTC)
    except ValueError as error:
        raise ValueError(f"is no cron expression ({error})") from None


def _weekday_names(part: str) -> str:
    """Weekdays that are numbers, or a range of them, as names; anything else as it is."""
    days = re.fullmatch(r"([0-7])(?:-([0-7]))?", part)
    if not days:
        return part
    first = int(days[1])
    last = int(days[2] or first)
    if last < first:
        raise ValueError(f"the range {part} ends before it begins")
    return ",".join(dict.fromkeys(_WEEKDAYS[first : last + 1]))
