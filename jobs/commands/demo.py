"""`demo`: write the files of a made-up shop, and import them as any user would."""

import subprocess
import sys
import time
from pathlib import Path

import click

from jobs.demo.cast import DAYS, SHOP_ID
from jobs.demo.files import write
from jobs.run.clock import now_micros
from warehouse.domain.time import from_micros


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("var/demo"),
    show_default=True,
    help="The folder for the files.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 3_650),
    default=DAYS,
    show_default=True,
    help="The number of days, today included.",
)
@click.option("--files-only", is_flag=True, help="Write the files and import nothing.")
def demo_command(folder: Path, days: int, files_only: bool) -> None:
    """Make up a shop with forms, visitors, orders and ads, up to the present minute.

    Another run adds the days since the last run, and leaves what is already there as it is.
    """
    began = time.monotonic()
    files = write(folder, from_micros(now_micros()), days)
    click.echo(f"wrote {days} days of {SHOP_ID} to {folder} in {time.monotonic() - began:.1f} s")
    if files_only:
        return
    for kind, paths in files.items():
        _jobs("import", kind, *map(str, paths))
    _jobs("rollup", "--shop", SHOP_ID)


def _jobs(*arguments: str) -> None:
    click.echo(f"$ .venv/bin/python -m jobs {' '.join(arguments)}")
    finished = subprocess.run([sys.executable, "-m", "jobs", *arguments])
    if finished.returncode:
        sys.exit(finished.returncode)
