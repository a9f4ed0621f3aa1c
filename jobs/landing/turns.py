"""Which landed file is imported next: shops take turns, so that no shop's files keep those of others waiting.

A file is complete when its size and time stay the same between two looks at the folder.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from jobs.landing.folder import LandedFile, survey

# Also between two looks while files are imported: a look takes as long as some imports where many files wait.
_SETTLE_SECONDS: Final = 3.0
# Kinds that the rows of others refer to. Their files come before those of all shops.
_FIRST: Final = ("shops", "forms")


def complete_files(root: Path) -> Iterator[LandedFile]:
    """Each complete file, once, also of those that land meanwhile. Waits some seconds where all are new."""
    waits: dict[LandedFile, float] = {}
    begun: set[LandedFile] = set()
    last_turns: dict[str, int] = {}
    while ready := _settled(root, waits, begun):
        looked_at = time.monotonic()
        for file in _in_turns(ready, last_turns):
            begun.add(file)
            last_turns[file.place.shop_id] = len(begun)
            yield file
            if time.monotonic() - looked_at >= _SETTLE_SECONDS:
                break


def _settled(
    root: Path, waits: dict[LandedFile, float], begun: Collection[LandedFile]
) -> list[LandedFile]:
    """The files not yet begun that have been the same for some seconds."""
    ready = _look(root, waits, begun)
    if waits and not ready:
        time.sleep(_SETTLE_SECONDS)
        ready = _look(root, waits, begun)
    return ready


def _look(
    root: Path, waits: dict[LandedFile, float], begun: Collection[LandedFile]
) -> list[LandedFile]:
    """The same by one look, which brings up to date since when each file has been as it is (`waits`)."""
    now = time.monotonic()
    since = {file: waits.get(file, now) for file in survey(root).files if file not in begun}
    waits.clear()
    waits.update(since)
    return [file for file, first in since.items() if now - first >= _SETTLE_SECONDS]


def _in_turns(files: list[LandedFile], last_turns: Mapping[str, int]) -> list[LandedFile]:
    """The files in the order of their imports. `files` are sorted by kind, and those of each shop stay so.
    The shop comes first whose last turn is longest ago. Files outside of shops' folders are as one shop's."""
    earlier: Counter[str] = Counter()
    turns: list[tuple[int, int, int]] = []
    for file in files:
        shop_id, kind = file.place.shop_id, file.place.kind
        rank = _FIRST.index(kind) if kind in _FIRST else len(_FIRST)
        turns.append((rank, earlier[shop_id], last_turns.get(shop_id, 0)))
        earlier[shop_id] += rank == len(_FIRST)
    return [file for _, file in sorted(zip(turns, files, strict=True), key=lambda pair: pair[0])]
