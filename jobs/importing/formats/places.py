"""The places of a record that a mapping looks at, as a tree of names."""

from functools import cache
from typing import TypeAlias

# A place by its first name, with what is taken below it; nothing below means all that is there.
Places: TypeAlias = "dict[str, Places]"


@cache
def places_of(takes: tuple[tuple[str, str], ...]) -> Places:
    """The tree of the sources in `Format.takes`; where one lies within another, the other stands."""
    found: Places = {}
    sources = [source.replace("[]", "").split(".") for source, _ in takes]
    for names in sorted(sources, key=len, reverse=True):
        *above, last = names
        below = found
        for name in above:
            below = below.setdefault(name, {})
        below[last] = {}
    return found
