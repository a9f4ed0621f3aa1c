"""`python -m jobs`: the commands, by name."""

import click

from jobs.commands.importing import import_command
from jobs.commands.rejects import rejects_command
from jobs.commands.rolling import rebuild_command, rollup_command
from jobs.commands.status import status_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Import raw files and roll them up into the daily summaries that answers are made of."""


for command in (
    import_command, rejects_command, rollup_command, rebuild_command, status_command,
):
    main.add_command(command)
