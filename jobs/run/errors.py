"""The one place where errors are put into words for people, and become exit statuses.

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


class Told(Exception):
    """An error with a message for people, which is told as it is."""


class CommandFailed(Told):
    """The command cannot do its work, or not all of it."""


class AlreadyRunning(Told):
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


def explained(error: BaseException) -> str:
    """Why a command ended, in one line for its user, and for the record of its run."""
    # Imported here: the databases' drivers load pandas, which the help and a mistyped word do without.
    import adbc_driver_manager

    from warehouse.connections.errors import defect, in_one_line, is_outage, unanswered

    if isinstance(error, SystemExit):
        return f"exit status {error.code}"
    if _is_told(error) or isinstance(error, click.ClickException):
        return str(error)
    if isinstance(error, OSError | MemoryError):
        return f"this machine refuses: {in_one_line(error)}"
    if is_outage(error):
        return unanswered(error)
    if isinstance(error, adbc_driver_manager.Error):
        return f"the warehouse refuses: {in_one_line(error)}"
    return defect(error)


def blamed(error: BaseException) -> str:
    """Why a batch, a file or a worker failed, in one line beside its name: what it is not blamed for ends the
    command, or is told by `explained`."""
    from warehouse.connections.errors import with_type

    return str(error) if _is_told(error) else with_type(error)


def _is_told(error: BaseException) -> bool:
    from warehouse.intake.imports import EventsPurged

    return isinstance(error, Told | SettingError | EventsPurged)
