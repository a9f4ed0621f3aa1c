"""`imports`: list the imports of files, or undo one."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from jobs.run.console import json_line, printable
from jobs.run.errors import CommandFailed
from jobs.run.job_run import JobRun, open_warehouse, shop_keys
from warehouse import command, settings
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_DAY, iso_millis, now_micros
from warehouse.domain.vocabulary import UNDOING, UNDONE
from warehouse.intake import imports
from warehouse.intake.imports import COUNTS, RUNNING, ImportedFile

if TYPE_CHECKING:
    from jobs.importing.kinds.replace_last import TakenBack


def list_command(shop: str | None, limit: int, as_json: bool) -> None:
    with open_warehouse() as connection:
        shop_key = shop_keys(connection, shop)[0] if shop else None
        for one in imports.list_imports(connection, now_micros(), shop_key, limit):
            started_at = iso_millis(one.started_at)
            if as_json:
                ended_at = iso_millis(one.ended_at) if one.ended_at else None
                line = json_line(asdict(one) | {"started_at": started_at, "ended_at": ended_at})
            else:
                counts = "  ".join(f"{name} {getattr(one, name)}" for name in COUNTS)
                what = f"{one.state}  {one.kind}  {one.file}  {counts}"
                line = printable(f"{one.import_id}  {started_at}  {what}")
            click.echo(line)


def undo_command(import_id: int, dry_run: bool) -> None:
    # The importer's parts are loaded where they are needed: a list is there sooner without them.
    from jobs.commands.rollup import build_without_removed
    from jobs.importing.undo import JOB, preview, undo

    if dry_run:
        with open_warehouse() as connection:
            imported = _found(connection, import_id)
            if imported.state != UNDONE:
                click.echo(_told(imported, preview(connection, imported), done=False))
        return
    with JobRun(JOB, str(import_id), exclusive=True) as run:
        imported = _found(run.connection, import_id)
        if imported.state == UNDONE:
            return
        click.echo(_told(imported, undo(run, imported), done=True))
    build_without_removed(imported.shop_id or None)


def _found(connection: ArrowConnection, import_id: int) -> ImportedFile:
    """The import of this id. Raises CommandFailed if it cannot be undone; says so if it is undone."""
    now, days = now_micros(), settings.IMPORTS_DAYS.get()
    imported = imports.find(connection, import_id, now)
    if imported is None:
        raise CommandFailed(f"no import {import_id}; `{command('jobs imports list')}` shows all")
    if imported.state == RUNNING:
        raise CommandFailed(f"import {import_id} is still running; stop it first")
    if imported.state == UNDONE:
        click.echo(f"import {import_id} is undone already")
    elif imported.state != UNDOING and imported.started_at < now - days * MICROS_PER_DAY:
        raise CommandFailed(
            f"import {import_id} is older than IMPORTS_DAYS={days} days and can no longer be undone"
        )
    return imported


def _told(imported: ImportedFile, taken_back: "TakenBack", *, done: bool) -> str:
    gone, restored, stay = taken_back
    row = "row" if gone == 1 else "rows"
    if done:
        parts = [f"{gone} {row} {'is' if gone == 1 else 'are'} gone"]
        was = "is as it was" if restored == 1 else "are as they were"
        parts += [f"{restored} {was} before"] if restored else []
        parts.append(f"{stay} {'stays' if stay == 1 else 'stay'}")
    else:
        parts = [f"{gone} {row} would go"]
        parts += [f"{restored} would be as before"] if restored else []
        parts.append(f"{stay} would stay")
    return printable(
        f"import {imported.import_id} ({imported.kind}, {imported.file}): {', '.join(parts)}"
    )
