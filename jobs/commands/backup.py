"""`backup` and `restore`: the warehouse as one file."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from jobs.run.clock import now_micros
from jobs.run.console import Bar, bar, report
from jobs.run.errors import CommandFailed
from jobs.run.signals import Stopped, graceful_stop, raise_if_stopped
from warehouse import settings
from warehouse.backups import BackupError, Progress, back_up, restore
from warehouse.connections.arrow import open_arrow
from warehouse.operations import job_runs


def backup_command(file: Path) -> None:
    with _recorded("backup", file) as url, _bars() as progress:
        back_up(url, file, progress)
    report(f"backed up to {file} ({file.stat().st_size:,} bytes)")


def restore_command(file: Path, force: bool) -> None:
    with _recorded("restore", file) as url, _bars() as progress:
        restore(url, file, progress, force=force)
    report(f"restored from {file}; `python -m jobs status` shows what it holds")


@contextmanager
def _recorded(job: str, file: Path) -> Iterator[str]:
    """Yields the warehouse's URL, and records the block as a run when it is over.

    Not a `JobRun`: the warehouse must not be open during SQLite's own backup (`SqliteBackend` says why),
    and before a restore it may have another schema, or not exist.
    """
    url = settings.WAREHOUSE_URL.get()
    started_at, record, state = now_micros(), job_runs.Record(job, str(file)), job_runs.DONE
    try:
        with graceful_stop(lambda: None):
            yield url
    except Stopped as stopped:
        state, record.error = job_runs.STOPPED, str(stopped)
        raise
    except (BackupError, OSError) as error:
        state, record.error = job_runs.FAILED, str(error)
        raise CommandFailed(str(error)) from error
    finally:
        with suppress(Exception), open_arrow(url, wait_for_locks=False) as connection:
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
