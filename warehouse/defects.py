"""Errors that nobody foresaw, in one line: commands show their users no stack trace."""

import traceback
from pathlib import Path
from typing import Final

# The packages of the program, not those of its environment beside them.
_ROOT: Final = Path(__file__).parents[1]
_PACKAGES: Final = ("jobs", "warehouse", "web")


def defect(error: Exception) -> str:
    """What went wrong, and where: the places in this program, the innermost first."""
    places = []
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in _PACKAGES:
            places.append(f"{path.relative_to(_ROOT)}:{frame.lineno}")
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return f"a defect of this program, please report it: {words} ({' < '.join(reversed(places))})"
