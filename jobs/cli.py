"""`python -m jobs`: the commands, by name."""

import click

from jobs.commands.anew import backfill_command, verify_command
from jobs.commands.rolling import rebuild_command, rollup_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Import raw files and roll them up into the daily summaries that answers are made of."""


for command in (rollup_command, backfill_command, rebuild_command, verify_command):
    main.add_command(command)
