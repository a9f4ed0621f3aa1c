"""The schedule, as data: which command runs when.

Each runs as a process of its own, which gives its memory back when it ends, and cannot take the
scheduler down with it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from warehouse import settings
from warehouse.domain.time import cron
from warehouse.intake.shop_pulls import JOB, Pull
from warehouse.operations.schedulers import BACKUP, INTERVAL_ANCHOR, REFRESH

DROPPED: Final = "dropped"

Trigger: TypeAlias = CronTrigger | IntervalTrigger


@dataclass(frozen=True)
class Job:
    """One line of the schedule: `command` is what follows `python -m jobs`, `when` is for people. It has a
    cron expression, or else an interval."""

    name: str
    command: tuple[str, ...]
    when: str
    cron: str = ""
    every_seconds: int = 0

    @property
    def is_pull(self) -> bool:
        return self.name.startswith(JOB)

    @property
    def trigger(self) -> Trigger:
        if self.cron:
            return cron(self.cron)
        return IntervalTrigger(seconds=self.every_seconds, start_date=INTERVAL_ANCHOR, timezone=UTC)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command as the scheduler runs it: recorded as this job, and under its lease."""
        return (*self.command, "--as", self.name)

    @property
    def as_stored(self) -> dict[str, Any]:
        """The line as the record of a scheduler has it (`warehouse/operations/schedulers.py`)."""
        return {
            "job": self.name,
            "command": " ".join(self.command),
            "when": self.when,
            "cron": self.cron,
            "every_seconds": self.every_seconds,
        }

    def next_time(self, now: datetime) -> datetime | None:
        """When it runs next, from `now` on."""
        following: datetime | None = self.trigger.get_next_fire_time(None, now)
        return following


def stored_job(stored: dict[str, Any]) -> Job:
    """The job of a line that `as_stored` gave."""
    values = {name: value for name, value in stored.items() if name not in ("job", "command")}
    return Job(stored["job"], tuple(stored["command"].split()), **values)


def schedule(pulls: Iterable[Pull] = ()) -> tuple[Job, ...]:
    """The jobs under the present settings, and those of these pulls that do not run by hand only. Raises
    SettingError."""
    refresh = settings.REFRESH_MINUTES.get()
    landing = settings.LANDING_POLL_SECONDS.get()
    backup = settings.BACKUP_CRON.get()
    return (
        _at("nightly", ("rollup",), settings.NIGHTLY_CRON.get()),
        Job(
            REFRESH, ("rollup", "--refresh"), f"every {refresh} minutes", every_seconds=60 * refresh
        ),
        _at("verify", ("verify", "--sample", "7"), settings.VERIFY_CRON.get()),
        _at("purge", ("purge",), settings.PURGE_CRON.get()),
        *([_at(BACKUP, ("backup",), backup)] if backup else []),
        Job(
            "landing",
            ("landing",),
            f"every {landing} seconds, if files have landed",
            every_seconds=landing,
        ),
        Job(DROPPED, (DROPPED,), "every second, if a member dropped a file", every_seconds=1),
        *(
            _at(pull.job, ("pull", pull.source, "--name", pull.name), pull.schedule)
            for pull in pulls
            if pull.schedule
        ),
    )


def _at(name: str, command: tuple[str, ...], text: str) -> Job:
    return Job(name, command, f"{text} (UTC)", cron=text)
