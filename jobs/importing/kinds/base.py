"""A kind of file: its fields, and how its rows are checked and written."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar, Final

import numpy as np
import pyarrow as pa

from jobs.importing.shops import ImportedShops
from jobs.importing.values.columns import ChunkColumns, Flags
from jobs.importing.values.fields import Field
from warehouse.connections.arrow import ArrowConnection

# Rejects that are kept for messages and reports.
MAX_REJECTS: Final = 20
# The further count of the accepted rows without a field that could not be used.
INCOMPLETE: Final = "incomplete"
# The further count of the rejects that are not kept (see `kept_rejects`).
NOT_KEPT: Final = "not_kept"
# The further count of the ids, answers and campaign parameters that were e-mail addresses.
_HASHED: Final = "hashed_addresses"
_PRINTED: Final = ("read", "new", "duplicate", "replaced", "rejected")


@dataclass
class Written:
    """The accepted rows, counted: each is new, duplicate or replaced. `more`: further counts by
    name, which only some formats have (see `Format.counts`)."""

    new: int = 0
    duplicate: int = 0
    replaced: int = 0
    more: dict[str, int] = field(default_factory=dict)


@dataclass
class Counts(Written):
    """All rows of some files, counted. `rejects`: (file, line, reason) of the first."""

    read: int = 0
    rejected: int = 0
    rejects: list[tuple[str, int, str]] = field(default_factory=list)

    @property
    def incomplete(self) -> int:
        """The accepted rows without a field that could not be used."""
        return self.more.get(INCOMPLETE, 0)

    def add(self, other: "Counts") -> None:
        """Add the rows of a chunk."""
        for name in _PRINTED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.add_more(other.more)

    def add_rejects(self, file: str, rejects: Iterable[tuple[int, str]]) -> None:
        """Keep the first (line, reason) pairs of a file."""
        kept = islice(rejects, MAX_REJECTS - len(self.rejects))
        self.rejects += [(file, line, reason) for line, reason in kept]

    def add_more(self, more: Mapping[str, int]) -> None:
        """Add to the further counts."""
        for name, number in more.items():
            self.more[name] = self.more.get(name, 0) + number

    def add_found(self, columns: ChunkColumns) -> None:
        """Add the further counts of a chunk's values; most have none."""
        hashed, incomplete = columns.hashed_addresses(), len(columns.incomplete())
        found = {_HASHED: hashed, INCOMPLETE: incomplete}
        self.add_more({name: number for name, number in found.items() if number})

    def report(self) -> dict[str, int]:
        """The counts by name, in the order in which they are printed."""
        return {name: getattr(self, name) for name in _PRINTED} | self.more


class RowsOfFile:
    """The rows of one file, as far as they are read, for checks that need all of them. Here there is none."""

    def left_out(self, columns: ChunkColumns, _rows: pa.Table) -> Flags:
        """A mask of the lines of a chunk that are no rows, such as lines of totals. The chunk counts them."""
        return np.zeros(len(columns.chunk), dtype=bool)

    def refusal(self, _columns: ChunkColumns, _rows: pa.Table) -> str:
        """The reason why the file cannot be taken as a whole, by the rows up to those of a chunk; "" if it
        can."""
        return ""


class Kind(ABC):
    """One kind of file; `warehouse/domain/example_rows.py` has an example row of it. `keeps_others`: whether
    rows are told apart by columns that no field is."""

    name: ClassVar[str]
    fields: ClassVar[tuple[Field, ...]]
    keeps_others: ClassVar[bool] = False
    of_file: ClassVar[type[RowsOfFile]] = RowsOfFile

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in cls.fields)

    @classmethod
    def notation_of(cls, name: str) -> str:
        """The notation of the field of this name (see `FieldType.notation`); "" if there is none."""
        return next((field.type.notation for field in cls.fields if field.name == name), "")

    @abstractmethod
    def check(self, columns: ChunkColumns, shops: ImportedShops) -> pa.Table:
        """All rows of a chunk, one for each, in the columns that `write` wants; refuses those that
        cannot be imported. Runs while the chunk before is written: it must not use the warehouse."""

    @abstractmethod
    def write(self, connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
        """Write the accepted rows (there is at least one) of an import, in their order.

        The caller commits. The first statement of the transaction must be a write, so that two
        imports into one SQLite file wait for each other instead of failing; `connection.stage`
        followed by `connection.commit` may come before.
        """

    def finish(self, connection: ArrowConnection, imports: Sequence[int]) -> dict[str, int]:
        """End the statement that these imports made together. Returns further counts. Commits."""
        return {}

    def refuse_stored(
        self, _connection: ArrowConnection, _columns: ChunkColumns, _rows: pa.Table
    ) -> bool:
        """Refuse rows by what the warehouse has. Returns whether that has begun the transaction in which
        the other rows must be written."""
        return False

    def conceal(self, row: dict[str, Any]) -> dict[str, Any]:
        """The fields of a rejected row without people's own words."""
        return row
