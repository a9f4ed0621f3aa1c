"""`backup` and `restore`: the warehouse as one file."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from jobs.run.console import Bar, bar, report
from jobs.run.errors import AlreadyRunning, CommandFailed, explained
from jobs.run.signals import Stopped, graceful_stop, raise_if_stopped
from warehouse import command, settings
from warehouse.backups import BackupError, Progress, back_up, folder, restore
from warehouse.connections.arrow import open_arrow
from warehouse.domain.time import now_micros
from warehouse.operations import job_runs
from warehouse.operations.schedulers import BACKUP


def backup_command(file: Path | None, scheduled_as: str | None) -> None:
    job = scheduled_as or BACKUP
    if file is not None:
        with _recorded(job, file) as url:
            _back_up(url, file)
        return
    place = settings.BACKUP_DIR.get()
    file = folder.next_file(place, now_micros())
    with _recorded(job, file) as url, folder.locked(place) as is_ours:
        if not is_ours:
            raise AlreadyRunning(f"backup is already running: another process writes to {place}")
        _back_up(url, file)
        keep, days = settings.BACKUP_KEEP.get(), settings.BACKUP_DAYS.get()
        if deleted := folder.purge(file, now_micros(), keep, days):
            report(f"deleted {deleted} older backups")


def restore_command(file: Path, force: bool) -> None:
    with _recorded("restore", file) as url, _bars() as progress:
        restore(url, file, progress, force=force)
    report(f"restored from {file}; `{command('jobs status')}` shows what it holds")


def _back_up(url: str, file: Path) -> None:
    with _bars() as progress:
        back_up(url, file, progress)
    report(f"backed up to {file} ({file.stat().st_size:,} bytes), and read to its end")


@contextmanager
def _recorded(job: str, file: Path) -> Iterator[str]:
    """Record a block as a run when it is over; yields the warehouse's URL.

    Not a `JobRun`: the warehouse must not be open during SQLite's own backup (`SqliteBackend` says why),
    and before a restore it may have another schema, or not exist.
    """
    url = settings.WAREHOUSE_URL.get()
    started_at, record, state = now_micros(), job_runs.Record(job, str(file)), job_runs.FAILED
    try:
        with graceful_stop(lambda: None):
            yield url
        state = job_runs.DONE
    except Stopped as stopped:
        state, record.error = job_runs.STOPPED, str(stopped)
        raise
    except AlreadyRunning:
        state = ""
        raise
    except BackupError as error:
        record.error = str(error)
        raise CommandFailed(record.error) from error
    except Exception as error:
        record.error = explained(error)
        raise
    finally:
        if state:
            # One that is done, and not on record, would be missed in two days.
            waits = state == job_runs.DONE
            with suppress(Exception), open_arrow(url, wait_for_locks=waits) as connection:
                job_runs.begin(connection, record, started_at)
                job_runs.update(connection, record, now_micros(), state)


@contextmanager
def _bars() -> Iterator[Progress]:
    """A progress bar for each step of the work, one after the other."""
    with ExitStack() as stack:
        bars: dict[str, Bar] = {}

        def progress(step: str, done: int, total: int) -> None:
            raise_if_stopped()
            if step not in bars:
                stack.close()
                bars[step] = stack.enter_context(bar(step, "B", total or None))
            bars[step].move_to(done)

        yield progress
