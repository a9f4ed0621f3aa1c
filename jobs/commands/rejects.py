"""`rejects`: the rows that could not be taken, and another try."""

import json
from dataclasses import asdict

import click

from jobs.clock import now_micros
from jobs.commands.importing import tell
from jobs.commands.shared import warehouse
from jobs.importing.kind import Counts
from jobs.importing.kinds import KINDS
from jobs.importing.rejects import Reject, list_rejects, purge_rejects, retry_rejects
from warehouse import settings


@click.command("rejects")
@click.option("--retry", is_flag=True, help="Try them again; those that are taken now are removed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def rejects_command(retry: bool, as_json: bool) -> None:
    """List the rows that imports could not take: FILE:LINE KIND REASON, then the row's text.

    With --retry they go through their kind again, once the cause is mended, and the counts are
    printed as by `import`; exit status 3 says that some are still rejected.
    """
    with warehouse() as (bulk, _):
        purge_rejects(bulk, now_micros(), settings.REJECTS_DAYS.get())
        if not retry:
            for reject in list_rejects(bulk):
                click.echo(_as_json(reject) if as_json else _as_text(reject))
            return
        counts = Counts()
        for kind in KINDS.values():
            retry_rejects(bulk, kind, counts)
    tell(counts.report(), as_json)


def _as_json(reject: Reject) -> str:
    fields = asdict(reject)
    names = ("file", "line", "kind", "reason", "text")
    return json.dumps({name: fields[name] for name in names}, ensure_ascii=False)


def _as_text(reject: Reject) -> str:
    # A broken CSV record or archive can hold anything: a reject is two lines all the same.
    text = " ".join(reject.text.splitlines())
    return f"{reject.file}:{reject.line} {reject.kind} {reject.reason}\n    {text}"
