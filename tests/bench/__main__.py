"""`python -m tests.bench [--size 50k|1M|5M|20M] [--db sqlite|postgresql|both]`."""

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import click

from tests.bench import executors, files, table
from tests.bench.databases import FOLDER, databases
from tests.bench.goals import row
from tests.bench.processes import SHORT, TIMES
from tests.bench.stages import Result, run_all

SIZES = {"50k": 50_000, "1M": 1_000_000, "5M": 5_000_000, "20M": 20_000_000}


@click.command(help=__doc__)
@click.option("--size", type=click.Choice(list(SIZES)), default="1M", show_default=True)
@click.option(
    "--db", type=click.Choice(["sqlite", "postgresql", "both"]), default="both", show_default=True
)
def main(size: str, db: str) -> None:
    click.echo(f"data: {size} events", err=True)
    data = files.prepare(FOLDER, SIZES[size])
    for kind in ("sqlite", "postgresql") if db == "both" else (db,):
        measured = run_all(data, databases(kind), _say)
        if kind == "postgresql":
            rows = executors.measure(_say, 2, events=min(SIZES[size], executors.EVENTS))
            measured["rows"] += [one.as_dict() for one in rows]
        now = datetime.now(UTC)
        result: Result = {
            "size": size,
            "database": kind,
            "at": now.isoformat(timespec="seconds"),
            "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        } | measured
        if size == "20M":
            result["rows"] = _beside_5m(result["rows"], kind)
        _show(result)
        path = FOLDER / f"{now:%Y%m%dT%H%M%SZ}-{size}-{kind}.json"
        files.write_json(path, result)
        click.echo(f"\nwritten to {path}\n")


def _say(text: str) -> None:
    click.echo(text, err=True)


def _beside_5m(rows: list[Result], kind: str) -> list[Result]:
    """With the refreshes beside those of the last run of 5M, which is all that is asked of them at this
    size; without such a run there is nothing to hold them against."""
    found = []
    runs = sorted(FOLDER.glob(f"*-5M-{kind}.json"))
    then = {one["what"]: one["value"] for one in _rows(runs[-1])} if runs else {}
    for one in rows:
        what = one["what"]
        if what.startswith("refresh"):
            one |= {"goal": None, "met": None}
        found.append(one)
        if what.startswith("refresh") and what in then:
            found.append(row(f"{what}, of 5M", one["value"], "s", then[what]).as_dict())
    return found


def _rows(path: Path) -> list[Result]:
    rows: list[Result] = json.loads(path.read_text())["rows"]
    return rows


def _show(result: Result) -> None:
    click.echo(
        f"\n{result['size']} events, {result['database']}, {result['machine']['cores']} cores; medians"
        f" of {TIMES} where one takes less than {SHORT} s\n"
    )
    table.show(result["rows"])


if __name__ == "__main__":
    main()
