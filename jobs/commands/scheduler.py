"""`scheduler`: run the jobs of the schedule until the process is stopped."""

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from jobs.landing import folder
from jobs.run.clock import now_micros
from jobs.run.console import log_as, say
from jobs.run.heartbeat import beating
from jobs.run.job_run import open_warehouse
from jobs.run.signals import graceful_stop, wait_for_signal
from jobs.scheduler.child_processes import KILL_AFTER_SECONDS, ChildProcesses
from jobs.scheduler.schedule import Job, pull_jobs, schedule
from jobs.scheduler.signs_of_life import SignsOfLife
from warehouse import settings
from warehouse.connections.errors import in_one_line, is_outage
from warehouse.domain.time import from_micros, to_micros
from warehouse.operations import job_runs
from warehouse.operations.schedulers import BACKUP, REFRESH
from warehouse.operations.shop_pulls import list_pulls
from warehouse.setting_values import SettingError

_PULLS_AT_ONCE: Final = 4
# Between two looks at which pulls are set up.
_LOOK_SECONDS: Final = 10


def scheduler_command() -> None:
    # It warns when a job is due while its last run still goes on, which is ordinary here.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    jobs, landing = schedule(), settings.IMPORT_DIR.get()
    log_as("scheduler")
    click.get_current_context().call_on_close(lambda: log_as(""))
    last = _last_starts()
    _make_landing(landing)
    children = ChildProcesses(settings.WAREHOUSE_URL.get(), landing)
    # Pulls may wait for hours, and must not keep the others from their turn.
    executors = {"default": ThreadPoolExecutor(10), "pulls": ThreadPoolExecutor(_PULLS_AT_ONCE)}
    scheduler = BackgroundScheduler(executors=executors, timezone=UTC)
    now = from_micros(now_micros())
    for job in jobs:
        # A run that was missed is made up for once: because the last one took too long, or because no
        # scheduler was running.
        at_once = (
            job.name == REFRESH
            # Whether it works shows at its first time.
            or (job.name == BACKUP and bool(last) and BACKUP not in last)
            or _is_missed(job, last.get(job.name), now)
        )
        _add(scheduler, children, job, now if at_once else job.next_time(now))
    pulls = _Pulls(scheduler, children)
    scheduler.add_job(
        pulls.follow, IntervalTrigger(seconds=_LOOK_SECONDS, timezone=UTC), next_run_time=now
    )
    signs = SignsOfLife(
        settings.WAREHOUSE_URL.get(),
        landing,
        lambda: (*jobs, *pulls.jobs.values()),
        children.warehouse,
    )
    with graceful_stop(lambda: None, seconds=KILL_AFTER_SECONDS + 1), beating(signs.beat):
        scheduler.start()
        wait_for_signal()
        children.stop()
        scheduler.shutdown(wait=False)


def _add(
    scheduler: BackgroundScheduler,
    children: ChildProcesses,
    job: Job,
    first: datetime | None,
    executor: str = "default",
) -> None:
    scheduler.add_job(
        children.run,
        job.trigger,
        [job],
        id=job.name,
        executor=executor,
        coalesce=True,
        max_instances=1,
        misfire_grace_time=None,
        next_run_time=first,
        replace_existing=True,
    )
    say(f"{job.name}: jobs {' '.join(job.command)}, {job.when}")


class _Pulls:
    """The pulls in the schedule, as they are set up at the moment: people add and remove them while the
    scheduler runs."""

    def __init__(self, scheduler: BackgroundScheduler, children: ChildProcesses) -> None:
        self._scheduler, self._children = scheduler, children
        self.jobs: dict[str, Job] = {}

    def follow(self) -> None:
        """Schedule what is new or has changed, and forget what is gone. A pull that never ran, or was
        missed, runs at once."""
        now = from_micros(now_micros())
        try:
            with self._children.warehouse, open_warehouse() as connection:
                jobs = {job.name: job for job in pull_jobs(list_pulls(connection))}
                runs = job_runs.last_of_each(connection, to_micros(now))
        except Exception as error:
            # Other jobs say it where the warehouse does not answer; a defect shows here alone.
            if not is_outage(error):
                say(f"the pulls cannot be scheduled: {in_one_line(error)}")
            return
        last = {run["job"]: from_micros(run["started_at"]) for run in runs}
        for name in self.jobs.keys() - jobs.keys():
            self._scheduler.remove_job(name)
        for job in jobs.values():
            before = self.jobs.get(job.name)
            if before is None or before.when != job.when:
                at_once = job.name not in last or _is_missed(job, last[job.name], now)
                first = now if at_once else job.next_time(now)
                _add(self._scheduler, self._children, job, first, "pulls")
        self.jobs = jobs


def _last_starts() -> dict[str, datetime]:
    """When each job last started; {} if the warehouse does not answer now. Raises SettingError."""
    try:
        with open_warehouse() as connection:
            runs = job_runs.last_of_each(connection, now_micros())
    except SettingError:
        raise  # no job could run
    except Exception as error:
        say(
            f"the warehouse does not answer now: {in_one_line(error)}; jobs start when they are due"
        )
        return {}
    return {run["job"]: from_micros(run["started_at"]) for run in runs}


def _is_missed(job: Job, last: datetime | None, now: datetime) -> bool:
    due = job.next_time(last) if last else None
    return due is not None and due <= now


def _make_landing(landing: Path) -> None:
    try:
        folder.make(landing)
    except OSError as error:
        say(f"cannot make the landing folder: {in_one_line(error)}")
