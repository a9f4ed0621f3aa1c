"""Errors in words: a sentence for people as it is, the machine's and the database's as what refuses, any
other as a defect; beside a batch, the type and the text."""

import click
import pytest

from jobs.run.errors import CommandFailed, blamed, explained
from warehouse.connections.errors import Unavailable
from warehouse.setting_values import SettingError

NO_SPACE = OSError(28, "No space left on device", "/var/landing")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (CommandFailed("no shop 'a'"), "no shop 'a'"),
        (SettingError("PORT='x': must be a number"), "PORT='x': must be a number"),
        (click.UsageError("no such kind"), "no such kind"),
        (SystemExit(3), "exit status 3"),
        (NO_SPACE, f"this machine refuses: {NO_SPACE}"),
        (MemoryError(), "this machine refuses: MemoryError"),
        (Unavailable("locked\nby another"), "the warehouse does not answer: locked by another"),
    ],
)
def test_why_a_command_ended(error: BaseException, line: str) -> None:
    assert explained(error) == line


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (CommandFailed("its process died (SIGKILL)"), "its process died (SIGKILL)"),
        (ValueError("no\nnumber"), "ValueError: no number"),
        (
            RuntimeError("postgresql://a:secret@host/db is gone"),
            "RuntimeError: postgresql://a:***@host/db is gone",
        ),
    ],
)
def test_what_a_batch_is_blamed_for(error: Exception, line: str) -> None:
    assert blamed(error) == line
