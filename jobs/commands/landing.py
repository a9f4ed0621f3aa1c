"""`landing`: import the files in the landing folder."""

from jobs.landing.land import LEFT, land
from jobs.run.job_run import JobRun
from warehouse import settings
from warehouse.domain.landing_names import FAILED


def landing_command(scheduled_as: str | None) -> None:
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
