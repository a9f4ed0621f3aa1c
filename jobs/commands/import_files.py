"""`import`: import files into the warehouse; `fields`: print what a row of a kind may have."""

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Final, NoReturn

import click

from jobs.commands.standard_input import spooled
from jobs.importing.ceilings import FileCeilings
from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.files.detect import ImportOptions, NoSuchShop, ShopNotNamed, chunks_of
from jobs.importing.formats import FORMATS
from jobs.importing.formats.base import SKIPPED
from jobs.importing.import_file import import_steps
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import NOT_KEPT, Counts, Kind
from jobs.importing.preview import Preview
from jobs.importing.rejects import purge_rejects
from jobs.importing.shops import load_shops
from jobs.run.console import bar, printable, printable_json
from jobs.run.errors import SOME_REJECTED, CommandFailed
from jobs.run.job_run import JobRun, open_warehouse, phase
from warehouse import command, settings
from warehouse.domain.example_rows import EXAMPLE_ROWS
from warehouse.domain.time import now_micros
from warehouse.operations import schedulers
from warehouse.persons.hash_secret import email_hasher

_PRINTED_REASONS: Final = 5
_PRINTED_SHOPS: Final = 5
# The kinds of which figures are made.
_ROLLED_UP: Final = ("events", "orders")

Rejects = list[tuple[str, int, str]]


def import_command(
    kind: str,
    files: tuple[Path, ...],
    format_name: str | None,
    shop_id: str | None,
    dates: str | None,
    decimal: str | None,
    exported_at: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    format = FORMATS[format_name] if format_name else None
    options = ImportOptions(format, shop_id, dates or "", decimal or "", exported_at)
    if options.format and options.format.kind != kind:
        raise click.UsageError(f"{format_name} is a format of {options.format.kind}, not of {kind}")
    with spooled(files) as names:
        if dry_run:
            _preview(KINDS[kind], names, options, as_json)
            return
        counts = Counts()
        with JobRun("import", f"{kind} {' '.join(map(str, files))}") as run:
            purge_rejects(run.connection, now_micros(), settings.REJECTS_DAYS.get())
            try:
                _import(run, KINDS[kind], names, options, counts)
            except UnreadableFile as error:
                _fail(error, names)
            known = schedulers.list_schedulers(run.connection)
            now = run.connection.now_micros()
    incomplete, not_kept = counts.incomplete, counts.more.get(NOT_KEPT, 0)
    what = [f"{counts.rejected} rejected"] if counts.rejected else []
    what += [f"{incomplete} taken without a field that cannot be used"] if incomplete else []
    if what:
        _print_rejects(counts.rejects[:_PRINTED_REASONS])
        kept = counts.rejected + incomplete - not_kept
        which = f"{kept} kept; list these" if not_kept else "list them all"
        click.echo(f"{', '.join(what)}; {which} with: {command('jobs rejects')}")
    if counts.more.get(SKIPPED) and not counts.read:
        click.echo(
            f"nothing imported: all {counts.more[SKIPPED]} records are about something else than {kind}; "
            "jobs/importing/formats/README.md says which are read"
        )
    has_changed = counts.new or counts.replaced
    if kind in _ROLLED_UP and has_changed and not schedulers.alive(known, now):
        click.echo(
            f"not in the figures yet, and no scheduler runs: `{command('jobs rollup')}` computes them"
        )
    print_counts(counts.report(), as_json)


def fields_command(kind: str) -> None:
    click.echo("\n".join(table_of(KINDS[kind])))
    click.echo(f"\n{json.dumps(EXAMPLE_ROWS[kind])}")


def table_of(kind: Kind) -> list[str]:
    """The lines of a Markdown table: field, type, required, meaning."""
    rows: list[tuple[str, ...]] = [("field", "type", "required", "meaning")]
    for field in kind.fields:
        required_for = f"for {field.required_for}" if field.required_for else ""
        required = "yes" if field.required else required_for
        rows.append((field.name, field.type.name, required, field.meaning))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    padded = (map(str.ljust, row, widths) for row in rows)
    return [f"| {' | '.join(cells)} |" for cells in padded]


def _fail(error: UnreadableFile, names: dict[Path, str]) -> NoReturn:
    reason = str(error)
    for path, name in names.items():
        reason = reason.replace(str(path), name)
    if isinstance(error, NoSuchShop) and error.shops:
        others = len(error.shops) - _PRINTED_SHOPS
        more = f" and {others} more" if others > 0 else ""
        reason += f"; the shops are {', '.join(error.shops[:_PRINTED_SHOPS])}{more}"
    if isinstance(error, ShopNotNamed):
        raise click.UsageError(reason)
    raise CommandFailed(reason) from error


def _preview(kind: Kind, names: dict[Path, str], options: ImportOptions, as_json: bool) -> None:
    """Print what an import would do."""
    with open_warehouse(creates=False) as connection:
        try:
            shops, hasher = load_shops(connection), email_hasher(connection)
            preview = Preview()
            for path, name in names.items():
                with FileCeilings(path).portion():
                    for _ in preview.steps(kind, path, name, options, shops, hasher):
                        pass
        except UnreadableFile as error:
            _fail(error, names)
    if not as_json:
        for row in preview.rows:
            click.echo(printable_json(row))
        _print_rejects(preview.counts.rejects)
    read, rejected = preview.counts.read, preview.counts.rejected
    report = {"read": read, "valid": read - rejected, "rejected": rejected}
    print_counts(report | preview.counts.more, as_json)


def _print_rejects(rejects: Rejects) -> None:
    for file, line, reason in rejects:
        click.echo(printable(f"{file}:{line} {reason}"))


def print_counts(report: dict[str, int], as_json: bool) -> None:
    """Print the counts; exit 3 if anything was rejected."""
    if as_json:
        click.echo(json.dumps(report))
    else:
        click.echo("  ".join(f"{name} {number}" for name, number in report.items()))
    if report["rejected"]:
        sys.exit(SOME_REJECTED)


def _import(
    run: JobRun, kind: Kind, names: dict[Path, str], options: ImportOptions, counts: Counts
) -> None:
    shops = load_shops(run.connection)
    recognised = {}
    for path in names:
        with FileCeilings(path).portion():
            # Before anything is written: a second file that cannot be read stops the first.
            recognised[path] = chunks_of(path, kind, options, shops)
    size = sum(path.stat().st_size for path in names)
    together: list[int] = []
    with bar(kind.name, "B", size) as shown:
        before = 0
        try:
            for path, name in names.items():
                phase("import")
                steps = import_steps(
                    run.connection,
                    kind,
                    path,
                    counts,
                    options=options,
                    name=name,
                    run_id=run.record.run_id,
                    chunks=recognised[path],
                    together=together,
                )
                with closing(steps):
                    for read in steps:
                        shown.move_to(before + read)
                        run.record.batches += 1
                        run.record.rows = counts.read
                        run.raise_if_stopped()
                before += path.stat().st_size
        finally:
            # Also of those before a file that cannot be read: they are imported.
            if together:
                run.connection.rollback()
                counts.add_more(kind.finish(run.connection, together))
