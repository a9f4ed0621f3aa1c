"""`status`: how far each shop is, what failed, what ran, and what needs a person."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import click

from jobs.clock import now_micros
from jobs.commands.shared import failures, warehouse
from jobs.schedule import schedule
from jobs.status import status
from warehouse import settings


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def status_command(as_json: bool) -> None:
    """Show what was imported last, what waits for a rollup, what failed and why rows were rejected,
    what ran and what runs next. Exit status 1 says that something needs a person."""
    with failures():
        jobs, root = schedule(), settings.IMPORT_DIR.get()
    with warehouse() as (bulk, window_days):
        found = status(bulk, window_days, jobs, root, now_micros())
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        for line in _lines(found):
            click.echo(line)
    if found["problems"]:
        sys.exit(1)


def _lines(found: dict[str, Any]) -> Iterator[str]:
    for problem in found["problems"]:
        yield f"NEEDS YOU: {problem}"
    for shop in found["shops"]:
        yield from _shop(shop)
    if not found["shops"]:
        yield "no shops"
    queued = found["queued"]
    yield f"queued: {queued['rows']} rows in {queued['batches']} batches"
    for batch in found["failing"]:
        following = f"next try {batch['retry_at']}" if batch["retry_at"] else "set aside"
        yield (
            f"  batch {batch['batch_id']} of {batch['shop_id']} failed "
            f"(tries: {batch['tries']}; {following}): {batch['error']}"
        )
    yield f"rejects: {sum(reject['rows'] for reject in found['rejects']) or 'none'}"
    for reject in found["rejects"]:
        yield f"  {reject['rows']} {reject['kind']} {reject['reason']}"
    yield "last runs:" if found["runs"] else "last runs: none"
    for run in found["runs"]:
        yield _run(run)
    verify = found["verify"]
    yield f"verify: {verify['state']} at {verify['started_at']}" if verify else "verify: never ran"
    yield "schedule (of `python -m jobs scheduler`):"
    for job in found["schedule"]:
        yield f"  {job['job']:<8} {job['when']}; next {job['next_at'] or 'never'}"
    yield from _landing(found["landing"])


def _shop(shop: dict[str, Any]) -> Iterator[str]:
    batch = shop["newest_batch"]
    newest = (
        f"{batch['rows']} {batch['kind']} at {batch['imported_at']} (batch {batch['batch_id']})"
        if batch
        else "nothing"
    )
    lag = f" (for {shop['lag_seconds']} s)" if shop["waiting_rows"] else ""
    yield f"{shop['shop_id']} ({shop['timezone']}): {shop['state']}"
    yield f"  last rollup   {shop['last_rollup_at'] or 'never'}"
    yield f"  waiting rows  {shop['waiting_rows']}{lag}"
    yield f"  newest batch  {newest}"


def _run(run: dict[str, Any]) -> str:
    seconds = sum(run["phases"].values())
    error = f": {run['error']}" if run["error"] else ""
    return (
        f"  {run['job']:<8} {run['state']} {run['started_at']} by {run['owner']}, {seconds:.1f} s, "
        f"{run['shops']} shops, {run['batches']} batches, {run['rows']} rows{error}"
    )


def _landing(landing: dict[str, Any]) -> Iterator[str]:
    counts = (f"{len(landing[name])} {name.replace('_', ' ')}" for name in ("waiting", "in_hand"))
    yield f"landing folder {landing['folder']}: {', '.join(counts)}"
    for what in landing["left_alone"]:
        yield f"  left alone: {what}"
