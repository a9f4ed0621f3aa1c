"""Which addresses are pages for people; all others belong to the API."""

from typing import Final

PAGES: Final = "/settings"


def is_page(path: str) -> bool:
    return path == PAGES or path.startswith(f"{PAGES}/")
