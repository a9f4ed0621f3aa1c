"""`python -m jobs`: the commands, by name."""

from contextlib import nullcontext
from importlib import import_module
from typing import Final

import click

# Where each command is; imported when it is asked for, since pandas alone takes half a second.
COMMANDS: Final = {
    "import": "jobs.commands.importing:import_command",
    "rollup": "jobs.commands.rolling:rollup_command",
    "backfill": "jobs.commands.anew:backfill_command",
    "rebuild": "jobs.commands.rolling:rebuild_command",
    "verify": "jobs.commands.anew:verify_command",
    "rejects": "jobs.commands.rejects:rejects_command",
    "status": "jobs.commands.status:status_command",
    "landing": "jobs.commands.landing:landing_command",
    "purge": "jobs.commands.purge:purge_command",
    "run": "jobs.commands.turn:run_command",
    "scheduler": "jobs.commands.scheduler:scheduler_command",
    "backup": "jobs.commands.backup:backup_command",
    "restore": "jobs.commands.backup:restore_command",
    "demo": "jobs.demo.command:demo",
}


class Commands(click.Group):
    """The commands above, in that order. The context's `obj`, if any, is entered for an import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        with (ctx.obj or nullcontext)():
            command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Import raw files and roll them up into the daily summaries that answers are made of."""
