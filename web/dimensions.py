"""What stands behind the ids of daily rows: texts and UTM values, kept in memory once read.

An id is a hash of what it stands for, so what was read once never changes; an id that is not known
yet is never remembered. The memory is bounded by starting over when it is full.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, select

from warehouse.schema import dim_text, dim_utm
from warehouse.vocabulary import UTM_FIELDS

Utm = tuple[str, ...]
_CAPACITY: Final = 200_000
# Parameters of one statement: well below what both databases take.
_PORTION: Final = 2_000

_TEXTS: Final = select(dim_text.c.id, dim_text.c.text).where(
    dim_text.c.edition == bindparam("edition"), dim_text.c.id.in_(bindparam("ids", expanding=True))
)
_UTMS: Final = select(dim_utm.c.utm, *(dim_utm.c[name] for name in UTM_FIELDS)).where(
    dim_utm.c.edition == bindparam("edition"), dim_utm.c.utm.in_(bindparam("ids", expanding=True))
)


class Dimensions:
    """One per process. Raises KeyError for an id that the edition's dimension does not have."""

    def __init__(self) -> None:
        self._texts: dict[tuple[int, int], str] = {}
        self._utms: dict[tuple[int, int], Utm] = {}

    def texts(self, connection: Connection, edition: int, ids: Iterable[int]) -> dict[int, str]:
        """The texts of ids; 0 stands for ""."""
        rows = _known(self._texts, _TEXTS, connection, edition, ids, lambda row: row[1])
        return {**rows, 0: ""}

    def utms(self, connection: Connection, edition: int, ids: Iterable[int]) -> dict[int, Utm]:
        """The six UTM values of ids, in the order of UTM_FIELDS; 0 stands for six empty ones."""
        rows = _known(self._utms, _UTMS, connection, edition, ids, lambda row: tuple(row[1:]))
        return {**rows, 0: ("",) * len(UTM_FIELDS)}


def portions(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Ids in as many parts as it takes for one statement to ask about each of a part's."""
    for start in range(0, len(ids), _PORTION):
        yield ids[start : start + _PORTION]


def _known(
    memory: dict[tuple[int, int], Any],
    statement: Select[Any],
    connection: Connection,
    edition: int,
    ids: Iterable[int],
    value: Any,
) -> dict[int, Any]:
    wanted = {each for each in ids if each}
    found = {each: memory[edition, each] for each in wanted if (edition, each) in memory}
    missing = list(wanted - found.keys())
    for portion in portions(missing):
        rows = connection.execute(statement, {"edition": edition, "ids": portion})
        found |= {row[0]: value(row) for row in rows}
    if missing:
        if len(memory) + len(missing) > _CAPACITY:
            memory.clear()
        memory.update(((edition, each), found[each]) for each in missing)
    return found
