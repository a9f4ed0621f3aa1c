"""`rejects`: list the rows that imports rejected, or import them again."""

from dataclasses import asdict

import click

from jobs.commands.import_files import print_counts
from jobs.importing.rejects import Reject, list_rejects, purge_rejects, retry_rejects
from jobs.run.clock import now_micros
from jobs.run.console import json_line, printable
from jobs.run.job_run import open_warehouse
from warehouse import settings


@click.command("rejects")
@click.option("--retry", is_flag=True, help="Import them again, and remove the accepted ones.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def rejects_command(retry: bool, as_json: bool) -> None:
    """List rejected rows: FILE:LINE KIND REASON, then the row's text.

    Use --retry once the cause is mended (a shop was missing, for example). It prints counts as `import`
    does, and exits 3 if some rows are still rejected.
    """
    with open_warehouse() as connection:
        purge_rejects(connection, now_micros(), settings.REJECTS_DAYS.get())
        if not retry:
            for reject in list_rejects(connection):
                click.echo(_as_json(reject) if as_json else _as_text(reject))
            return
        counts = retry_rejects(connection)
    print_counts(counts.report(), as_json)


def _as_json(reject: Reject) -> str:
    fields = asdict(reject)
    names = ("file", "line", "kind", "reason", "text")
    return json_line({name: fields[name] for name in names})


def _as_text(reject: Reject) -> str:
    # A broken CSV record or archive can hold line feeds; a reject is two lines all the same.
    text = " ".join(reject.text.splitlines())
    place = printable(f"{reject.file}:{reject.line} {reject.kind} {reject.reason}")
    return f"{place}\n    {printable(text)}"
