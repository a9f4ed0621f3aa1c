"""Filters of random questions about a world."""

from random import Random

from tests.support.oracle.records import DEVICES, UTM
from tests.support.worlds.cast import UTM_SETS

NONE = "(none)"
VALUES: dict[str, tuple[str, ...]] = {
    "device": DEVICES,
    "visitor": ("new", "returning"),
    "variant": ("a", "b", NONE, "c"),
    **{
        name: (*sorted({each[name] for each in UTM_SETS if each.get(name)}), NONE, "nobody")
        for name in UTM[:5]
    },
}
"""The values of each filter that are worth asking: those that there are, none, and one that nobody has."""


def some_filters(rng: Random) -> dict[str, str]:
    """One filter in most cases: several together seldom leave anything."""
    names = rng.sample(list(VALUES), rng.choice((1, 1, 1, 2, 3)))
    return {name: rng.choice(VALUES[name]) for name in names}
