"""`status`: print the state of the warehouse, and what needs a person."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

import click

from jobs.run.console import json_line, printable
from jobs.run.errors import FAILED
from jobs.run.job_run import open_warehouse
from jobs.scheduler.status import of_shop, status
from warehouse import settings
from warehouse.domain.vocabulary import KEPT
from warehouse.intake.shop_pulls import JOB

Row = dict[str, Any]

# For hundreds of shops the whole must fit a screen: of each list so many lines are shown.
_SHOWN: Final = 5
_SHOWN_OF_A_CONDITION: Final = 2
# So many shops are shown in full.
_FEW_SHOPS: Final = 3


def status_command(shop: str | None, as_json: bool) -> None:
    window_days = settings.ATTRIBUTION_WINDOW_DAYS.get()
    with open_warehouse(creates=False) as connection:
        root = settings.IMPORT_DIR.get()
        report = status(connection, window_days, root, connection.now_micros())
    if shop is not None:
        report = of_shop(report, shop)
    for line in [json_line(report)] if as_json else map(printable, _lines(report)):
        click.echo(line)
    if report["problems"]:
        sys.exit(FAILED)


def _lines(report: Row) -> Iterator[str]:
    yield f"warehouse: {report['warehouse']}"
    yield from _needs(report["conditions"])
    yield from _shops(report["shops"])
    if "queued" in report:
        yield f"queued: {report['queued']['rows']} rows in {report['queued']['batches']} batches"
    yield from _first(map(_failing, report["failing"]), "  failed batches")
    if report["tasks"]:
        yield f"tasks: {len(report['tasks'])}"
    yield from _first(map(_task, report["tasks"]), "  tasks")
    if "rejects" in report:
        yield from _of_everything(report)
    yield from _pulls(report["pulls"])


def _of_everything(report: Row) -> Iterator[str]:
    """The part of the report that concerns no single shop."""
    kept = sum(one["rows"] for one in report["rejects"] if one["code"] == KEPT)
    without = f", and {kept} taken without a field" if kept else ""
    yield f"rejects: {sum(one['rows'] for one in report['rejects']) - kept or 'none'}{without}"
    yield from _first(
        (f"  {reject['rows']} {reject['kind']} {reject['reason']}" for reject in report["rejects"]),
        "  reasons",
    )
    # Pulls have lines of their own.
    runs = [run for run in report["runs"] if not run["job"].startswith(JOB)]
    yield "last runs:" if runs else "last runs: none"
    yield from _first(map(_run, runs), "  jobs", 2 * _SHOWN)
    verify = report["verify"]
    yield f"verify: {verify['state']} at {verify['started_at']}" if verify else "verify: never ran"
    yield from _schedule(report["schedulers"], report["schedule"])
    landing = report["landing"]
    yield (
        f"landing folder {landing['folder']}: {len(landing['waiting'])} waiting, "
        f"{len(landing['in_hand'])} being imported"
    )
    yield from _first((f"  {path}" for path in landing["waiting"]), "  files")


def _needs(conditions: list[Row]) -> Iterator[str]:
    for name, found in groupby(conditions, key=lambda finding: finding["condition"]):
        lines = (f"NEEDS YOU: {finding['message']}" for finding in found)
        yield from _first(lines, f"NEEDS YOU: findings of {name}", _SHOWN_OF_A_CONDITION)


def _first(lines: Iterable[str], rest: str, shown: int = _SHOWN) -> Iterator[str]:
    """The first lines; one more says how many others there are, after `rest`. It is no longer than they are:
    where there is one line too many, that is shown."""
    listed = list(lines)
    most = shown if len(listed) > shown + 1 else len(listed)
    yield from listed[:most]
    if most < len(listed):
        yield f"{rest}: {len(listed) - most} more (--json has all)"


def _shops(shops: list[Row]) -> Iterator[str]:
    if not shops:
        yield "no shops"
    elif len(shops) <= _FEW_SHOPS:
        for shop in shops:
            yield from _shop(shop)
    else:
        behind = [shop for shop in shops if shop["state"] != "current" or shop["waiting_rows"]]
        yield f"shops: {len(shops)}; {len(shops) - len(behind)} are up to date"
        behind.sort(key=lambda shop: (-shop["lag_seconds"], shop["shop_id"]))
        yield from _first(map(_shop_behind, behind), "  shops")


def _shop_behind(shop: Row) -> str:
    return (
        f"  {shop['shop_id']}: {shop['state']}{_recomputing(shop)}, {shop['waiting_rows']} rows wait"
        f"{_lag(shop)}, last rollup {shop['last_rollup_at'] or 'never'}"
    )


def _recomputing(shop: Row) -> str:
    since = shop["recomputing_since"]
    return f" (recomputing since {since}, until then as before)" if since else ""


def _lag(shop: Row) -> str:
    return f" (for {shop['lag_seconds']} s)" if shop["waiting_rows"] else ""


def _shop(shop: Row) -> Iterator[str]:
    batch = shop["newest_batch"]
    newest = (
        f"{batch['rows']} {batch['kind']} at {batch['imported_at']} (batch {batch['batch_id']})"
        if batch
        else "none"
    )
    yield f"{shop['shop_id']} ({shop['timezone']}): {shop['state']}{_recomputing(shop)}"
    yield f"  last rollup   {shop['last_rollup_at'] or 'never'}"
    yield f"  waiting rows  {shop['waiting_rows']}{_lag(shop)}"
    yield f"  newest batch  {newest}"


def _task(task: Row) -> str:
    asked = f" asked at {task['asked_at']}" if task["asked_at"] else ""
    tried = f", attempts: {task['attempts']}" if task["attempts"] else ""
    given_up = f", given up: {task['reason']}" if task["reason"] else ""
    return f"  {task['kind']} for {task['shop_id'] or 'several shops'}{asked}{tried}{given_up}"


def _failing(batch: Row) -> str:
    retry = f"retry at {batch['retry_at']}" if batch["retry_at"] else "set aside"
    return (
        f"  batch {batch['batch_id']} of {batch['shop_id']} failed "
        f"(attempts: {batch['attempts']}; {retry}): {batch['error']}"
    )


def _schedule(schedulers: list[Row], jobs: list[Row]) -> Iterator[str]:
    working = [one for one in schedulers if one["is_working"]]
    for one in working:
        yield f"scheduler {one['scheduler']}, since {one['started_at']}, last seen {one['seen_at']}"
    if working:
        yield "its schedule:"
    else:
        last = (
            f"the last one was seen {schedulers[0]['seen_at']}"
            if schedulers
            else "none was ever seen"
        )
        yield f"no scheduler runs ({last}); one that is started here has the schedule:"
    shown = [job for job in jobs if not job["job"].startswith(JOB)]
    for job in shown:
        yield f"  {job['job']:<8} {job['when']}; next {job['next_at'] or 'never'}"


def _pulls(pulls: list[Row]) -> Iterator[str]:
    if len(pulls) > _SHOWN:
        results = Counter(pull["status"] or "never ran" for pull in pulls)
        yield f"pulls: {', '.join(f'{number} {name}' for name, number in sorted(results.items()))}"
    else:
        yield from map(_pull, pulls)


def _pull(pull: Row) -> str:
    shop = f" of {pull['shop_id']}" if pull["shop_id"] else ""
    if not pull["ran_at"]:
        return f"pull {pull['name']}{shop}: never ran"
    result = pull["message"] or f"{pull['rows']} rows, {pull['bytes']} bytes"
    return f"pull {pull['name']}{shop}: {pull['status']} at {pull['ran_at']}, {result}"


def _run(run: Row) -> str:
    seconds = sum(run["phases"].values())
    error = f": {run['error']}" if run["error"] else ""
    return (
        f"  {run['job']:<8} {run['state']} {run['started_at']} by {run['owner']}, {seconds:.1f} s, "
        f"{run['shops']} shops, {run['batches']} batches, {run['rows']} rows{error}"
    )
