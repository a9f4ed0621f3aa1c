"""The schedule, as data: what runs when, each as a command of its own process.

A process of its own gives its memory back when it ends, and cannot take the scheduler down with it.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias

from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from warehouse import settings
from warehouse.settings import Setting, SettingError

Trigger: TypeAlias = CronTrigger | IntervalTrigger

# Any instant: intervals are counted from it, so that the next times can be told without a scheduler.
_ANCHOR: Final = datetime(2000, 1, 1, tzinfo=UTC)
# In the order of cron, where Sunday is 0 and 7; APScheduler numbers from Monday.
_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class Job:
    """One line of the schedule: `command` are the words after `python -m jobs`, `when` is for
    people."""

    name: str
    command: tuple[str, ...]
    when: str
    trigger: Trigger

    def next_time(self, now: datetime) -> datetime | None:
        """When it runs next, from `now` on."""
        found: datetime | None = self.trigger.get_next_fire_time(None, now)
        return found


def schedule() -> tuple[Job, ...]:
    """The jobs under the settings of now. Raises SettingError."""
    return (
        _nightly("nightly", ("rollup",), settings.NIGHTLY),
        _every(
            "refresh",
            ("rollup", "--refresh"),
            60 * settings.REFRESH_MINUTES.get(),
            f"{settings.REFRESH_MINUTES.get()} minutes",
        ),
        _nightly("verify", ("verify", "--sample", "7"), settings.VERIFY),
        _nightly("purge", ("purge",), settings.PURGE),
        _every(
            "landing",
            ("landing",),
            settings.IMPORT_SECONDS.get(),
            f"{settings.IMPORT_SECONDS.get()} seconds, where something has landed",
        ),
    )


def _nightly(name: str, command: tuple[str, ...], setting: Setting) -> Job:
    text = setting.get()
    try:
        trigger = cron(text)
    except ValueError as error:
        raise SettingError(f"{setting.name}={text!r}: {error}") from None
    return Job(name, command, f"{text} (UTC)", trigger)


def _every(name: str, command: tuple[str, ...], seconds: int, words: str) -> Job:
    trigger = IntervalTrigger(seconds=seconds, start_date=_ANCHOR, timezone=UTC)
    return Job(name, command, f"every {words}", trigger)


def cron(text: str) -> CronTrigger:
    """A cron expression of five fields, in UTC. Raises ValueError."""
    fields = text.split()
    if len(fields) != 5:
        raise ValueError("must be a cron expression of five fields")
    fields[4] = ",".join(_by_name(part) for part in fields[4].split(","))
    return CronTrigger.from_crontab(" ".join(fields), timezone=UTC)


def _by_name(part: str) -> str:
    """Days of the week by number, as cron counts them, by name."""
    days = re.fullmatch(r"([0-7])(?:-([0-7]))?", part)
    if not days:
        return part
    first = int(days[1])
    last = int(days[2] or first)
    if last < first:
        raise ValueError(f"{part} ends before it begins")
    return ",".join(dict.fromkeys(_WEEKDAYS[first : last + 1]))
