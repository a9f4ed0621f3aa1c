"""The schedule, as data: what runs when, each as a command of its own process.

A process of its own gives its memory back when it ends, and cannot take the scheduler down with it.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from warehouse import settings

Trigger: TypeAlias = CronTrigger | IntervalTrigger


@dataclass(frozen=True)
class Job:
    """One line of the schedule: `command` are the words after `python -m jobs`."""

    name: str
    command: tuple[str, ...]
    trigger: Trigger


def schedule() -> tuple[Job, ...]:
    """The jobs under the settings of now. Raises SettingError."""
    nightly: Final = settings.NIGHTLY.get()
    return (
        Job("nightly", ("rollup",), CronTrigger.from_crontab(nightly, timezone="UTC")),
        Job("refresh", ("rollup",), IntervalTrigger(minutes=settings.REFRESH_MINUTES.get())),
    )
