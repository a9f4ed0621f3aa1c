"""A decoder that reads of a record in JSON only the places that its mapping looks at.

Records of other systems are long, and most of what they hold is not taken. What never becomes an object
costs a fraction of what does.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypedDict

import msgspec

from jobs.importing.formats.places import Places, places_of


def decoder(takes: tuple[tuple[str, str], ...], within: Sequence[str]) -> Callable[[bytes], Any]:
    """A function that decodes an object as a dict of the sources in `takes` alone (see `Format`), and
    of the members `within`, whole. Where a source lies in what is no object, that is decoded as it is.

    The function raises msgspec's DecodeError, UnicodeError and RecursionError.
    """
    places = places_of(takes) | {name: {} for name in within}
    return msgspec.json.Decoder(_type_of(places), float_hook=Decimal).decode


def _type_of(places: Places) -> Any:
    if not places:
        return Any
    types = {name: _type_of(below) for name, below in places.items()}
    record = TypedDict("record", types, total=False)  # type: ignore[misc]
    # All that JSON has, so that nothing is refused for being of another type than is expected.
    other = str | int | float | bool | None
    return record | list[record | list | other] | other
