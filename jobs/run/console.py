"""The output of commands: results, messages and progress bars."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import click

from warehouse.domain.time import iso_millis, now_micros

# Shorter work needs no progress bar.
_BAR_AFTER_SECONDS: Final = 1.0
# From this total on, a bar counts in thousands (k) or millions (M).
_SCALE_FROM: Final = 10_000

_log_name = ""


def log_as(name: str) -> None:
    """From here on each line is a JSON object with the time, the job of this name and the message: a log, as
    the API's. "" ends that."""
    global _log_name
    _log_name = name


def say(message: str) -> None:
    """Print a message to standard error."""
    click.echo(_stamped(message), err=True)


def report(message: str) -> None:
    """Print a line of the command's result to standard output."""
    click.echo(_stamped(message))


def _stamped(message: str) -> str:
    if not _log_name:
        return printable(message)
    return json_line({"time": iso_millis(now_micros()), "job": _log_name, "message": message})


def printable(text: str) -> str:
    """A text with what commands a terminal, or would not show on it, as escapes such as `\\x1b`. Names of
    files and rejected rows come from anyone."""
    return _escaped(text, lambda char: char.encode("unicode_escape").decode())


def json_line(value: Any) -> str:
    """A value as JSON, as `printable_json`."""
    return printable_json(json.dumps(value, ensure_ascii=False))


def printable_json(text: str) -> str:
    """JSON in which such characters are JSON's own escapes, so that a program reads the exact value."""
    return _escaped(text, lambda char: json.dumps(char)[1:-1])


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else escape(char) for char in text)


def waiting_line() -> Callable[[str], None]:
    """A function that says, once for each holder of a lock ("host:pid", or ""), that this process
    waits for it."""
    holders: set[str] = set()

    def waiting(holder: str) -> None:
        if holder not in holders:
            holders.add(holder)
            say(f"waiting for another job ({holder or 'one that is writing'})")

    return waiting


class Bar:
    """A progress bar: `update` draws so much more of it."""

    def __init__(self, update: Callable[[float], object]) -> None:
        self._update, self._position = update, 0.0

    def advance(self, amount: float) -> None:
        self._position += amount
        self._update(amount)

    def move_to(self, position: float) -> None:
        self.advance(position - self._position)


@contextmanager
def bar(label: str, unit: str, total: int | None = None) -> Iterator[Bar]:
    """A progress bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield Bar(lambda _amount: None)
        return
    # Imported here: scheduled jobs show no bar, and tqdm imports multiprocessing.
    from tqdm import tqdm

    # tqdm draws nothing on a terminal that does not tell its size.
    columns, lines = shutil.get_terminal_size()
    with tqdm(
        desc=label,
        unit=unit,
        total=total,
        unit_scale=total is None or total >= _SCALE_FROM,
        delay=_BAR_AFTER_SECONDS,
        ncols=columns,
        nrows=lines,
    ) as drawn:
        yield Bar(drawn.update)
