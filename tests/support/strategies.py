"""Hypothesis strategies over the random worlds, and the ways in which a world can be imported."""

from random import Random

from hypothesis import strategies as st

from tests.support.oracle.records import Row
from tests.support.worlds import World, world

__all__ = ["Portion", "portions", "seeds", "shown", "world", "worlds"]

Portion = tuple[str, list[Row]]
"""A kind and the rows of one file of it."""

IN_ORDER = ("ad-spend", "ad-accounts", "exchange-rates")
"""Kinds of which the last import wins: their rows keep their order."""

seeds = st.integers(min_value=0, max_value=2**32 - 1)


@st.composite
def worlds(draw: st.DrawFn, size: int = 10) -> World:
    """A world, less some of its sessions, orders and rows of the other kinds.

    The rows come from a seed, which cannot shrink; what shrinks is which of them stay, so that a
    failure is shown with the few sessions and orders that it takes.
    """
    whole = world(draw(seeds), size)
    return whole.keep(lambda thing: draw(st.integers(0, 9), label=thing) > 0)


def portions(records: dict[str, list[Row]], rng: Random) -> list[Portion]:
    """The records in some order, split and repeated as files come: shops and forms first, events
    and orders anyhow and some of them twice, the other kinds in their own order."""
    queues: dict[str, list[list[Row]]] = {}
    for kind in ("events", "orders"):
        rows = list(records.get(kind, []))
        rows += rng.choices(rows, k=len(rows) // 4) if rows else []
        rng.shuffle(rows)
        queues[kind] = split(rows, rng)
    for kind in IN_ORDER:
        queues[kind] = split(list(records.get(kind, [])), rng)
    turns = [kind for kind, files in queues.items() for _ in files]
    rng.shuffle(turns)
    first: list[Portion] = [(kind, records.get(kind, [])) for kind in ("shops", "forms")]
    return [*first, *((kind, queues[kind].pop(0)) for kind in turns)]


def split(rows: list[Row], rng: Random) -> list[list[Row]]:
    """One to four files of some rows, in their order."""
    cuts = sorted(rng.randrange(len(rows) + 1) for _ in range(rng.randrange(4)))
    files = [rows[start:end] for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    return [file for file in files if file]


def shown(world: World) -> str:
    """The text that a failing test prints of a world."""
    lines = [f"world: seed {world.seed}, now {world.now.isoformat()}"]
    lines += [f"{kind}: {row}" for kind, rows in world.records.items() for row in rows]
    return "\n".join(lines)
