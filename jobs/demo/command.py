"""`python -m jobs demo`: write the demo's files, then take them in as any user would."""

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from jobs.demo.cast import DAYS, SHOP_ID
from jobs.demo.files import write


@click.command()
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("var/demo"),
    show_default=True,
    help="where the files are written",
)
@click.option("--days", type=click.IntRange(1), default=DAYS, show_default=True)
@click.option("--files-only", is_flag=True, help="write the files, import nothing")
def demo(folder: Path, days: int, files_only: bool) -> None:
    """A shop with forms, visitors, orders and ads, made up to the minute.

    Run again, it goes on with the same story: what is already there is left as it is.
    """
    began = time.monotonic()
    files = write(folder, datetime.now(UTC), days)
    click.echo(f"wrote {days} days of {SHOP_ID} to {folder} in {time.monotonic() - began:.1f} s")
    if files_only:
        return
    for kind, paths in files.items():
        _jobs("import", kind, *map(str, paths))
    _jobs("rollup", "--shop", SHOP_ID)


def _jobs(*words: str) -> None:
    click.echo(f"$ python -m jobs {' '.join(words)}")
    finished = subprocess.run([sys.executable, "-m", "jobs", *words])
    if finished.returncode:
        sys.exit(finished.returncode)
