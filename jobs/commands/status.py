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
    for name, found in groupby(report["conditions"], key=lambda finding: finding["condition"]):
        lines = (f"NEEDS YOU: {finding['message']}" for finding in found)
        yield from _first(lines, f"NEEDS YOU: findings of {name}", _SHOWN_OF_A_CONDITION)
    yield from _shops(report["shops"])
    if "queued" in report:
        yield f"queued: {report['queued']['rows']} rows in {report['queued']['batches']} batches"
    failing = []
    for one in report["failing"]:
        retry = f"retry at {one['retry_at']}" if one["retry_at"] else "set aside"
        failing.append(
            f"  batch {one['batch_id']} of {one['shop_id']} failed "
            f"(attempts: {one['attempts']}; {retry}): {one['error']}"
        )
    yield from _first(failing, "  failed batches")
    if report["tasks"]:
        yield f"tasks: {len(report['tasks'])}"
    tasks = []
    for task in report["tasks"]:
        asked = f" asked at {task['asked_at']}" if task["asked_at"] else ""
        tried = f", attempts: {task['attempts']}" if task["attempts"] else ""
        given_up = f", given up: {task['reason']}" if task["reason"] else ""
        shop = task["shop_id"] or "several shops"
        tasks.append(f"  {task['kind']} for {shop}{asked}{tried}{given_up}")
    yield from _first(tasks, "  tasks")
    if "rejects" in report:
        yield from _of_everything(report)
    pulls = report["pulls"]
    if len(pulls) > _SHOWN:
        results = Counter(pull["status"] or "never ran" for pull in pulls)
        yield f"pulls: {', '.join(f'{number} {name}' for name, number in sorted(results.items()))}"
    else:
        for pull in pulls:
            shop, last = f" of {pull['shop_id']}" if pull["shop_id"] else "", "never ran"
            if pull["ran_at"]:
                result = pull["message"] or f"{pull['rows']} rows, {pull['bytes']} bytes"
                last = f"{pull['status']} at {pull['ran_at']}, {result}"
            yield f"pull {pull['name']}{shop}: {last}"


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
    lines = []
    for run in runs:
        error = f": {run['error']}" if run["error"] else ""
        lines.append(
            f"  {run['job']:<8} {run['state']} {run['started_at']} by {run['owner']}, "
            f"{sum(run['phases'].values()):.1f} s, {run['shops']} shops, {run['batches']} batches, "
            f"{run['rows']} rows{error}"
        )
    yield from _first(lines, "  jobs", 2 * _SHOWN)
    verify = report["verify"]
    yield f"verify: {verify['state']} at {verify['started_at']}" if verify else "verify: never ran"
    schedulers = report["schedulers"]
    working = [one for one in schedulers if one["is_working"]]
    for one in working:
        yield f"scheduler {one['scheduler']}, since {one['started_at']}, last seen {one['seen_at']}"
    if working:
        yield "its schedule:"
    else:
        seen = f"the last one was seen {schedulers[0]['seen_at']}" if schedulers else ""
        last = seen or "none was ever seen"
        yield f"no scheduler runs ({last}); one that is started here has the schedule:"
    for job in report["schedule"]:
        if not job["job"].startswith(JOB):
            yield f"  {job['job']:<8} {job['when']}; next {job['next_at'] or 'never'}"
    landing = report["landing"]
    yield (
        f"landing folder {landing['folder']}: {len(landing['waiting'])} waiting, "
        f"{len(landing['in_hand'])} being imported"
    )
    yield from _first((f"  {path}" for path in landing["waiting"]), "  files")


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
    else:
        behind = [shop for shop in shops if shop["state"] != "current" or shop["waiting_rows"]]
        yield f"shops: {len(shops)}; {len(shops) - len(behind)} are up to date"
        behind.sort(key=lambda shop: (-shop["lag_seconds"], shop["shop_id"]))
        lines = (
            f"  {shop['shop_id']}: {shop['state']}{_recomputing(shop)}, {shop['waiting_rows']} rows wait"
            f"{_lag(shop)}, last rollup {shop['last_rollup_at'] or 'never'}"
            for shop in behind
        )
        yield from _first(lines, "  shops")


def _recomputing(shop: Row) -> str:
    since = shop["recomputing_since"]
    return f" (recomputing since {since}, until then as before)" if since else ""


def _lag(shop: Row) -> str:
    return f" (for {shop['lag_seconds']} s)" if shop["waiting_rows"] else ""
