"""The command line `python -m web`: `serve`, `collect`, `shops`, `forms`, `keys`, `write-keys`,
`collector-role`, `members`, `audit`.

A command parses its options, calls `web/auth`, `web/server` or `web/collector`, and prints. Every command
but `collect` creates or migrates the warehouse first. Exit status: 0 done, 1 failed (with a one-line reason
on standard error), 2 wrong usage. Start here for `serve` and `collect`, in `shops.py`, `keys.py`,
`write_keys.py` and `members.py` for the others, and in `options.py` for errors, option types and output that
they share.
"""

import sys
from typing import Any, Final

import click

from warehouse import VERSION
from warehouse.environment import WrongSettings, prepare
from warehouse.setting_values import ADMIN, API, COLLECTOR
from warehouse.settings import COLLECT_HOST, COLLECT_PORT, COLLECT_WORKERS, HOST, PORT, WORKERS
from web.cli.keys import keys
from web.cli.members import audit, members
from web.cli.options import one_line_errors, open_warehouse, require_known_pooler
from web.cli.shops import forms, shops
from web.cli.write_keys import collector_role, write_keys

_PROCESSES: Final = {"serve": API, "collect": COLLECTOR}


# The headings of the help.
_SECTIONS: Final = {
    "Serve": ("serve", "collect"),
    "Manage": ("shops", "forms", "keys", "write-keys", "collector-role", "members", "audit"),
}


class _MainGroup(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return [name for names in _SECTIONS.values() for name in names]

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, names in _SECTIONS.items():
            with formatter.section(heading):
                # The first sentence, whatever its length.
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(limit=1000)) for name in names]
                )

    def invoke(self, context: click.Context) -> Any:
        with one_line_errors():
            return super().invoke(context)


@click.group(cls=_MainGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="formrevenue %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Serve the API, and manage shops, and the API keys and members that can use it."""
    try:
        prepare(_PROCESSES.get(context.invoked_subcommand or "", ADMIN))
    except WrongSettings as error:
        for line in str(error).splitlines():
            click.echo(f"Error: {line}", err=True)
        sys.exit(2)


@main.command()
@click.option("--host", help="Address to listen on (default: setting HOST).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port (default: setting PORT).")
@click.option(
    "--workers", type=click.IntRange(1, 256), help="Processes (default: setting WORKERS)."
)
def serve(host: str | None, port: int | None, workers: int | None) -> None:
    """Serve the API and the pages until SIGTERM or SIGINT. Requests in flight are finished first."""
    from web.server.wsgi_server import run

    # Closed before the server forks: its processes must not share a connection.
    with open_warehouse() as engine:
        require_known_pooler(engine)
    run(host or HOST.get(), port or PORT.get(), workers or WORKERS.get())


@main.command()
@click.option("--host", help="Address to listen on (default: setting COLLECT_HOST).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port (default: setting COLLECT_PORT).")
@click.option(
    "--workers", type=click.IntRange(1, 256), help="Processes (default: setting COLLECT_WORKERS)."
)
def collect(host: str | None, port: int | None, workers: int | None) -> None:
    """Take events from pages and servers, and put them into the landing folder, until SIGTERM or SIGINT.
    It also starts while the warehouse does not answer."""
    from web.collector.server import run

    run(host or COLLECT_HOST.get(), port or COLLECT_PORT.get(), workers or COLLECT_WORKERS.get())


for command in (shops, forms, keys, write_keys, collector_role, members, audit):
    main.add_command(command)
