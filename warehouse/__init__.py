"""Storage: tables, migrations, connections, editions, daily rows, backups, settings.

Both `web` and `jobs` import it; it imports neither, and knows no pandas and no Flask. Start in
`catalogue.py`, which declares every daily summary.
"""

from pathlib import Path
from typing import Final

VERSION: Final = "0.1.0"
"""The version of this program: `--version`, `/readyz`, the OpenAPI document and pulls have it from here."""

INSTALLED: Final = Path(__file__).parents[1].name in ("site-packages", "dist-packages")
"""Whether the program is an installed package, and no tree of its own."""


def command(words: str) -> str:
    """Return how a user types a command: `jobs status` is `python -m jobs status` in a tree, and
    `formrevenue status` where the package is installed."""
    program, _, command_words = words.partition(" ")
    return f"{'formrevenue' if INSTALLED else f'python -m {program}'} {command_words}"
