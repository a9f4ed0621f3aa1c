"""`import`: take files into the warehouse."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import NoReturn

import click

from jobs.bars import Bar, bar
from jobs.clock import now_micros
from jobs.commands.shared import warehouse
from jobs.importing.formats import FORMATS
from jobs.importing.kind import Counts, Kind
from jobs.importing.kinds import KINDS
from jobs.importing.opening import Given, WhichShop, portions_of
from jobs.importing.portion import Unreadable
from jobs.importing.preview import previewed
from jobs.importing.rejects import purge_rejects
from jobs.importing.run import import_file
from jobs.importing.shops import load_shops
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
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    help="The system that wrote the files, where they do not say so unmistakably.",
)
@click.option(
    "--shop",
    "shop_id",
    metavar="ID",
    help="The shop that other systems' files are of; needed where there are several.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be taken, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="The counts as one JSON object.")
def import_command(
    kind: str,
    files: tuple[Path, ...],
    format_name: str | None,
    shop_id: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Take files of one KIND into the warehouse: NDJSON (.ndjson, .jsonl), CSV (both also .gz) or
    Parquet with this program's own fields, or what another system exports (--format). Rows that
    cannot be taken go to the rejects; exit status 3 says that there are some."""
    given = Given(FORMATS[format_name] if format_name else None, shop_id)
    if given.format and given.format.kind != kind:
        raise click.UsageError(f"{format_name} is a format of {given.format.kind}, not of {kind}")
    if dry_run:
        _show(KINDS[kind], files, given, as_json)
        return
    counts = Counts()
    with running("import", f"{kind} {' '.join(map(str, files))}") as run:
        purge_rejects(run.bulk, now_micros(), settings.REJECTS_DAYS.get())
        try:
            _import(run, KINDS[kind], files, given, counts)
        except Unreadable as error:
            run.record.error = str(error)
            _fail(error)
    tell(counts.report(), as_json)


def _fail(error: Unreadable) -> NoReturn:
    if isinstance(error, WhichShop):
        raise click.UsageError(f"{error} with --shop ID")
    say(f"Error: {error}")
    sys.exit(1)


def _show(kind: Kind, files: tuple[Path, ...], given: Given, as_json: bool) -> None:
    """Print what an import would take."""
    with warehouse() as (bulk, _):
        try:
            preview = previewed(kind, files, given, load_shops(bulk))
        except Unreadable as error:
            _fail(error)
    if not as_json:
        for row in preview.rows:
            click.echo(row)
        for reject in preview.rejects:
            click.echo(reject)
    tell(preview.counts, as_json)


def tell(report: dict[str, int], as_json: bool) -> None:
    """Print the counts; exit 3 where anything was rejected."""
    if as_json:
        click.echo(json.dumps(report))
    else:
        click.echo("  ".join(f"{name} {number}" for name, number in report.items()))
    if report["rejected"]:
        sys.exit(SOME_REJECTED)


def _import(run: Run, kind: Kind, files: tuple[Path, ...], given: Given, counts: Counts) -> None:
    shops = load_shops(run.bulk)
    for path in files:
        portions_of(path, kind, given, shops)  # before anything is written
    size = sum(path.stat().st_size for path in files)
    with bar(kind.name, "B", size) as shown:
        for path in files:
            before = shown.n
            advance = partial(_advance, run, counts, shown, before)
            phase("import")
            import_file(run.bulk, kind, path, advance, counts, given=given)


def _advance(run: Run, counts: Counts, shown: Bar, before: float, read: int) -> None:
    """A portion has been written; `read` bytes of the file are behind it."""
    shown.update(before + read - shown.n)
    run.record.batches += 1
    run.record.rows = counts.read
    run.go_on()
