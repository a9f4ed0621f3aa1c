"""Records as a foreign system wrote them."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jobs.importing.portion import Broken

Record = dict[str, Any]


class Sample(NamedTuple):
    """The beginning of a file: its first bytes, unpacked where it is a `.gz`, and the objects that
    they hold (of a CSV file the first record, by the names of its header)."""

    head: bytes
    records: list[Record]


@dataclass
class Records:
    """Some records of one file, each with the number of the line on which it starts; what could not
    be decoded; and how many bytes of the file have been read up to here."""

    found: list[tuple[int, Record]]
    broken: list[Broken] = field(default_factory=list)
    position: int = 0
