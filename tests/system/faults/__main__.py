"""`python -m tests.system.faults`: hit the commands with many faults; print how many, and what differed."""

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import click

from tests.support.faults.places import Databases, Files, Place, small_disk
from tests.support.faults.servers import own_server
from tests.support.faults.story import Story, Tally


@click.command()
@click.option("--faults", default=300, help="So many in each database, at least.")
@click.option("--db", type=click.Choice(["sqlite", "postgresql", "both"]), default="both")
@click.option("--seed", default=1, help="Of the first world.")
def main(faults: int, db: str, seed: int) -> None:
    """Take worlds in, one after the other, hit again and again, until there were enough faults."""
    failed = False
    for name in ("sqlite", "postgresql") if db == "both" else (db,):
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            disk = stack.enter_context(small_disk())
            place: Place = Files(folder, disk)
            if name == "postgresql":
                place = Databases(*stack.enter_context(own_server()), disk)
            tally, number = Tally(), seed
            began, told = time.monotonic(), 0
            while sum(tally.faults.values()) < faults:
                Story(place, folder, number, tally).tell()
                for one in tally.found[told:]:
                    click.echo(one)
                told = len(tally.found)
                click.echo(f"{name}, seed {number}, {time.monotonic() - began:.0f} s: {tally}")
                number += 1
            failed = failed or bool(tally.found)
    sys.exit(failed)


if __name__ == "__main__":
    main()
