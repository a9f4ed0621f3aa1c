"""Lines into the landing folder: a request goes on when its lines are on disk.

One thread of each process writes, into one file for all shops. It takes all lines that wait, writes them with
one call, and syncs the file once: the requests that arrive meanwhile wait for the next turn together. So the
disk's speed bounds the turns, not the requests.

An import has a price that does not depend on its rows, so a file grows for a minute. It is finished sooner
where a form sends its first events in an hour: somebody may be waiting for them, at the Set up page.

Lines that cannot be written are taken back, and their requests are refused. Their file is finished and the
next one begins: after a failed sync, nobody knows what of the file is on disk.
"""

import os
import time
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import Final, NamedTuple

from web.collector.landing_files import LandingFile, take_up
from web.http.request_log import Trouble

FINISH_SECONDS: Final = 60.0
FINISH_BYTES: Final = 64 * 1024 * 1024
# A file is finished sooner if a form sends events that has sent none for so long.
NEWS_FINISH_SECONDS: Final = 5.0
_FORGET_SECONDS: Final = 3_600.0
# Strangers can name any number of forms.
_REMEMBERED_FORMS: Final = 100_000


class NotWritten(Exception):
    """The lines are not on disk, and not in any file. The message says why."""


class _Waiting(NamedTuple):
    lines: bytes
    forms: Iterable[int]
    written: "Future[None]"


class LandingWriter:
    """A thread that writes calls into the landing folder until `close()`. A process has one."""

    def __init__(
        self,
        root: Path,
        *,
        finish_seconds: float = FINISH_SECONDS,
        finish_bytes: int = FINISH_BYTES,
        news_finish_seconds: float = NEWS_FINISH_SECONDS,
    ) -> None:
        self._root = root
        self._finish_seconds, self._finish_bytes = finish_seconds, finish_bytes
        self._news_finish_seconds = news_finish_seconds
        self._trouble = Trouble()
        self._changed = Condition()
        self._waiting: list[_Waiting] = []
        self._ends = False
        self._file: LandingFile | None = None
        # When it has to be finished.
        self._due_at = 0.0
        # Closed to lines, and not yet under their own names.
        self._leaving: list[LandingFile] = []
        # When each form last sent, the latest last.
        self._forms: dict[int, float] = {}
        self._thread = Thread(target=self._run, name="landing-writer", daemon=True)
        self._thread.start()

    def append(self, lines: bytes, forms: Iterable[int] = ()) -> None:
        """Return when the lines, each with its line end, are on disk. `forms`: a number for each form of a
        shop that they name. Raises NotWritten."""
        waiting = _Waiting(lines, forms, Future())
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
                # Seconds until a file is due; None without one.
                due = max(self._due_at - time.monotonic(), 0.0) if self._file else None
                until_next = 1.0 if self._leaving else due
                self._changed.wait_for(lambda: self._waiting or self._ends, until_next)
                batch, self._waiting = self._waiting, []
                ends = self._ends
            if batch:
                self._write(batch)
            if self._file:
                is_large = self._file.size >= self._finish_bytes
                if ends or is_large or time.monotonic() >= self._due_at:
                    self._leave(self._file)
            # Also those that could not be finished before.
            for file in list(self._leaving):
                try:
                    file.finish()
                    self._leaving.remove(file)
                except OSError as error:
                    self._tell(error)

    def _write(self, batch: list[_Waiting]) -> None:
        try:
            if self._file is None:
                self._file = LandingFile(self._root)
                self._due_at = time.monotonic() + self._finish_seconds
            self._file.write(b"".join(waiting.lines for waiting in batch))
            self._file.commit()
        except Exception as error:
            if self._file:
                # Where even this fails, the lines may come twice: the import skips what it has.
                with suppress(OSError):
                    self._file.withdraw()
                self._leave(self._file)
            self._tell(error)
            for waiting in batch:
                waiting.written.set_exception(NotWritten(_reason(error)))
            return
        self._trouble.ends()
        for waiting in batch:
            waiting.written.set_result(None)
        # The file is due sooner if a form has sent that has sent none for long.
        now = time.monotonic()
        for form in {form for waiting in batch for form in waiting.forms}:
            sent_at = self._forms.pop(form, None)
            if sent_at is None or sent_at < now - _FORGET_SECONDS:
                self._due_at = min(self._due_at, now + self._news_finish_seconds)
            self._forms[form] = now
        while len(self._forms) > _REMEMBERED_FORMS:
            del self._forms[next(iter(self._forms))]

    def _leave(self, file: LandingFile) -> None:
        self._leaving.append(file)
        self._file = None

    def _tell(self, error: Exception) -> None:
        self._trouble.begins(
            f"The landing folder {self._root} cannot be written: {_reason(error)}."
        )


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else f"{type(error).__name__}"
