"""The work on tasks: a run takes them, one after the other, until none is left."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from jobs.run.console import say
from jobs.run.errors import explained
from jobs.run.job_run import JobRun
from jobs.run.signals import Stopped
from warehouse.connections.errors import is_outage
from warehouse.operations import tasks
from warehouse.operations.tasks import MAX_ATTEMPTS, Task

# Does a task; returns its result, or the `reason` why there is none. None leaves its rest to the next run.
Handler = Callable[[JobRun, Task], dict[str, Any] | None]

_GIVEN_UP: Final = f"{MAX_ATTEMPTS} processes ended while they worked at it"


def work(run: JobRun, handlers: Mapping[str, Handler]) -> bool:
    """Do the tasks of these kinds, that of the shop that has waited longest first. Returns whether none
    failed. One that fails, or ends its process, is left to the next run; after MAX_ATTEMPTS of these it is
    ended with its reason, and keeps nobody waiting. Raises Stopped after a signal."""
    connection, none_failed = run.connection, True
    while task := tasks.take(connection, run.record.run_id, handlers):
        result: dict[str, Any] | None = {"reason": _GIVEN_UP}
        try:
            if task.attempts <= MAX_ATTEMPTS:
                result = handlers[task.kind](run, task)
        except Stopped:
            connection.rollback()
            tasks.give_back(connection, task)
            raise
        except Exception as error:
            if is_outage(error):
                raise
            connection.rollback()
            say(
                f"the {task.kind} of {task.subject} of shop {task.shop_key} failed: {explained(error)}"
            )
            none_failed, is_last = False, task.attempts == MAX_ATTEMPTS
            result = (
                {"reason": f"it could not be done ({type(error).__name__})"} if is_last else None
            )
        if result is not None:
            tasks.end(connection, task, result)
        run.raise_if_stopped()
    return none_failed
