"""`formrevenue`: the commands of `python -m jobs` and `python -m web` as one.

The one module that knows both programs. Their rooms do not import each other, and this module imports
each only when it is called.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Final

import click

from warehouse import VERSION

PROGRAMS: Final = ("jobs", "web")
NAME: Final = "formrevenue"


def main() -> None:
    """Run the command in `sys.argv`, as its own program does; else print the help or what is wrong."""
    words = (word for word in sys.argv[1:] if not word.startswith("-"))
    word = next(words, "")
    for program, group in _groups():
        if word in group.list_commands(click.Context(group)):
            import_module(f"{program}.__main__").main(NAME)
    _all(prog_name=NAME)


def _groups() -> Iterator[tuple[str, click.Group]]:
    for program in PROGRAMS:
        yield program, import_module(f"{program}.cli").main


class _All(click.Group):
    """The commands of all programs, for the help, for completion and for a mistyped word."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for _, group in _groups() for name in group.list_commands(ctx)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        found = (group.get_command(ctx, name) for _, group in _groups())
        return next(filter(None, found), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for _, group in _groups():
            group.format_commands(ctx, formatter)


@click.group(cls=_All, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message=f"{NAME} %(version)s")
def _all() -> None:
    """Follow a shop's forms to the revenue that they bring: import, roll up, serve, manage.

    Begin with `formrevenue demo`, or with `formrevenue start` for your own shop. Data lie below ./var, or in
    the folder that DATA_DIR names.
    """
