"""Whose a file is, and how it gets to `done/` or `failed/`, whatever dies on the way.

A file in hand lies in a folder of its own, `.taken/<tries>-<token>/`, into which a rename has brought it: of
two that want it, one gets it. A folder whose process is gone is taken over by renaming it, again
atomically; who was slow, and not dead, then finds its folder gone, and lets the file be. Only the
holder of the job's lease takes over.

Once imported, the report is written into the folder, and only then is the file moved. So from what
lies in the folder one can tell how far it came:

    the file alone              not imported, or not whole: import it (again: that changes nothing)
    the file and the report     imported: move it; where it is linked to its new place already, unlink
    the report alone            moved: bring the report beside it
"""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from jobs.landing.folder import REPORT, TAKEN, Found, Place, in_hand
from warehouse.owners import me


class TakenOver(RuntimeError):
    """Another process has taken the file over."""


@dataclass(frozen=True)
class Claim:
    """A file in hand: the place where it landed, and the folder in which it lies."""

    place: Place
    folder: Path

    @property
    def landing(self) -> Path:
        """The folder in which it landed."""
        return self.folder.parent.parent

    @property
    def file(self) -> Path | None:
        """The file; None where it has been moved already."""
        files = [path for path in self.folder.iterdir() if not path.name.startswith(".")]
        return files[0] if files else None

    @property
    def tries(self) -> int:
        """How many processes have had it in hand, this one among them."""
        return _tries(self.folder)

    @property
    def report(self) -> Path:
        return self.folder / REPORT


def claim(found: Found) -> Claim | None:
    """Take a file in hand; None where it is gone."""
    folder = found.path.parent / TAKEN / _token(1)
    folder.mkdir(parents=True)
    try:
        found.path.rename(folder / found.path.name)
    except FileNotFoundError:
        folder.rmdir()
        return None
    return Claim(found.place, folder)


def take_over(root: Path) -> Iterator[Claim]:
    """What those before have left. To be called by the holder of the job's lease."""
    for left in in_hand(root):
        place = Place(*left.parent.parent.relative_to(root).parts)
        folder = left.with_name(_token(_tries(left) + 1))
        with suppress(FileNotFoundError):
            left.rename(folder)
            yield Claim(place, folder)


def _token(tries: int) -> str:
    return f"{tries}-{me().replace(':', '-')}-{secrets.token_hex(4)}"


def _tries(folder: Path) -> int:
    return int(folder.name.partition("-")[0])


def finish(claim: Claim, outcome: str, report: dict[str, Any]) -> None:
    """Move an imported file to the folder `outcome` (`done` or `failed`), its report beside it.

    Raises TakenOver where another process has taken it over.
    """
    try:
        _write(claim, {"outcome": outcome, "name": "", **report})
        move(claim)
    except FileNotFoundError:
        raise TakenOver from None


def move(claim: Claim) -> None:
    """Bring what is in hand, and has its report, to where that says; from any point on the way."""
    report = json.loads(claim.report.read_text())
    target = claim.landing / report["outcome"]
    target.mkdir(exist_ok=True)
    file = claim.file
    if file is not None:
        for name in _names(file.name):
            place = target / name
            if not _is_same(file, place) and place.with_name(name + REPORT).exists():
                continue
            _write(claim, report | {"name": name})
            if _put(file, place):
                report["name"] = name
                break
    claim.report.replace(target / (report["name"] + REPORT))
    _new(claim).unlink(missing_ok=True)
    claim.folder.rmdir()


def _names(name: str) -> Iterator[str]:
    """`a.csv.gz`, `a-2.csv.gz`, `a-3.csv.gz`, ..."""
    yield name
    stem, dot, ending = name.partition(".")
    for number in count(2):
        yield f"{stem}-{number}{dot}{ending}"


def _put(file: Path, place: Path) -> bool:
    """Move a file to a place that nothing has; False where something has it."""
    if not _is_same(file, place):
        try:
            # A link, unlike a rename, never overwrites.
            os.link(file, place)
        except FileExistsError:
            return False
        except OSError:
            # No links here, or not to a file of another user: the next best.
            if os.path.lexists(place):
                return False
            file.rename(place)
            return True
    file.unlink()
    return True


def _is_same(file: Path, place: Path) -> bool:
    try:
        return file.samefile(place)
    except FileNotFoundError:
        return False


def _new(claim: Claim) -> Path:
    return claim.folder / ".new"


def _write(claim: Claim, report: dict[str, Any]) -> None:
    """Write the report whole or not at all."""
    new = _new(claim)
    with new.open("w") as stream:
        json.dump(report, stream, indent=2)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(claim.report)
