"""Lines into the landing folder: a request goes on when its lines are on disk.

One thread of each process writes. It takes all lines that wait, writes those of each shop with one call,
and syncs each file once: the requests that arrive meanwhile wait for the next turn together. So the disk's
speed bounds the turns, not the requests.

Lines that cannot be written are taken back, and their requests are refused. Their file is finished and the
next one begins: after a failed sync, nobody knows what of the file is on disk.
"""

import os
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import Final, NamedTuple

from web.collector.landing_files import LandingFile, take_up

FINISH_SECONDS: Final = 10.0
FINISH_BYTES: Final = 64 * 1024 * 1024
MAX_OPEN_FILES: Final = 256


class NotWritten(Exception):
    """The lines are not on disk, and not in any file. The message says why."""


class _Waiting(NamedTuple):
    shop_id: str
    lines: bytes
    written: "Future[None]"


class _OpenFile(NamedTuple):
    file: LandingFile
    since: float


class LandingWriter:
    """One per process, until `close()`. `on_open_files` gets the number of open files when it changes,
    and `on_trouble` a sentence when writing begins to fail."""

    def __init__(
        self,
        root: Path,
        *,
        finish_seconds: float = FINISH_SECONDS,
        finish_bytes: int = FINISH_BYTES,
        max_open_files: int = MAX_OPEN_FILES,
        on_open_files: Callable[[int], None] = lambda _number: None,
        on_trouble: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        self._root = root
        self._finish_seconds, self._finish_bytes = finish_seconds, finish_bytes
        self._max_open_files = max_open_files
        self._on_open_files, self._on_trouble = on_open_files, on_trouble
        self._changed = Condition()
        self._waiting: list[_Waiting] = []
        self._ends = False
        # By shop, the oldest first.
        self._open: dict[str, _OpenFile] = {}
        # Closed to lines, and not yet under their own names.
        self._leaving: list[LandingFile] = []
        self._is_failing = False
        self._thread = Thread(target=self._run, name="landing-writer", daemon=True)
        self._thread.start()

    def append(self, shop_id: str, lines: bytes) -> None:
        """Return when the lines, each with its line end, are on disk. Raises NotWritten."""
        waiting = _Waiting(shop_id, lines, Future())
        with self._changed:
            if self._ends:
                raise NotWritten("the collector is being stopped")
            self._waiting.append(waiting)
            self._changed.notify()
        waiting.written.result()

    def close(self) -> None:
        """Write what waits, and give all files their own names."""
        with self._changed:
            self._ends = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        try:
            take_up(self._root)
        except OSError as error:
            self._tell(error)
        ends = False
        while not ends:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ends, self._until_next())
                batch, self._waiting = self._waiting, []
                ends = self._ends
            self._write(batch)
            self._finish_due(all_files=ends)

    def _until_next(self) -> float | None:
        """Seconds until a file is due; None without one."""
        if self._leaving:
            return 1.0
        first = next(iter(self._open.values()), None)
        return first and max(first.since + self._finish_seconds - time.monotonic(), 0.0)

    def _write(self, batch: list[_Waiting]) -> None:
        by_shop: dict[str, list[_Waiting]] = defaultdict(list)
        for waiting in batch:
            by_shop[waiting.shop_id].append(waiting)
        written: list[str] = []
        for shop_id, group in by_shop.items():
            try:
                self._file(shop_id).write(b"".join(waiting.lines for waiting in group))
                written.append(shop_id)
            except Exception as error:
                self._refuse(shop_id, group, error)
        for shop_id in written:
            group = by_shop[shop_id]
            try:
                self._open[shop_id].file.commit()
            except Exception as error:
                self._refuse(shop_id, group, error)
                continue
            self._is_failing = False
            for waiting in group:
                waiting.written.set_result(None)

    def _file(self, shop_id: str) -> LandingFile:
        if shop_id not in self._open:
            self._open[shop_id] = _OpenFile(LandingFile(self._root, shop_id), time.monotonic())
            self._on_open_files(len(self._open))
        return self._open[shop_id].file

    def _refuse(self, shop_id: str, group: list[_Waiting], error: Exception) -> None:
        """Take the lines back, and close the file to lines."""
        if shop_id in self._open:
            file = self._open[shop_id].file
            # Where even this fails, the lines may come twice: the import skips what it has.
            with suppress(OSError):
                file.withdraw()
            self._leave(shop_id)
        self._tell(error)
        for waiting in group:
            waiting.written.set_exception(NotWritten(_reason(error)))

    def _finish_due(self, *, all_files: bool) -> None:
        """Finish the files that are old or large, and the oldest ones of too many."""
        now = time.monotonic()
        surplus = len(self._open) - self._max_open_files
        for index, (shop_id, opened) in enumerate(list(self._open.items())):
            is_due = now - opened.since >= self._finish_seconds
            is_large = opened.file.size >= self._finish_bytes
            if all_files or is_due or is_large or index < surplus:
                self._leave(shop_id)
        still: list[LandingFile] = []
        for file in self._leaving:
            try:
                file.finish()
            except OSError as error:
                self._tell(error)
                still.append(file)
        self._leaving = still

    def _leave(self, shop_id: str) -> None:
        self._leaving.append(self._open.pop(shop_id).file)
        self._on_open_files(len(self._open))

    def _tell(self, error: Exception) -> None:
        if not self._is_failing:
            self._is_failing = True
            self._on_trouble(
                f"The landing folder {self._root} cannot be written: {_reason(error)}."
            )


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else f"{type(error).__name__}"
