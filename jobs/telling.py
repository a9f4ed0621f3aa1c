"""Lines for the person at the terminal, apart from a command's output."""

from collections.abc import Callable

import click


def say(message: str) -> None:
    """A line on standard error."""
    click.echo(message, err=True)


def waiting_line() -> Callable[[str], None]:
    """A function to call while waiting with who is waited for ("" where that is not known); it says
    so once for each."""
    said: set[str] = set()

    def waiting(holder: str) -> None:
        if holder not in said:
            said.add(holder)
            say(f"waiting for another job ({holder or 'one that is writing'})")

    return waiting
