"""What lies in the landing folder: a folder for each kind, in it one for each format of another
system, in that one for each shop that has files in it; each with `done/` and `failed/` of its own.

A file is complete when its name does not say otherwise (a dot in front, or one of the endings that
programs give to what they have not finished) and its size and time stay the same between two looks.
"""

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jobs.importing.formats import FORMATS

DONE: Final = "done"
FAILED: Final = "failed"
# Files that a process has in hand, each in a folder of its own.
TAKEN: Final = ".taken"
REPORT: Final = ".report.json"

# What others refer to comes first.
ORDER: Final = (
    "shops",
    "forms",
    "exchange-rates",
    "ad-accounts",
    "ad-spend",
    "events",
    "orders",
)
_UNFINISHED: Final = (".part", ".tmp", ".crdownload")
_SETTLE_SECONDS: Final = 3.0


@dataclass(frozen=True)
class Place:
    """A folder in which files land: what they are, as its path says. "" is not said."""

    kind: str
    format: str = ""
    shop_id: str = ""

    def under(self, root: Path) -> Path:
        return root / self.kind / self.format / self.shop_id


_PLACES: Final = [
    place
    for kind in ORDER
    for place in (
        Place(kind),
        *(Place(kind, format.name) for format in FORMATS.values() if format.kind == kind),
    )
]


@dataclass(frozen=True)
class Found:
    """A file that may be complete."""

    place: Place
    path: Path
    size: int
    modified: int


def make(root: Path) -> None:
    """Make the folders of the kinds and formats, so that they are there to be found."""
    for place in _PLACES:
        place.under(root).mkdir(parents=True, exist_ok=True)


def places(root: Path) -> list[Place]:
    """All places in which files can lie, by kind (`ORDER`)."""
    found = []
    for place in _PLACES:
        found.append(place)
        if place.format:
            shops = sorted(path.name for path, _ in _folders(place.under(root)))
            found += [Place(place.kind, place.format, shop_id) for shop_id in shops]
    return found


def look(root: Path) -> list[Found]:
    """Files that may be complete: by kind (`ORDER`), then the oldest first, then by name."""
    found = [
        Found(place, path, status.st_size, status.st_mtime_ns)
        for place in places(root)
        for path, status in _entries(place.under(root))
        if stat.S_ISREG(status.st_mode) and not path.name.lower().endswith(_UNFINISHED)
    ]
    return sorted(found, key=lambda one: (ORDER.index(one.place.kind), one.modified, one.path))


def settled(root: Path) -> list[Found]:
    """The files that stay the same for some seconds, which this takes where there are any."""
    before = set(look(root))
    if not before:
        return []
    time.sleep(_SETTLE_SECONDS)
    return [found for found in look(root) if found in before]


def in_hand(root: Path) -> list[Path]:
    """The folders of the files that a process has in hand, or had when it died."""
    return sorted(path for place in places(root) for path in _listed(place.under(root) / TAKEN))


def failed(root: Path) -> list[Path]:
    """Files that could not be read, and lie in `failed/` still."""
    return sorted(
        path
        for place in places(root)
        for path, _ in _entries(place.under(root) / FAILED)
        if not path.name.endswith(REPORT)
    )


def strays(root: Path) -> list[str]:
    """What is left alone, and why."""
    kinds = [
        f"{path}: no kind of file (there are {', '.join(ORDER)})"
        for path, _ in _entries(root)
        if path.name not in ORDER
    ]
    known = {place.under(root) for place in places(root)}
    inside = [
        f"{path}: neither a symlink nor a folder is imported"
        for place in known
        for path, status in _entries(place)
        if not stat.S_ISREG(status.st_mode)
        and path.name not in (DONE, FAILED)
        and path not in known
    ]
    return sorted(kinds + inside)


def _folders(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path, status in _entries(folder):
        if stat.S_ISDIR(status.st_mode) and path.name not in (DONE, FAILED):
            yield path, status


def _entries(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """What lies in a folder and has no dot in front, symlinks as themselves."""
    for path in _listed(folder):
        if not path.name.startswith("."):
            try:
                yield path, path.lstat()
            except FileNotFoundError:  # it was moved just now
                continue


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
