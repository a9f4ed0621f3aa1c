"""`landing`: import the files in the landing folder; `dropped`: look at those that members dropped on their
Data page, and put those there of which they asked for the import."""

from typing import Any, Final

from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.shops import load_shops
from jobs.landing.dropped import folder, look_at
from jobs.landing.land import LEFT, land
from jobs.run.job_run import JobRun
from jobs.run.work import work
from warehouse import settings
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.landing_names import FAILED
from warehouse.intake.landing_folders import land_dropped
from warehouse.operations import tasks
from warehouse.operations.tasks import IMPORT, LAND, LOOK, Task
from warehouse.persons.hash_secret import email_hasher

# A look writes nothing: after a signal nobody waits for the end of what it reads just now.
_GRACE_SECONDS: Final = 3.0


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


def dropped_command(scheduled_as: str | None) -> None:
    with JobRun("dropped", scheduled_as=scheduled_as, exclusive=True, grace=_GRACE_SECONDS) as run:
        work(run, {LOOK: _look, LAND: _land})


def _look(run: JobRun, task: Task) -> dict[str, Any] | None:
    """Preview the import of a file, which goes where it cannot be imported."""
    connection = run.connection
    shop_id, timezone = _shop_of(connection, task)
    path = folder(settings.IMPORT_DIR.get(), shop_id) / task.item
    try:
        if not path.exists():
            raise UnreadableFile(
                "the scheduler does not find it; the API and the scheduler must have the same IMPORT_DIR"
            )
        shops, hasher = load_shops(connection), email_hasher(connection)
        connection.commit()
        told = look_at(path, shop_id, timezone, shops, hasher)
    except UnreadableFile as error:
        path.unlink(missing_ok=True)
        return {"reason": str(error).replace(str(path), "").lstrip(": ")}
    run.record.rows += told["rows"]
    return told


def _land(run: JobRun, task: Task) -> dict[str, Any] | None:
    """Put a file where the landing job finds it, which does the rest."""
    shop_id, _ = _shop_of(run.connection, task)
    if not land_dropped(settings.IMPORT_DIR.get(), shop_id, task.item, task.result["place"]):
        return {"reason": "it is no longer in the landing folder; drop it again"}
    tasks.pass_on(run.connection, task, IMPORT)
    return None


def _shop_of(connection: ArrowConnection, task: Task) -> tuple[str, str]:
    """The id and the time zone of the shop of a task. Commits."""
    (shop,) = connection.table(
        "SELECT shop_id, timezone FROM shop WHERE shop_key = $1", task.shop_key
    ).to_pylist()
    connection.commit()
    return shop["shop_id"], shop["timezone"]
