"""`landing`: import the files in the landing folder."""

import click

from jobs.commands.options import scheduled_as_option
from jobs.landing.land import LEFT, land
from jobs.run.job_run import JobRun
from warehouse import settings
from warehouse.domain.landing_names import FAILED


@click.command("landing")
@scheduled_as_option
def landing_command(scheduled_as: str | None) -> None:
    """Import the files that have appeared complete in IMPORT_DIR/KIND/.

    Exports of other systems may also lie in KIND/FORMAT/ and KIND/FORMAT/SHOP/. Each file is moved to
    done/ or failed/ in its folder, with a report. Exits 1 if a file could not be read or moved.
    """
    with JobRun("landing", scheduled_as=scheduled_as, exclusive=True) as run:
        root = settings.IMPORT_DIR.get()
        outcomes = land(run, root)
        run.record.error = "; ".join(
            f"{outcomes[outcome]} {'file' if outcomes[outcome] == 1 else 'files'} could not be {what}"
            for outcome, what in (
                (FAILED, f"read; see the reports in {root / '**' / FAILED}"),
                (LEFT, "moved; the lines above say why"),
            )
            if outcomes[outcome]
        )
