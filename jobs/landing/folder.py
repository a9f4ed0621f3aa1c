"""The landing folder: KIND/, KIND/FORMAT/ and KIND/FORMAT/SHOP/, each with `done/` and `failed/`. Rows of
this program that are of one shop alone lie in KIND/own/SHOP/.

Accounts that the service does not trust may write there. So no link is followed: each folder is opened
from the one above it, and only a plain file in a plain folder is a landed file. Anything else is left
alone and named, and does not keep the others from being found.

A file may be complete when its name does not say otherwise: it begins with a dot, or has an ending that
programs give to unfinished files.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from jobs.importing.formats import FORMATS
from jobs.importing.kinds import KINDS
from jobs.importing.shops import SHOP_ID
from warehouse.domain.landing_names import DONE, FAILED, OWN, REPORT, is_aside, is_service_file
from warehouse.intake.landing_folders import open_folder, open_inner

_UNFINISHED: Final = (".part", ".tmp", ".crdownload")
_DAY_SECONDS: Final = 86_400


@dataclass(frozen=True)
class LandingPlace:
    """A folder in which files land; its path says what they are. "" stands for a level that it lacks."""

    kind: str
    format: str = ""
    shop_id: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the folders from the landing folder to this one."""
        return tuple(filter(None, (self.kind, self.format, self.shop_id)))

    def under(self, root: Path) -> Path:
        return root.joinpath(*self.parts)

    def inner(self, name: str) -> "LandingPlace | None":
        """The place that a folder of this name in it is; None if files do not land there."""
        if self.shop_id:
            return None
        if self.format:
            return LandingPlace(self.kind, self.format, name)
        inner = LandingPlace(self.kind, name)
        return inner if inner in _PLACES else None


_PLACES: Final = [
    place
    for kind in KINDS
    for place in (
        LandingPlace(kind),
        *(LandingPlace(kind, format.name) for format in FORMATS.values() if format.kind == kind),
        *([LandingPlace(kind, OWN)] if SHOP_ID in KINDS[kind].fields else []),
    )
]


@dataclass(frozen=True)
class LandedFile:
    """A file that may be complete. `landed_at`: when it got its name or its content, in microseconds; a
    file that was moved here may be much older."""

    place: LandingPlace
    path: Path
    size: int
    modified: int
    inode: int
    landed_at: int = field(compare=False, default=0)

    @property
    def claim(self) -> str:
        """The text by which a run says that it imports this file, in this state: another file of the
        name has another claim. The name in it is for people, and may be cut."""
        return f"{self.inode}-{self.size}-{self.modified} {self.path.name!a}"[:200]


@dataclass
class Survey:
    """The content of the landing folder. `left_alone`: paths that are not imported, with the reason."""

    files: list[LandedFile] = field(default_factory=list)
    left_alone: list[str] = field(default_factory=list)
    places: list[LandingPlace] = field(default_factory=list)


def make(root: Path) -> None:
    """Make the folders of the kinds and formats, so that people find them."""
    root.mkdir(parents=True, exist_ok=True)
    for place in _PLACES:
        *above, name = place.parts
        # It is there, or something is in its place that `survey` names.
        with suppress(OSError), open_folder(root, *above) as folder:
            os.mkdir(name, dir_fd=folder)


def survey(root: Path) -> Survey:
    """Look at everything in the landing folder. Files are sorted by kind (in the order of `KINDS`), then the
    oldest first, then by name."""
    found = Survey()
    with suppress(FileNotFoundError), _named(found, root), open_folder(root) as folder:
        for name, status in _entries(folder):
            if name not in KINDS:
                reason = f"not a kind of file (the kinds are {', '.join(KINDS)})"
            elif not stat.S_ISDIR(status.st_mode):
                reason = "a link or a file, not a folder, so that nothing in it is imported"
            else:
                _visit(found, root, LandingPlace(name), folder)
                continue
            found.left_alone.append(f"{root / name}: {reason}")
    order = list(KINDS)
    found.files.sort(key=lambda file: (order.index(file.place.kind), file.modified, file.path))
    found.left_alone.sort()
    return found


def failed(root: Path, places: list[LandingPlace]) -> list[Path]:
    """The files in the `failed/` of these places."""
    found: list[Path] = []
    for place in places:
        with suppress(OSError), open_folder(root, *place.parts, FAILED) as folder:
            found += [place.under(root) / FAILED / name for name, _ in _entries(folder)]
    return sorted(path for path in found if not path.name.endswith(REPORT))


def purge_own(root: Path, now: float, days: int) -> int:
    """Delete the files in `done/` that the service itself has put there, and their reports, that were written
    more than these days before `now` (in seconds); and what killed pulls left aside, after a day. Returns how
    many. All other files are somebody's own."""
    deleted = 0
    for place in survey(root).places:
        for end, is_own, kept_days in (((), is_aside, 1), ((DONE,), is_service_file, days)):
            with suppress(OSError), open_folder(root, *place.parts, *end) as folder:
                for name in filter(is_own, os.listdir(folder)):
                    with suppress(FileNotFoundError):
                        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                        is_old = status.st_mtime < now - kept_days * _DAY_SECONDS
                        if is_old and stat.S_ISREG(status.st_mode):
                            os.unlink(name, dir_fd=folder)
                            deleted += 1
    return deleted


def _visit(found: Survey, root: Path, place: LandingPlace, above: int) -> None:
    """Add what lies in a place, and in the places inside; `above` is the folder in which it is."""
    path, files, ends_open = place.under(root), [], True
    with suppress(FileNotFoundError), _named(found, path), open_inner(above, path.name) as folder:
        found.places.append(place)
        for name, status in _entries(folder):
            is_folder, reason = stat.S_ISDIR(status.st_mode), ""
            if name in (DONE, FAILED):
                if not is_folder:
                    ends_open = False
                    reason = f"not a folder; nothing in {path} is imported before it is one"
            elif is_folder and (inner := place.inner(name)):
                _visit(found, root, inner, folder)
            elif not stat.S_ISREG(status.st_mode):
                reason = "symlinks and folders are not imported, nor is anything else that is no plain file"
            elif status.st_nlink > 1:
                reason = "hard links are not imported; copy the file instead"
            elif name.endswith(REPORT):
                reason = "a report, not a file to import; delete it"
            elif not name.lower().endswith(_UNFINISHED):
                file = path / name
                size, modified = status.st_size, status.st_mtime_ns
                landed_at = status.st_ctime_ns // 1000
                files.append(LandedFile(place, file, size, modified, status.st_ino, landed_at))
            if reason:
                found.left_alone.append(f"{path / name}: {reason}")
    if ends_open:
        found.files += files


def _entries(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    """The entries of an open folder whose names do not begin with a dot. Links are not followed."""
    for name in os.listdir(folder):
        if not name.startswith("."):
            # It may have been moved just now.
            with suppress(FileNotFoundError):
                yield name, os.stat(name, dir_fd=folder, follow_symlinks=False)


@contextmanager
def _named(found: Survey, path: Path) -> Iterator[None]:
    """Note a folder that cannot be read as left alone. Raises FileNotFoundError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        found.left_alone.append(f"{path}: {error.strerror}")
