"""`backup` and `restore`: the warehouse as one file."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, NoReturn

import click
from tqdm import tqdm

from jobs.clock import now_micros
from jobs.commands.shared import failures
from jobs.telling import say
from warehouse import runs, settings
from warehouse.backups import BackupError, Progress, back_up, restore
from warehouse.bulk import open_bulk

# What takes less is not worth a bar.
_QUIET_SECONDS: Final = 2

_FILE: Final = click.Path(path_type=Path, dir_okay=False)


@click.command("backup")
@click.argument("file", type=_FILE)
def backup_command(file: Path) -> None:
    """Write the whole warehouse, as it is at one instant, to FILE; everything else may go on.

    FILE appears, or replaces an earlier one, once it is whole.
    """
    with _recorded("backup", file) as url, _bars() as progress:
        back_up(url, file, progress)
    click.echo(f"backed up to {file} ({file.stat().st_size:,} bytes)")


@click.command("restore")
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Also in the place of a warehouse that has data.")
def restore_command(file: Path, force: bool) -> None:
    """Put the backup in FILE in the place of the warehouse, all of it or nothing.

    An older backup is migrated. With --force, jobs that run on PostgreSQL are cut off; on both
    databases they go on from what was restored when they are started again.
    """
    with _recorded("restore", file) as url, _bars() as progress:
        restore(url, file, progress, force=force)
    click.echo(f"restored from {file}; `python -m jobs status` says what it holds")


@contextmanager
def _recorded(job: str, file: Path) -> Iterator[str]:
    """The warehouse's URL; failures become one line, and what was done becomes a recorded run."""
    with failures():
        url = settings.WAREHOUSE_URL.get()
        begun, record = now_micros(), runs.Record(job, str(file))
        try:
            yield url
        except (BackupError, OSError) as error:
            record.error = str(error)
            say(f"Error: {error}")
            sys.exit(1)
        finally:
            # Only now: it must not be open beside SQLite's own backup (`bulk.py` says why), and there
            # may be no warehouse of today's schema to write it to.
            with suppress(Exception), open_bulk(url, patient=False) as bulk:
                runs.begin(bulk, record, begun)
                state = runs.FAILED if record.error else runs.DONE
                runs.update(bulk, record, now_micros(), state)


@contextmanager
def _bars() -> Iterator[Progress]:
    """A bar for each thing that is done, one after the other."""
    with ExitStack() as bars:
        current: dict[str, tqdm[NoReturn]] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in current:
                bars.close()
                bar = tqdm(desc=what, unit="B", unit_scale=True, delay=_QUIET_SECONDS, disable=None)
                current[what] = bars.enter_context(bar)
            current[what].total = total or None
            current[what].update(done - current[what].n)

        yield progress
