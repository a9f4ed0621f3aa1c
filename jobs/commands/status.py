"""`status`: print the state of the warehouse, and what needs a person."""

import sys
from collections.abc import Iterator
from typing import Any

import click

from jobs.pulls.stored_pulls import list_pulls
from jobs.run.clock import now_micros
from jobs.run.console import json_line, printable
from jobs.run.errors import FAILED
from jobs.run.job_run import open_warehouse
from jobs.scheduler.schedule import pull_jobs, schedule
from jobs.scheduler.status import status
from warehouse import settings


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status_command(as_json: bool) -> None:
    """Show what was imported, what waits for a rollup, what failed, and what runs next.

    Lines that begin with NEEDS YOU say what a person has to do. If there are any, the exit status is
    1.
    """
    root = settings.IMPORT_DIR.get()
    window_days = settings.ATTRIBUTION_WINDOW_DAYS.get()
    with open_warehouse() as connection:
        pulls = list_pulls(connection)
        report = status(
            connection, window_days, (*schedule(), *pull_jobs(pulls)), pulls, root, now_micros()
        )
    for line in [json_line(report)] if as_json else map(printable, _lines(report)):
        click.echo(line)
    if report["problems"]:
        sys.exit(FAILED)


def _lines(report: dict[str, Any]) -> Iterator[str]:
    for problem in report["problems"]:
        yield f"NEEDS YOU: {problem}"
    for shop in report["shops"]:
        yield from _shop(shop)
    if not report["shops"]:
        yield "no shops"
    yield f"queued: {report['queued']['rows']} rows in {report['queued']['batches']} batches"
    for batch in report["failing"]:
        retry = f"retry at {batch['retry_at']}" if batch["retry_at"] else "set aside"
        yield (
            f"  batch {batch['batch_id']} of {batch['shop_id']} failed "
            f"(attempts: {batch['attempts']}; {retry}): {batch['error']}"
        )
    yield f"rejects: {sum(reject['rows'] for reject in report['rejects']) or 'none'}"
    for reject in report["rejects"]:
        yield f"  {reject['rows']} {reject['kind']} {reject['reason']}"
    yield "last runs:" if report["runs"] else "last runs: none"
    for run in report["runs"]:
        yield _run(run)
    verify = report["verify"]
    yield f"verify: {verify['state']} at {verify['started_at']}" if verify else "verify: never ran"
    yield "schedule (of `python -m jobs scheduler`):"
    for job in report["schedule"]:
        yield f"  {job['job']:<8} {job['when']}; next {job['next_at'] or 'never'}"
    for pull in report["pulls"]:
        yield _pull(pull)
    landing = report["landing"]
    yield (
        f"landing folder {landing['folder']}: {len(landing['waiting'])} waiting, "
        f"{len(landing['in_hand'])} being imported"
    )


def _shop(shop: dict[str, Any]) -> Iterator[str]:
    batch = shop["newest_batch"]
    newest = (
        f"{batch['rows']} {batch['kind']} at {batch['imported_at']} (batch {batch['batch_id']})"
        if batch
        else "none"
    )
    lag = f" (for {shop['lag_seconds']} s)" if shop["waiting_rows"] else ""
    yield f"{shop['shop_id']} ({shop['timezone']}): {shop['state']}"
    yield f"  last rollup   {shop['last_rollup_at'] or 'never'}"
    yield f"  waiting rows  {shop['waiting_rows']}{lag}"
    yield f"  newest batch  {newest}"


def _pull(pull: dict[str, Any]) -> str:
    shop = f" of {pull['shop_id']}" if pull["shop_id"] else ""
    if not pull["ran_at"]:
        return f"pull {pull['name']}{shop}: never ran"
    result = pull["message"] or f"{pull['rows']} rows, {pull['bytes']} bytes"
    return f"pull {pull['name']}{shop}: {pull['status']} at {pull['ran_at']}, {result}"


def _run(run: dict[str, Any]) -> str:
    seconds = sum(run["phases"].values())
    error = f": {run['error']}" if run["error"] else ""
    return (
        f"  {run['job']:<8} {run['state']} {run['started_at']} by {run['owner']}, {seconds:.1f} s, "
        f"{run['shops']} shops, {run['batches']} batches, {run['rows']} rows{error}"
    )
