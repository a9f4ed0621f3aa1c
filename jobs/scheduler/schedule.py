"""The schedule, as data: which command runs when.

Each runs as a process of its own, which gives its memory back when it ends, and cannot take the
scheduler down with it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias

from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from jobs.pulls.stored_pulls import Pull
from warehouse import settings
from warehouse.settings import Setting, SettingError

Trigger: TypeAlias = CronTrigger | IntervalTrigger

# Any instant. Intervals are counted from it, so that `status` can tell the next times by itself.
_ANCHOR: Final = datetime(2000, 1, 1, tzinfo=UTC)
# As cron numbers them, where Sunday is 0 and 7; APScheduler counts from Monday.
_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class Job:
    """One line of the schedule: `command` is what follows `python -m jobs`, `when` is for people."""

    name: str
    command: tuple[str, ...]
    when: str
    trigger: Trigger

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command as the scheduler runs it: recorded as this job, and under its lease."""
        return (*self.command, "--as", self.name)

    def next_time(self, now: datetime) -> datetime | None:
        """When it runs next, from `now` on."""
        following: datetime | None = self.trigger.get_next_fire_time(None, now)
        return following


def schedule() -> tuple[Job, ...]:
    """The jobs under the present settings. Raises SettingError."""
    refresh = settings.REFRESH_MINUTES.get()
    landing = settings.LANDING_POLL_SECONDS.get()
    return (
        _at("nightly", ("rollup",), settings.NIGHTLY_CRON),
        _every("refresh", ("rollup", "--refresh"), 60 * refresh, f"every {refresh} minutes"),
        _at("verify", ("verify", "--sample", "7"), settings.VERIFY_CRON),
        _at("purge", ("purge",), settings.PURGE_CRON),
        _every("landing", ("landing",), landing, f"every {landing} seconds, if files have landed"),
    )


def pull_jobs(pulls: Iterable[Pull]) -> tuple[Job, ...]:
    """The jobs of the pulls that do not run by hand only."""
    return tuple(
        Job(
            pull.job,
            ("pull", pull.source, "--name", pull.name),
            f"{pull.schedule} (UTC)",
            cron(pull.schedule),
        )
        for pull in pulls
        if pull.schedule
    )


def _at(name: str, command: tuple[str, ...], setting: Setting) -> Job:
    text = setting.get()
    try:
        trigger = cron(text)
    except ValueError as error:
        raise SettingError(f"{setting.name}={text!r}: {error}") from None
    return Job(name, command, f"{text} (UTC)", trigger)


def _every(name: str, command: tuple[str, ...], seconds: int, when: str) -> Job:
    trigger = IntervalTrigger(seconds=seconds, start_date=_ANCHOR, timezone=UTC)
    return Job(name, command, when, trigger)


def cron(text: str) -> CronTrigger:
    """A cron expression of five fields, in UTC. Raises ValueError."""
    fields = text.split()
    if len(fields) != 5:
        raise ValueError("must be a cron expression of five fields, such as '15 2 * * *'")
    fields[4] = ",".join(_weekday_names(part) for part in fields[4].split(","))
    return CronTrigger.from_crontab(" ".join(fields), timezone=UTC)


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
