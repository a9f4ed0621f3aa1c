"""`pulls`: what is fetched by itself, and when; `pull`: fetch it now into the landing folder."""

from typing import Any

from jobs.pulls import set_up
from jobs.pulls.run_pull import run_pull
from jobs.pulls.set_up import SOURCES
from jobs.run.console import report, say
from jobs.run.errors import AlreadyRunning, CommandFailed
from jobs.run.job_run import open_warehouse
from warehouse import command
from warehouse.domain.time import iso_millis
from warehouse.intake import shop_pulls


def add_command(source: str, config: dict[str, Any] | None, url: str | None, **given: Any) -> None:
    if url:
        config = {**(config or {}), "url": url}
    with open_warehouse() as connection:
        pull = set_up.set_up(connection, source, config=config, **given)
    report(f"{pull.name}: {pull.schedule or 'only by hand'}")
    if lacks := SOURCES[source].lacks(pull):
        report(f"it fails until it has {lacks}")


def list_command() -> None:
    with open_warehouse(creates=False) as connection:
        pulls = shop_pulls.list_pulls(connection)
    for pull in pulls:
        last = f"{pull.status} {iso_millis(pull.ran_at)}" if pull.ran_at else "never ran"
        fields = (pull.name, pull.source, pull.shop_id or "-", pull.schedule or "off", last)
        report("  ".join((*fields, pull.message)).rstrip())


def remove_command(name: str) -> None:
    with open_warehouse() as connection:
        if not shop_pulls.remove(connection, name):
            raise CommandFailed(
                f"no pull {name!r}; `{command('jobs pulls list')}` shows those there are"
            )


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
