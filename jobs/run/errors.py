"""The one place where an error becomes one line on standard error and an exit status.

0 is done and 2 wrong usage, as click has them.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from jobs.run.console import say
from jobs.run.signals import Stopped
from warehouse.setting_values import SettingError

FAILED: Final = 1
SOME_REJECTED: Final = 3
# Another process runs this job (EX_TEMPFAIL).
ALREADY_RUNNING: Final = 75


class CommandFailed(Exception):
    """The command cannot do its work, or not all of it. The message is for its user."""


class AlreadyRunning(Exception):
    """Another process holds the lease of this job."""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End the process with an exit status and one line, whatever the block raises."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except Stopped as stopped:
        say(f"{stopped}: finished batches are kept, and the next run continues from there")
        sys.exit(128 + stopped.signal)
    except AlreadyRunning as error:
        say(str(error))
        sys.exit(ALREADY_RUNNING)
    except Exception as error:
        say(f"Error: {explained(error)}")
        sys.exit(FAILED)


def explained(error: Exception) -> str:
    """An error in one line, for the user of a command."""
    # Imported here: the databases' drivers load pandas, which the help and a mistyped word do without.
    import adbc_driver_manager

    from warehouse.connections.errors import defect, is_outage, unanswered
    from warehouse.operations.imports import EventsPurged

    if isinstance(error, CommandFailed | SettingError | EventsPurged):
        return str(error)
    if is_outage(error):
        return unanswered(error)
    if isinstance(error, adbc_driver_manager.Error):
        return f"the warehouse refuses: {in_one_line(error)}"
    return defect(error)


def in_one_line(error: BaseException) -> str:
    """The text of an error; the database's own where SQLAlchemy has wrapped it."""
    from warehouse.connections.errors import without_password

    return without_password(" ".join(str(getattr(error, "orig", None) or error).split()))
