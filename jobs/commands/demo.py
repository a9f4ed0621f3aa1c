"""`demo`: write the files of a made-up shop, and import them as any user would."""

import time
from pathlib import Path

import click

from jobs.commands.run_within import run_within
from jobs.demo.cast import SHOP_ID
from jobs.demo.files import write
from jobs.run.clock import now_micros
from warehouse.domain.time import from_micros


def demo_command(folder: Path, days: int, files_only: bool) -> None:
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
    run_within(*arguments)
