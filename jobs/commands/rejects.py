"""`rejects`: list the rows that imports rejected, import them again, or forget them."""

from dataclasses import asdict
from typing import Any

import click

from jobs.commands.import_files import print_counts
from jobs.importing.rejects import (
    Reject,
    RejectFilter,
    dismiss_rejects,
    list_rejects,
    purge_rejects,
    rejects_by_reason,
    rejects_of,
    retry_rejects,
)
from jobs.run.console import json_line, printable, report
from jobs.run.job_run import open_warehouse
from warehouse import settings
from warehouse.domain.time import now_micros


def rejects_command(
    kind: str | None,
    file: str | None,
    shop: str | None,
    limit: int | None,
    summary: bool,
    retry: bool,
    dismiss: bool,
    as_json: bool,
) -> None:
    if summary + retry + dismiss + (limit is not None) > 1:
        raise click.UsageError("only one of --limit, --summary, --retry and --dismiss can be used")
    some = RejectFilter(kind or "", file or "", shop or "")
    with open_warehouse(creates=False) as connection:
        purge_rejects(connection, now_micros(), settings.REJECTS_DAYS.get())
        if dismiss:
            report(f"dismissed {dismiss_rejects(connection, some)} rejects")
            return
        if not retry:
            for reject in () if summary else list_rejects(connection, some, limit):
                click.echo(json_line(_fields(reject)) if as_json else _text(reject))
            # Each reason with its first reject.
            reasons = rejects_by_reason(connection, some) if summary else []
            examples = rejects_of(connection, [reason["example"] for reason in reasons])
            for reason in reasons:
                if example := examples.get(reason["example"]):
                    heading = printable(f"{reason['rows']} {reason['kind']} {reason['reason']}")
                    lines = _text(example).replace("\n", "\n  ")
                    line = json_line(reason | {"example": _fields(example)}) if as_json else ""
                    click.echo(line or f"{heading}\n  {lines}")
            return
        counts = retry_rejects(connection, some)
    print_counts(counts.report(), as_json)


def _fields(reject: Reject) -> dict[str, Any]:
    fields = asdict(reject)
    return {name: fields[name] for name in ("file", "line", "kind", "reason", "text")}


def _text(reject: Reject) -> str:
    # A broken CSV record or archive can hold line feeds; a reject is two lines all the same.
    text = " ".join(reject.text.splitlines())
    place = printable(f"{reject.file}:{reject.line} {reject.kind} {reject.reason}")
    return f"{place}\n    {printable(text)}"
