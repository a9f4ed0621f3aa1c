"""`dropped`: look at the files that members dropped on their Data page, and have those imported that waited
for another day."""

from typing import Any, Final

from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.shops import load_shops
from jobs.landing.dropped import folder, look_at
from jobs.run.clock import now_micros
from jobs.run.console import say
from jobs.run.errors import explained
from jobs.run.job_run import JobRun
from warehouse import settings
from warehouse.connections.errors import is_outage
from warehouse.operations import dropped_files
from warehouse.operations.dropped_files import (
    LANDED,
    MAX_TRIES,
    POSTPONED,
    REFUSED,
    SHOWN,
    DroppedFile,
)
from warehouse.operations.hash_secret import email_hasher
from warehouse.operations.landing_folders import land_dropped

# A look writes nothing: after a signal nobody waits for the end of what it reads just now.
_GRACE_SECONDS: Final = 3.0


def dropped_command(scheduled_as: str | None) -> None:
    with JobRun("dropped", scheduled_as=scheduled_as, exclusive=True, grace=_GRACE_SECONDS) as run:
        while waiting := dropped_files.waiting(run.connection, now_micros()):
            run.raise_if_stopped()
            # Only one: a small file that comes meanwhile goes before the large ones.
            file, shop_id = waiting[0]
            if file.state == POSTPONED:
                _land(run, file, shop_id)
            else:
                _look(run, file, shop_id)


def _look(run: JobRun, file: DroppedFile, shop_id: str) -> None:
    """Tell what a file is."""
    dropped_files.begin(run.connection, file)
    state, told, stored = SHOWN, dict[str, Any](), file.stored
    path = folder(settings.IMPORT_DIR.get(), shop_id) / file.stored
    try:
        if file.tries >= MAX_TRIES:
            raise UnreadableFile(f"{MAX_TRIES} processes ended while they read it")
        # A process that was killed may have put the table of a spreadsheet in its place.
        table = path.with_name(f"{path.name}.csv")
        if not path.exists() and not table.exists():
            raise UnreadableFile(
                "the scheduler does not find it; the API and the scheduler must have the same IMPORT_DIR"
            )
        shops = load_shops(run.connection)
        if shop_id not in shops.keys:
            return
        timezone = run.connection.value(
            "SELECT timezone FROM shop WHERE shop_key = $1", file.shop_key
        )
        hasher = email_hasher(run.connection)
        run.connection.commit()
        present = path if path.exists() else table
        found, told = look_at(present, shop_id, timezone, shops, hasher)
        stored = found.name
    except UnreadableFile as error:
        state = REFUSED
        told = {"reason": str(error).replace(f"{path}.csv", "").replace(str(path), "").lstrip(": ")}
    except Exception as error:
        if is_outage(error):
            raise
        run.connection.rollback()
        state, told = REFUSED, {"reason": f"it could not be read ({type(error).__name__})"}
        say(f"{path}: {explained(error)}")
    dropped_files.tell(run.connection, file, state, told, stored, now_micros())
    run.record.rows += told.get("rows", 0)
    if state == REFUSED:
        path.unlink(missing_ok=True)
        path.with_name(f"{path.name}.csv").unlink(missing_ok=True)


def _land(run: JobRun, file: DroppedFile, shop_id: str) -> None:
    """Have a file imported that waited for another day."""
    state, told = LANDED, file.told
    if not land_dropped(settings.IMPORT_DIR.get(), shop_id, file.stored, told["place"]):
        state, told = REFUSED, {"reason": "it is no longer in the landing folder; drop it again"}
    dropped_files.tell(run.connection, file, state, told, file.stored, now_micros())
