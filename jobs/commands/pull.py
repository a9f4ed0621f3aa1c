"""`pull`: fetch orders, spend or rates into the landing folder."""

from jobs.pulls import set_up
from jobs.pulls.run_pull import run_pull
from jobs.run.console import say
from jobs.run.errors import AlreadyRunning, CommandFailed
from jobs.run.job_run import open_warehouse


def pull_command(source: str, shop: str | None, name: str | None, scheduled_as: str | None) -> None:
    with open_warehouse() as connection:
        names = [name] if name else set_up.ensure_pulls(connection, source, shop)
    failures = []
    for each in names:
        try:
            run_pull(each, scheduled_as)
        except (CommandFailed, AlreadyRunning) as error:
            if len(names) == 1:
                raise
            say(f"{each}: {error}")
            failures.append(each)
    if failures:
        raise CommandFailed(f"{len(failures)} of {len(names)} pulls failed: {', '.join(failures)}")
