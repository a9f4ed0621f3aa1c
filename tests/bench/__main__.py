"""`python -m tests.bench [--size 50k|1M|5M] [--db sqlite|postgresql|both]`."""

import os
import platform
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import click

from tests import postgres
from tests.bench import files
from tests.bench.load import CONNECTIONS
from tests.bench.stages import Result, run_all

SIZES = {"50k": 50_000, "1M": 1_000_000, "5M": 5_000_000}
FOLDER = Path("var/bench")


@click.command(help=__doc__)
@click.option("--size", type=click.Choice(list(SIZES)), default="1M", show_default=True)
@click.option(
    "--db", type=click.Choice(["sqlite", "postgresql", "both"]), default="both", show_default=True
)
def main(size: str, db: str) -> None:
    click.echo(f"data: {size} events", err=True)
    data = files.prepare(FOLDER, SIZES[size])
    for kind in ("sqlite", "postgresql") if db == "both" else (db,):
        with ExitStack() as databases:
            result = run_all(
                data, _databases(kind, databases), lambda stage: click.echo(stage, err=True)
            )
        now = datetime.now(UTC)
        result = {
            "size": size,
            "database": kind,
            "at": now.isoformat(timespec="seconds"),
            "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        } | result
        _show(result)
        path = FOLDER / f"{now:%Y%m%dT%H%M%SZ}-{size}-{kind}.json"
        files.write_json(path, result)
        click.echo(f"\nwritten to {path}\n")


def _databases(kind: str, stack: ExitStack) -> Callable[[], str]:
    """A function that gives the URL of an empty database of this kind."""
    if kind == "postgresql":
        server = postgres.server_url(f"bench{os.getpid()}")
        return lambda: stack.enter_context(postgres.new_database(server))
    FOLDER.mkdir(parents=True, exist_ok=True)

    def new_file() -> str:
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=FOLDER))
        return f"sqlite:///{Path(folder).resolve() / 'warehouse.db'}"

    return new_file


def _show(result: Result) -> None:
    click.echo(
        f"\n{result['size']} events, {result['database']}, {result['machine']['cores']} cores\n"
    )
    click.echo(f"{'stage':<22}{'seconds':>9}{'rows/s':>12}{'x floor':>9}{'peak MB':>9}")
    stages = {f"import {kind}": row for kind, row in result["import around"].items()}
    stages |= {
        name: result[name]
        for name in ("import ndjson", "import parquet", "first rollup", "import late", "refresh")
    }
    for name, row in stages.items():
        rate = f"{row['rows_per_second']:,}" if "rows_per_second" in row else ""
        click.echo(
            f"{name:<22}{row['seconds']:>9.2f}{rate:>12}{row.get('times_floor', ''):>9}{row['peak_mb']:>9.0f}"
        )
    for name in ("write", "read"):
        seconds = result["floor"][f"{name}_seconds"]
        click.echo(
            f"{f'floor: bare {name}':<22}{seconds:>9.2f}{result['events'] / seconds:>12,.0f}"
        )
    click.echo(f"\n{'endpoint, 90 days':<22}{'p50 ms':>9}{'p99 ms':>9}{'again ms':>9}{'bytes':>9}")
    for name, row in result["endpoints"].items():
        click.echo(
            f"{name:<22}{row['p50_ms']:>9}{row['p99_ms']:>9}{row['again_p50_ms']:>9}{row['bytes']:>9}"
        )
    click.echo(
        f"\n{f'{CONNECTIONS} connections':<22}{'req/s':>9}{'x bare':>9}{'p99 ms':>9}{'x bare':>9}"
        f"{'CPU us':>9}{'more':>9}"
    )
    for name, row in result["repeated"].items():
        click.echo(
            f"{name:<22}{row['requests_per_second']:>9,}{row['share_of_bare']:>9}{row['p99_ms']:>9}"
            f"{row['times_bare_p99']:>9}{row['cpu_us']:>9}{row['cpu_us_more']:>9}"
        )


if __name__ == "__main__":
    main()
