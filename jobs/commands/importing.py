"""`import`: take files into the warehouse."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import NoReturn

import click
from tqdm import tqdm

from jobs.clock import now_micros
from jobs.importing.kind import Counts, Kind
from jobs.importing.kinds import KINDS
from jobs.importing.portion import Unreadable
from jobs.importing.rejects import purge_rejects
from jobs.importing.run import import_file
from jobs.importing.sources import source_of
from jobs.running import Run, running
from jobs.stopwatch import phase
from jobs.telling import say
from warehouse import settings

SOME_REJECTED = 3


@click.command("import")
@click.argument("kind", type=click.Choice(list(KINDS)), metavar="KIND")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option("--json", "as_json", is_flag=True, help="The counts as one JSON object.")
def import_command(kind: str, files: tuple[Path, ...], as_json: bool) -> None:
    """Take files of one KIND into the warehouse: NDJSON (.ndjson, .jsonl), CSV (both also .gz) or
    Parquet. Rows that cannot be taken go to the rejects; exit status 3 says that there are some."""
    counts = Counts()
    with running("import", f"{kind} {' '.join(map(str, files))}") as run:
        purge_rejects(run.bulk, now_micros(), settings.REJECTS_DAYS.get())
        try:
            _import(run, KINDS[kind], files, counts)
        except Unreadable as error:
            run.record.error = str(error)
            say(f"Error: {error}")
            sys.exit(1)
    tell(counts, as_json)


def tell(counts: Counts, as_json: bool) -> None:
    """Print the counts; exit 3 where anything was rejected."""
    report = counts.report()
    if as_json:
        click.echo(json.dumps(report))
    else:
        click.echo("  ".join(f"{name} {number}" for name, number in report.items()))
    if counts.rejected:
        sys.exit(SOME_REJECTED)


def _import(run: Run, kind: Kind, files: tuple[Path, ...], counts: Counts) -> None:
    for path in files:
        source_of(path)  # before anything is written
    size = sum(path.stat().st_size for path in files)
    with tqdm(total=size, unit="B", unit_scale=True, desc=kind.name, disable=None) as bar:
        for path in files:
            before = bar.n
            advance = partial(_advance, run, counts, bar, before)
            phase("import")
            import_file(run.bulk, kind, path, advance, counts)


def _advance(run: Run, counts: Counts, bar: "tqdm[NoReturn]", before: int, read: int) -> None:
    """A portion has been written; `read` bytes of the file are behind it."""
    bar.update(before + read - bar.n)
    run.record.batches += 1
    run.record.rows = counts.read
    run.go_on()
