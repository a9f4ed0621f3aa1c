"""The command line `python -m web`: `serve`, `collect`, `shops`, `forms`, `keys`, `write-keys`,
`collector-role`, `members`, `mcp`, `audit`.

A command parses its options, calls `web/auth`, `web/server` or `web/collector`, and prints. Every command
but `collect` and `mcp` creates or migrates the warehouse first. Exit status: 0 done, 1 failed (with a
one-line reason on standard error), 2 wrong usage. Start here for `serve` and `collect`, in `shops.py`,
`keys.py` and `members.py` for the others, and in `options.py` for errors, option types and
output that they share. A module of commands is imported when one of its commands is called: the help needs
no database.
"""

import sys
from importlib import import_module
from typing import Any, Final

import click

from warehouse import VERSION
from warehouse.environment import WrongSettings, prepare
from warehouse.setting_values import ADMIN, API, COLLECTOR
from warehouse.settings import COLLECT_HOST, COLLECT_PORT, COLLECT_WORKERS, HOST, PORT, WORKERS

_PROCESSES: Final = {"serve": API, "collect": COLLECTOR}

# The commands of other modules: the module, and the first sentence of the command's help.
_MODULES: Final = {
    "shops": ("shops", "Add, list, export and delete shops."),
    "forms": ("shops", "List forms."),
    "keys": ("keys", "Create, list, rotate and revoke API keys."),
    "write-keys": (
        "keys",
        "Create, list and revoke write keys, with which a shop's pages send events to the collector.",
    ),
    "collector-role": (
        "keys",
        "Create the role under which the collector reads write keys, writes its counts, and does nothing "
        "else (PostgreSQL).",
    ),
    "members": ("members", "Manage the members of shops, who sign in to the pages."),
    "mcp": (
        "mcp",
        "Let an assistant on this computer ask a server, with the API key in FORMREVENUE_KEY.",
    ),
    "audit": ("members", "List sign-ins and changes to keys and members, newest first."),
}


class _MainGroup(click.Group):
    def list_commands(self, context: click.Context) -> list[str]:
        return [*_PROCESSES, *_MODULES]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _MODULES:
            return super().get_command(context, name)
        module = import_module(f"web.cli.{_MODULES[name][0]}")
        command: click.Command = getattr(module, name.replace("-", "_"))
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        serve = [(name, self.commands[name].get_short_help_str(limit=1000)) for name in _PROCESSES]
        manage = [(name, line) for name, (_, line) in _MODULES.items()]
        for heading, lines in (("Serve", serve), ("Manage", manage)):
            with formatter.section(heading):
                # The first sentence, whatever its length.
                formatter.write_dl(lines)

    def invoke(self, context: click.Context) -> Any:
        from web.cli.options import one_line_errors

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
    from web.cli.options import open_warehouse, require_known_pooler
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
