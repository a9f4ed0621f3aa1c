"""The line that says for whom a command waits."""

from collections.abc import Callable

from jobs.commands.shared import say


def waiting_line() -> Callable[[str], None]:
    """A function to call while waiting with who is waited for; it says so once for each."""
    said: set[str] = set()

    def waiting(holder: str) -> None:
        if holder not in said:
            said.add(holder)
            say(f"waiting for another job ({holder or 'about to begin'})")

    return waiting
