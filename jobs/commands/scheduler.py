"""`scheduler`: run the jobs of the schedule until the process is stopped; `run`: run one of them now."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import click
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from jobs.commands.processes import run_within
from jobs.landing import folder
from jobs.run.console import log_as, say
from jobs.run.heartbeat import beating
from jobs.run.job_run import open_warehouse
from jobs.run.signals import graceful_stop, wait_for_signal
from jobs.scheduler.child_processes import KILL_AFTER_SECONDS, ChildProcesses
from jobs.scheduler.schedule import Job, schedule
from jobs.scheduler.scheduler_heartbeat import SchedulerHeartbeat
from warehouse import settings
from warehouse.connections.errors import in_one_line, is_outage
from warehouse.domain.time import from_micros, now_micros
from warehouse.intake.shop_pulls import JOB, Pull, list_pulls
from warehouse.operations import job_runs
from warehouse.operations.schedulers import BACKUP, REFRESH
from warehouse.setting_values import SettingError

_PULLS: Final = "pulls"
_PULLS_AT_ONCE: Final = 4
# Between two looks at which pulls are set up.
_LOOK_SECONDS: Final = 10


def scheduler_command() -> None:
    # It warns when a job is due while its last run still goes on, which is ordinary here.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    url, landing = settings.WAREHOUSE_URL.get(), settings.IMPORT_DIR.get()
    log_as("scheduler")
    click.get_current_context().call_on_close(lambda: log_as(""))
    try:
        folder.make(landing)
    except OSError as error:
        say(f"cannot make the landing folder: {in_one_line(error)}")
    children = ChildProcesses(url, landing)
    # Pulls may wait for hours, and must not keep the others from their turn.
    executors = {"default": ThreadPoolExecutor(10), _PULLS: ThreadPoolExecutor(_PULLS_AT_ONCE)}
    scheduler = BackgroundScheduler(executors=executors, timezone=UTC)
    jobs = _Jobs(scheduler, children)
    jobs.begin()
    scheduler.add_job(jobs.follow, IntervalTrigger(seconds=_LOOK_SECONDS, timezone=UTC))
    heartbeat = SchedulerHeartbeat(url, landing, jobs.listed, children.warehouse)
    with graceful_stop(lambda: None, seconds=KILL_AFTER_SECONDS + 1), beating(heartbeat.beat):
        scheduler.start()
        wait_for_signal()
        children.stop()
        scheduler.shutdown(wait=False)


def run_command(job: str) -> None:
    pulls: list[Pull] = []
    if job.startswith(JOB):
        with open_warehouse(creates=False) as connection:
            pulls = list_pulls(connection)
    jobs = {one.name: one for one in schedule(pulls)}
    if job not in jobs:
        raise click.BadArgumentUsage(f"no job {job!r}; there are {', '.join(jobs)}")
    run_within(*jobs[job].arguments)


class _Jobs:
    """The jobs that are scheduled: those of the settings, and the pulls that are set up at the moment. People
    add and remove these while the scheduler runs."""

    def __init__(self, scheduler: BackgroundScheduler, children: ChildProcesses) -> None:
        self._scheduler, self._children = scheduler, children
        self._jobs: dict[str, Job] = {}

    def listed(self) -> Sequence[Job]:
        return tuple(self._jobs.values())

    def begin(self) -> None:
        """Schedule all jobs; without the pulls if the warehouse does not answer now. Raises SettingError."""
        pulls, last = list[Pull](), dict[str, datetime]()
        try:
            pulls, last = self._read()
        except SettingError:
            raise  # no job could run
        except Exception as error:
            said = in_one_line(error)
            say(f"the warehouse does not answer now: {said}; jobs start when they are due")
        self._schedule(schedule(pulls), last)

    def follow(self) -> None:
        """Schedule the pulls that are new or have changed, and forget those that are gone."""
        try:
            pulls, last = self._read()
        except Exception as error:
            # Other jobs say it where the warehouse does not answer; a defect shows here alone.
            if not is_outage(error):
                say(f"the pulls cannot be scheduled: {in_one_line(error)}")
            return
        self._schedule(schedule(pulls), last)

    def _read(self) -> tuple[list[Pull], dict[str, datetime]]:
        """The pulls, and when each job last started."""
        with self._children.warehouse, open_warehouse() as connection:
            runs = job_runs.last_of_each(connection, connection.now_micros())
            last = {run["job"]: from_micros(run["started_at"]) for run in runs}
            return list_pulls(connection), last

    def _schedule(self, jobs: Iterable[Job], last: dict[str, datetime]) -> None:
        now, before = from_micros(now_micros()), self._jobs
        self._jobs = {job.name: job for job in jobs}
        for name in before.keys() - self._jobs.keys():
            self._scheduler.remove_job(name)
        for name, job in self._jobs.items():
            if before.get(name) == job:
                continue
            self._scheduler.add_job(
                self._children.run,
                job.trigger,
                [job],
                id=name,
                executor=_PULLS if job.is_pull else "default",
                coalesce=True,
                max_instances=1,
                misfire_grace_time=None,
                next_run_time=now if _is_due(job, last, now) else job.next_time(now),
                replace_existing=True,
            )
            say(f"{name}: jobs {' '.join(job.command)}, {job.when}")


def _is_due(job: Job, last: Mapping[str, datetime], now: datetime) -> bool:
    """Whether a job runs as soon as it is scheduled. `last`: when each job last started."""
    if job.name == REFRESH:
        return True
    if job.name not in last:
        # Whether a pull works shows at its first time; so with backups, once there is something to back up.
        return job.is_pull or (job.name == BACKUP and bool(last))
    # A run that was missed is made up for once: because the last one took too long, or because no scheduler
    # was running.
    due = job.next_time(last[job.name])
    return due is not None and due <= now
