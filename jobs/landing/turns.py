"""Which landed file is imported next: shops take turns, so that no shop's files keep those of others waiting.

A file is complete when its size and time stay the same between two looks at the folder.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from jobs.landing.folder import LandedFile, survey
from warehouse.domain.landing_names import is_dropped

# Also between two looks while files are imported: a look takes as long as some imports where many files wait.
_SETTLE_SECONDS: Final = 3.0
# Imports that are begun and not ended: each holds a chunk or two in memory. With so many, other files that
# members dropped wait; those of the collector and of pulls, which have bounds of their own, do not.
_MOST_UNFINISHED: Final = 4
# An unfinished import that waited for so long does not wait for others any more.
_PATIENCE_SECONDS: Final = 30.0
# Kinds that the rows of others refer to. Their files come before those of all shops.
_FIRST: Final = ("shops", "forms")
# Kinds whose files may come in any order. A row of the others replaces one that came before it.
_ANY_ORDER: Final = ("events", "orders")


def files_in_turns(root: Path, unfinished: Mapping[LandedFile, float]) -> Iterator[LandedFile]:
    """Each complete file, also of those that land meanwhile. One whose import is `unfinished` comes again;
    beside it is the reading of the stopwatch when its last turn ended. Waits some seconds where all are
    new."""
    waits: dict[LandedFile, float] = {}
    begun: set[LandedFile] = set()
    last_turns: dict[str, int] = {}
    turn = 0
    while True:
        ready = _look(root, waits, begun, unfinished)
        if waits and not ready:
            time.sleep(_SETTLE_SECONDS)
            ready = _look(root, waits, begun, unfinished)
        if not ready:
            return
        looked_at = time.monotonic()
        for file in _in_turns(ready, last_turns, unfinished):
            turn += 1
            begun.add(file)
            last_turns[file.place.shop_id] = turn
            yield file
            if time.monotonic() - looked_at >= _SETTLE_SECONDS:
                break


def _look(
    root: Path,
    waits: dict[LandedFile, float],
    begun: Collection[LandedFile],
    unfinished: Mapping[LandedFile, float],
) -> list[LandedFile]:
    """Look for files to begin or to go on with: those that have been the same for some seconds. Brings
    `waits` up to date: since when each file has been as it is. An unfinished file that is gone or changed
    comes too: its import ends by itself."""
    now = time.monotonic()
    found = survey(root).files
    since = {file: waits.get(file, now) for file in found if file not in begun}
    waits.clear()
    waits.update(since)
    is_full = len(unfinished) >= _MOST_UNFINISHED
    held_up = {(file.place.shop_id, file.place.kind) for file in unfinished}
    new = [
        file
        for file, first in since.items()
        if now - first >= _SETTLE_SECONDS
        and not (is_full and is_dropped(file.path.name))
        and (file.place.kind in _ANY_ORDER or (file.place.shop_id, file.place.kind) not in held_up)
    ]
    return [*unfinished, *new]


def _in_turns(
    files: list[LandedFile],
    last_turns: Mapping[str, int],
    unfinished: Mapping[LandedFile, float],
) -> list[LandedFile]:
    """The files in the order of their imports. `files` are sorted by kind, and those of each shop stay so.
    The shop comes first whose last turn is longest ago. Files outside of shops' folders are as one shop's.
    Unfinished files come after those of all shops, but for one that has waited long."""
    earlier: Counter[str] = Counter()
    turns: list[tuple[int, int, int]] = []
    now = time.monotonic()
    for file in files:
        shop_id, kind = file.place.shop_id, file.place.kind
        rank = len(_FIRST)
        if file in unfinished:
            rank += now - unfinished[file] < _PATIENCE_SECONDS
        elif kind in _FIRST:
            rank = _FIRST.index(kind)
        turns.append((rank, earlier[shop_id], last_turns.get(shop_id, 0)))
        earlier[shop_id] += rank == len(_FIRST)
    return [file for _, file in sorted(zip(turns, files, strict=True), key=lambda pair: pair[0])]
