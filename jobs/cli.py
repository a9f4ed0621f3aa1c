"""START HERE: the commands of `python -m jobs`, by name."""

import sys
from importlib import import_module
from typing import Any, Final

import click

from jobs.run.errors import one_line_errors
from warehouse.environment import JOBS, SCHEDULER, WrongSettings, prepare

# Under each heading of the help: a command, and the module in jobs/commands/ that has it as
# `<command>_command`. It is imported when it is called: pandas alone takes half a second.
SECTIONS: Final = {
    "Every day": {
        "import": "import_files",
        "rollup": "rollup",
        "status": "status",
        "imports": "imports",
        "rejects": "rejects",
        "fields": "fields",
        "pull": "pull",
        "pulls": "pulls",
        "scheduler": "scheduler",
    },
    "Now and then": {
        "forget": "forget",
        "backfill": "backfill",
        "rebuild": "rebuild",
        "verify": "verify",
        "run": "run_job",
        "landing": "landing",
        "purge": "purge",
        "backup": "backup",
        "restore": "backup",
        "demo": "demo",
    },
}
COMMANDS: Final = {
    name: module for section in SECTIONS.values() for name, module in section.items()
}

# The commands that read the schedule.
_OF_THE_SCHEDULE: Final = ("scheduler", "status", "run")


class Commands(click.Group):
    """The commands above, in that order. Any error becomes one line and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"jobs.commands.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self._summary(ctx, name)) for name in names])

    def _summary(self, ctx: click.Context, name: str) -> str:
        """The first sentence of a command's help, whatever its length."""
        command = self.get_command(ctx, name)
        return command.get_short_help_str(limit=1000) if command else ""

    def invoke(self, ctx: click.Context) -> Any:
        with one_line_errors():
            return super().invoke(ctx)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def main(ctx: click.Context) -> None:
    """Import raw files, and roll them up into the daily summaries that the API answers from."""
    try:
        prepare(SCHEDULER if ctx.invoked_subcommand in _OF_THE_SCHEDULE else JOBS)
    except WrongSettings as error:
        for line in str(error).splitlines():
            click.echo(f"Error: {line}", err=True)
        sys.exit(2)
