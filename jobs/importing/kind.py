"""What a kind of file knows: its fields, how to check its rows, how to write them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any, ClassVar

import pyarrow as pa

from jobs.importing.checks import Checks
from jobs.importing.shops import Shops
from warehouse.bulk import Bulk


@dataclass
class Written:
    """What became of the rows that were taken: each is new, duplicate or replaced. `more`: what is
    counted besides, by name; told of foreign formats alone (see `Format.counts`)."""

    new: int = 0
    duplicate: int = 0
    replaced: int = 0
    more: dict[str, int] = field(default_factory=dict)


@dataclass
class Counts(Written):
    """What became of all rows of some files."""

    read: int = 0
    rejected: int = 0

    def add(self, written: Written, read: int, rejected: int) -> None:
        self.new += written.new
        self.duplicate += written.duplicate
        self.replaced += written.replaced
        self.read += read
        self.rejected += rejected

    def count(self, *more: Mapping[str, int]) -> None:
        """Add what is counted besides."""
        for name, number in chain(*(one.items() for one in more)):
            self.more[name] = self.more.get(name, 0) + number

    def report(self) -> dict[str, int]:
        """The counts by name, in the order in which they are told."""
        counts = asdict(self)
        names = ("read", "new", "duplicate", "replaced", "rejected")
        return {name: counts[name] for name in names} | self.more


class Kind(ABC):
    """One kind of file.

    `fields`: the fields that are read. `private`: those of them that may hold free text, which is
    kept nowhere (see `conceal`).
    """

    name: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]
    private: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def check(self, checks: Checks, shops: Shops) -> pa.Table:
        """All rows of a portion (`checks.portion`) as columns of the kind's own choice, one row for
        each, and refuse those that cannot be taken. Runs beside the writing of the portion before:
        it must not touch the warehouse."""

    @abstractmethod
    def write(self, bulk: Bulk, rows: pa.Table) -> Written:
        """Write the rows that were not refused (there is at least one), in their order.

        The transaction is committed by the caller. Its first statement has to be a write, so that
        two imports into one SQLite file wait for each other instead of failing; `bulk.stage` does
        not begin it when followed by `bulk.commit`.
        """

    def conceal(self, row: dict[str, Any]) -> dict[str, Any]:
        """The fields of a rejected row, less what must not be kept."""
        return row
