"""Findings that only a process of the host can see: files in the landing folder, its disks, and the log of
SQLite.

A scheduler records them with its heartbeat, so that the API and other hosts tell them too.
"""

import shutil
from pathlib import Path
from typing import Final

from jobs.landing import folder
from jobs.landing.held_file import report_name
from warehouse import settings
from warehouse.connections.arrow import ArrowConnection
from warehouse.operations.conditions import DISK_LOW, FAILED_FILES, LEFT_ALONE, LOG_KEPT

LEAST_FREE_PERCENT: Final = 10
# A reader of seconds, beside a large import, keeps less.
MOST_LOG_BYTES: Final = 64_000_000


def find(root: Path, survey: folder.Survey, connection: ArrowConnection) -> list[tuple[str, str]]:
    """Conditions and their messages: of the landing folder `root`, of which this is the survey, of the
    disks of the folder, of the backups, and of the warehouse's file, and of its write-ahead log. Commits."""
    found = [
        (
            FAILED_FILES,
            f"{path} could not be imported; {path.with_name(report_name(path.name))} says why. Correct the "
            f"file and move it back to {path.parent.parent}, or delete it",
        )
        for path in folder.failed(root, survey.places)
    ]
    for left in survey.left_alone:
        advice = "Take it away, or make it a plain file or folder that the service can read"
        found.append((LEFT_ALONE, f"left alone: {left}. {advice}"))
    places = [root, settings.BACKUP_DIR.get()]
    if connection.file:
        places.append(Path(connection.file).parent)
        log = Path(f"{connection.file}-wal")
        is_long = log.exists() and log.stat().st_size >= MOST_LOG_BYTES
        if is_long and (kept := connection.kept_in_log()) >= MOST_LOG_BYTES:
            message = (
                f"{log} has {kept / 1e6:,.0f} MB that a reader keeps from being taken into "
                f"{connection.file}: it grows with each import, and answers become slower. A backup or a "
                "verify that runs ends by itself. Else find the program that reads the file in one long "
                "transaction (`fuser -v FILE` names it), such as a notebook or the shell of SQLite, and end "
                "it"
            )
            found.append((LOG_KEPT, message))
    disks = {place.stat().st_dev: place for place in reversed(places) if place.exists()}
    for place in disks.values():
        disk = shutil.disk_usage(place)
        if disk.free * 100 < disk.total * LEAST_FREE_PERCENT:
            message = (
                f"the disk of {place} has {disk.free * 100 // disk.total} % free "
                f"({disk.free / 1e9:,.1f} of {disk.total / 1e9:,.1f} GB). Free some space, or move to a "
                "larger disk, before imports wait for it"
            )
            found.append((DISK_LOW, message))
    return found
