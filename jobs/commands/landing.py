"""`landing`: import what lies in the landing folder."""

import sys

import click

from jobs.landing.folder import FAILED
from jobs.landing.importing import land
from jobs.running import running
from jobs.telling import say
from warehouse import settings


@click.command("landing")
def landing_command() -> None:
    """Import what has appeared complete in IMPORT_DIR/KIND/, of other systems also in KIND/FORMAT/ and
    KIND/FORMAT/SHOP/, and move it to done/ or failed/ there, with a report beside it. Exit status 1
    says that a file could not be read."""
    with running("landing", alone=True) as run:
        root = settings.IMPORT_DIR.get()
        failed = land(run, root)
        if failed:
            run.record.error = (
                f"{failed} {'file' if failed == 1 else 'files'} could not be read; "
                f"see the reports in {root / '**' / FAILED}"
            )
            say(f"Error: {run.record.error}")
            sys.exit(1)
