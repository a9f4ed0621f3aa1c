"""How much one server carries: `python -m tests.bench.capacity` (or `make bench-capacity`).

Measures what an event, a shop, an answer and a process cost here (`constants.py`), and computes what it
takes to carry so many shops and events a day (`model.py`), on one server or on several equal cells.
"""

import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click
import orjson

from tests.bench import constants, files, model, table
from tests.bench.databases import FOLDER, databases
from tests.bench.goals import Row, row
from tests.bench.model import Constants, Load
from tests.support.postgres import PostgresUnavailable

_REQUESTS_PER_SHOP = 0.01


@click.command(help=__doc__)
@click.option("--shops", type=click.IntRange(min=1), default=10_000, show_default=True)
@click.option("--events-per-day", type=click.IntRange(min=1), default=5_000_000, show_default=True)
@click.option("--days", type=click.IntRange(min=1), default=365, show_default=True)
@click.option(
    "--requests-per-second",
    type=float,
    help="In the busiest hour; without it, one from each shop in 100 seconds.",
)
@click.option("--night-hours", type=float, default=4, show_default=True)
@click.option("--cells", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--db", type=click.Choice(["sqlite", "postgresql"]), help="default: postgresql")
@click.option(
    "--constants",
    "measured",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file that an earlier run has written; nothing is measured again.",
)
def main(
    shops: int,
    events_per_day: int,
    days: int,
    requests_per_second: float | None,
    night_hours: float,
    cells: int,
    db: str | None,
    measured: Path | None,
) -> None:
    known = _known(measured) if measured else _measured(db)
    requests = shops * _REQUESTS_PER_SHOP if requests_per_second is None else requests_per_second
    load = Load(shops, events_per_day, days, requests, night_hours * 3600).of_cells(cells)
    click.echo(
        f"\n{'each of ' * (cells > 1)}{cells} server{'s' * (cells > 1)}: {load.shops:,.0f} shops, "
        f"{load.events:,.0f} events a day, {load.requests:,.1f} requests a second\n"
    )
    table.show(one.as_dict() for one in model.carried(known, load))


def _known(path: Path) -> Constants:
    return Constants.from_json(orjson.loads(path.read_bytes()))


def _measured(db: str | None) -> Constants:
    def say(text: str) -> None:
        click.echo(text, err=True)

    kind = db or "postgresql"
    try:
        new = databases(kind)
    except PostgresUnavailable as error:
        if db:
            raise click.ClickException(f"PostgreSQL cannot be used: {error}") from None
        say(f"without PostgreSQL: {error}; SQLite it is")
        kind, new = "sqlite", databases("sqlite")
    found, checks = constants.measure(new, say)
    click.echo(f"\nConstants of {kind} on {os.cpu_count()} cores\n")
    table.show(one.as_dict() for one in (*found.rows(), *checks, *_of_the_machine()))
    path = FOLDER / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-constants-{kind}.json"
    files.write_json(path, asdict(found))
    click.echo(f"\nwritten to {path}")
    return found


def _of_the_machine() -> list[Row]:
    return [row("load of the machine, 5 minutes", os.getloadavg()[1], "")]


if __name__ == "__main__":
    main()
