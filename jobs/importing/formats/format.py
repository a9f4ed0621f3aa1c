"""What a format knows: how its files are recognised and read, and how one of its records becomes a
row of the contract."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from jobs.importing.formats.json_values import json_records
from jobs.importing.formats.partial import decoder
from jobs.importing.formats.records import Record, Records, Sample
from jobs.importing.money import minor_units

Row = dict[str, Any]

# What a format may count besides what the contract counts.
ROUNDED: Final = "rounded"
SKIPPED: Final = "skipped"


class Taken(NamedTuple):
    """A place in a source record (`refunds[].created_at`) and the field of ours that it goes into."""

    source: str
    field: str


@dataclass
class Target:
    """The shop that a file's records belong to ("" for formats of no shop), and what is counted
    while they are mapped."""

    shop_id: str = ""
    currency: str = ""
    counted: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        self.counted[what] = self.counted.get(what, 0) + 1

    def minor(self, amount: Any, currency: Any, rate: Fraction | None = None) -> int:
        """An amount in minor units of the currency, into which it is brought at a rate, if one is
        given; counts it where it had to be rounded. Raises Malformed."""
        found, rounded = minor_units(amount, currency, rate)
        if rounded:
            self.count(ROUNDED)
        return found


class Format(ABC):
    """One format of one kind.

    `takes`: every place of a record that `row` looks at; nothing else of a rejected record is kept,
    and what lies at a place that has "email" in its name is kept as its hash. `within`: the members
    in which an object of JSON that is no record holds records. `counts`: what its summary has
    besides the contract's five counts. `of_shop`: whether its records belong to a shop, which they
    do not name.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    takes: ClassVar[tuple[Taken, ...]]
    within: ClassVar[tuple[str, ...]] = ()
    counts: ClassVar[tuple[str, ...]] = ()
    of_shop: ClassVar[bool] = True

    @abstractmethod
    def seems(self, sample: Sample) -> bool:
        """Whether a file that begins so is unmistakably of this format."""

    def records(self, path: Path) -> Iterator[Records]:
        """The file's records, some thousands at a time; here those of a JSON file. Raises OSError,
        and Unreadable."""
        return json_records(path, self.within, decoder(self.takes, self.within))

    @abstractmethod
    def row(self, record: Record, target: Target) -> Row | None:
        """A record as a row of the kind; None where it is nothing that the kind is about, which the
        format then counts as SKIPPED. Fields may be left out.

        Raises Malformed with the cause, the source's field named in it.
        """

    def conceal(self, record: Record) -> Record:
        """What `takes` leaves of a rejected record, less free answers of people."""
        return record
