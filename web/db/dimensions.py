"""Dimensions: the texts and UTM values behind the ids of daily rows, cached once they are read.

An id is a hash of its text or values, so a cached entry never changes. A full cache is emptied.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import ARRAY, BigInteger, Connection, Select, Table, any_, bindparam, select

from warehouse.domain.vocabulary import UTM_FIELDS
from warehouse.tables import dim_text, dim_utm

Utm = tuple[str, ...]
Id = TypeVar("Id", int, str)
Value = TypeVar("Value")
# Characters of one cache, and what else an entry takes, in characters.
_CAPACITY: Final = 20_000_000
_OVERHEAD: Final = 200
# The values of more ids than this are not kept: they would take the place of those of other shops.
_MOST_KEPT: Final = 10_000
# Parameters of one statement: well below the limits of both databases.
_CHUNK_SIZE: Final = 2_000


def _by_ids(table: Table, id: str, *values: str) -> dict[str, Select[Any]]:
    """A statement for the ids and the values of some ids, by database."""
    key = table.c[id]
    conditions = {
        "sqlite": key.in_(bindparam("ids", expanding=True)),
        # A third of the time of thousands of parameters.
        "postgresql": key == any_(bindparam("ids", type_=ARRAY(BigInteger))),
    }
    statement = select(key, *(table.c[value] for value in values)).where(
        table.c.edition == bindparam("edition")
    )
    return {database: statement.where(condition) for database, condition in conditions.items()}


_TEXTS: Final = _by_ids(dim_text, "id", "text")
_UTMS: Final = _by_ids(dim_utm, "utm", *UTM_FIELDS)


class Dimensions:
    """The texts behind ids, cached. A process has one object. Raises KeyError for an id that the edition's
    dimension does not have."""

    def __init__(self) -> None:
        self._texts = _Dimension(_TEXTS, lambda row: row[1], "", len)
        none = ("",) * len(UTM_FIELDS)
        self._utms = _Dimension(
            _UTMS, lambda row: tuple(row[1:]), none, lambda utm: sum(map(len, utm))
        )

    def texts(self, connection: Connection, edition: int, ids: Iterable[int]) -> dict[int, str]:
        """The text of each id; "" for 0."""
        wanted = set(ids)
        return self._texts.look_up(connection, edition, wanted, len(wanted) <= _MOST_KEPT)

    def each_text(self, connection: Connection, edition: int, ids: Sequence[int]) -> Iterator[str]:
        """The text of each id in turn. Texts are read in chunks, so that they never are all in memory."""
        return self._texts.each(connection, edition, ids)

    def each_utm(self, connection: Connection, edition: int, ids: Sequence[int]) -> Iterator[Utm]:
        """The six UTM values of each id in turn, in the order of UTM_FIELDS; six times "" for 0."""
        return self._utms.each(connection, edition, ids)


def in_chunks(ids: Sequence[Id]) -> Iterator[Sequence[Id]]:
    """The ids in chunks, each small enough for the parameters of one statement."""
    for start in range(0, len(ids), _CHUNK_SIZE):
        yield ids[start : start + _CHUNK_SIZE]


class _Dimension(Generic[Value]):
    """The values behind ids: cached, or else read with a statement (by database) of which each row has the
    id and a `value`. `none` is the value of 0."""

    def __init__(
        self,
        statements: Mapping[str, Select[Any]],
        value: Callable[[Any], Value],
        none: Value,
        characters: Callable[[Value], int],
    ) -> None:
        self._statements, self._value, self._none = statements, value, none
        self._characters = characters
        self._cache: dict[tuple[int, int], Value] = {}
        self._size = 0
        self._lock = Lock()

    def each(self, connection: Connection, edition: int, ids: Sequence[int]) -> Iterator[Value]:
        """The value of each id in turn."""
        keep = len(ids) <= _MOST_KEPT
        for chunk in in_chunks(ids):
            values = self.look_up(connection, edition, set(chunk), keep)
            yield from map(values.__getitem__, chunk)

    def look_up(
        self, connection: Connection, edition: int, ids: set[int], keep: bool
    ) -> dict[int, Value]:
        """The values of these ids and of 0, by id. `keep`: those that are read stay in the cache."""
        wanted, cache = ids - {0}, self._cache
        statement = self._statements[connection.dialect.name]
        found = ((id, cache.get((edition, id))) for id in wanted)
        values = {id: value for id, value in found if value is not None}
        # Rows that lie together are read together.
        missing = sorted(wanted - values.keys())
        for chunk in in_chunks(missing):
            rows = connection.execute(statement, {"edition": edition, "ids": chunk})
            values |= {row[0]: self._value(row) for row in rows.all()}
        if keep and missing:
            entries = {(edition, id): values[id] for id in missing}
            size = sum(_OVERHEAD + self._characters(value) for value in entries.values())
            with self._lock:
                if self._size + size > _CAPACITY:
                    self._cache.clear()
                    self._size = 0
                self._cache.update(entries)
                self._size += size
        return {**values, 0: self._none}
