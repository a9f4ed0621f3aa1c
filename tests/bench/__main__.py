"""`python -m tests.bench [--size 50k|1M|5M|20M] [--db sqlite|postgresql|both]`."""

import json
import os
import platform
from datetime import UTC, datetime

import click
import psutil

from tests.bench import files, peers, table
from tests.bench.databases import FOLDER, databases
from tests.bench.goals import judge
from tests.bench.processes import SHORT, TIMES
from tests.bench.stages import run_all

SIZES = {"50k": 50_000, "1M": 1_000_000, "5M": 5_000_000, "20M": 20_000_000}
# The share of the processors in percent that others may use; beside more, nothing is judged.
MOST_OF_OTHERS = 10


@click.command(help=__doc__)
@click.option("--size", type=click.Choice(list(SIZES)), default="1M", show_default=True)
@click.option(
    "--db", type=click.Choice(["sqlite", "postgresql", "both"]), default="both", show_default=True
)
def main(size: str, db: str) -> None:
    if not peers.CHDB.exists():
        raise click.ClickException(f"{peers.CHDB} is not there. `make bench` makes it.")
    click.echo(f"data: {size} events", err=True)
    data = files.prepare(FOLDER, SIZES[size])
    for kind in ("sqlite", "postgresql") if db == "both" else (db,):
        others: list[float] = []

        def say(stage: str, others: list[float] = others) -> None:
            """Tell of a stage, before which nothing of our own runs for a second."""
            others.append(psutil.cpu_percent(interval=1))
            click.echo(stage, err=True)

        measured = run_all(data, databases(kind), say)
        used = sum(others) / len(others)
        rows = judge(measured, kind, is_busy=used > MOST_OF_OTHERS)
        now = datetime.now(UTC)
        click.echo(
            f"\n{size} events, {kind}, {os.cpu_count()} cores; medians of {TIMES} where one takes less"
            f" than {SHORT} s\n"
        )
        if used > MOST_OF_OTHERS:
            click.echo(f"Others used {used:.0f} % of the processors: nothing is judged.\n")
        table.show(rows)
        path = FOLDER / f"{now:%Y%m%dT%H%M%SZ}-{size}-{kind}.json"
        machine = {"cores": os.cpu_count(), "python": platform.python_version(), "others": used}
        path.write_text(json.dumps({"machine": machine, "rows": rows}, indent=2) + "\n")
        click.echo(f"\nwritten to {path}\n")


if __name__ == "__main__":
    main()
