"""`start`: a shop's own installation as one command: the API, the scheduler and the collector.

Each is the process that a host runs by itself (`jobs/systemd/`). Here one terminal has their lines, each
with the name of its process.
"""

from typing import Final

import click

from jobs.commands.processes import output_of, require_free, run_together
from warehouse.environment import make_credentials_key
from warehouse.settings import COLLECT_HOST, COLLECT_PORT, HOST, PORT, collects_here_alone

_PROCESSES: Final = {
    "api": ("web", "serve"),
    "scheduler": ("jobs", "scheduler"),
    "collector": ("web", "collect"),
}
_WIDTH: Final = max(map(len, (*_PROCESSES, "start")))


def start_command() -> None:
    require_free(
        [(PORT, HOST.get(), PORT.get()), (COLLECT_PORT, COLLECT_HOST.get(), COLLECT_PORT.get())]
    )
    make_credentials_key()
    run_together(_PROCESSES, _say, _show_first_link)
    _say("start", "all have ended")


def _say(name: str, line: str) -> None:
    click.echo(f"{name:<{_WIDTH}} | {line}")


def _show_first_link() -> None:
    """The link with which the first member begins, where there is nobody yet."""
    for line in output_of("web", "members", "first-link").splitlines():
        _say("start", line)
    if collects_here_alone():
        _say(
            "start",
            "The line for pages that Set up shows works on this computer alone, until COLLECT_URL, "
            "PUBLIC_URL and TRUSTED_PROXIES are set.",
        )
