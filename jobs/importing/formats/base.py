"""A format: how its files are recognised and read, and how one of its records becomes a row."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from jobs.importing.files.chunk import BrokenLine, Chunk
from jobs.importing.files.json import DECODE, ENCODE, UNDECODABLE, Places, json_records, places_of
from jobs.importing.kinds.base import Kind
from jobs.importing.values.errors import InvalidValue, LostDigits
from jobs.importing.values.money import minor_units
from jobs.importing.values.notation import AS_SHOWN, Reading
from warehouse.domain.email_hash import plain_mark

Row = dict[str, Any]
Record = dict[str, Any]
Value = TypeVar("Value")

# Further counts of some formats.
ROUNDED: Final = "rounded"
SKIPPED: Final = "skipped"

# The member of each record of a format that is `dated_by_file`: the time of its file.
EXPORTED_AT: Final = "exported_at"


class SourceField(NamedTuple):
    """A place in a source record (`refunds[].created_at`) and the field of ours that it fills."""

    source: str
    field: str


class Sample(NamedTuple):
    """The beginning of a file: its first bytes, unpacked, and the objects in them. A table has the names of
    columns in each line that can be its header, by each separator: each name stands for its cell; and its
    first `lines`. `is_empty_page`: it is JSON without any row (`[]`, `{"orders": []}`)."""

    head: bytes
    records: list[Record]
    is_empty_page: bool = False
    is_table: bool = False
    lines: Sequence[str] = ()


@dataclass
class Records:
    """Some records of one file as (number, record): the number of a line, or of the record in a JSON
    list; lines that could not be decoded; bytes of the file read so far. `is_table`: they are lines of a
    table."""

    numbered: list[tuple[int, Record]]
    broken: list[BrokenLine] = field(default_factory=list)
    position: int = 0
    is_table: bool = False


@dataclass
class Target:
    """The shop that a file's records belong to ("" for formats without a shop), and what is counted
    while they are mapped. `left_out`: field and reason of what cannot be used of the present record."""

    shop_id: str = ""
    currency: str = ""
    counted: dict[str, int] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def if_usable(self, field: str, read: Callable[[], Value]) -> Value | None:
        """The value of an optional field; None, and the field is left out, where `read` raises
        InvalidValue."""
        try:
            return read()
        except InvalidValue as cause:
            self.left_out.append((field, str(cause)))
            return None

    def count(self, what: str) -> None:
        self.counted[what] = self.counted.get(what, 0) + 1

    def minor(
        self, source: str, amount: Any, currency: Any, rate: Fraction | None = None
    ) -> int | None:
        """An amount in minor units of a currency, converted at a rate if one is given; None if it is
        missing. Counts it if it had to be rounded. Raises InvalidValue with the source."""
        if amount is None or amount == "":
            return None
        try:
            units, rounded = minor_units(amount, currency, rate)
        except InvalidValue as cause:
            raise InvalidValue(f"{source}: {cause}") from None
        if rounded:
            self.count(ROUNDED)
        return units


class Format(ABC):
    """One format of one kind."""

    name: str
    # The name of such a file on the page Data.
    title: str
    kind: str
    # Every place of a record that `row` looks at; a reject keeps nothing else, and a place with
    # "email" in its name as a hash.
    source_fields: tuple[SourceField, ...]
    # The members in which a JSON object that is no record holds records.
    list_members: tuple[str, ...] = ()
    # The counts of its summary besides the usual five.
    counts: tuple[str, ...] = ()
    # Whether its records belong to a shop, which they do not name.
    needs_shop: bool = True
    # Whether the time of its file tells versions apart; each record has it as EXPORTED_AT, and so
    # has a kept reject.
    dated_by_file: bool = False
    # Whether its files can be tables.
    reads_tables: bool = False

    @cached_property
    def places(self) -> Places:
        return places_of(place.source for place in self.source_fields)

    @abstractmethod
    def matches(self, sample: Sample) -> bool:
        """Whether a file that begins like this is unmistakably of this format."""

    def records(self, path: Path, reading: Reading = AS_SHOWN) -> Iterator[Records]:
        """The file's records, some thousands at a time; here those of a JSON file. `reading`: how a table is
        to be read. Raises OSError and UnreadableFile."""
        for part in json_records(path, self.list_members, self.places):
            yield Records(*part)

    @abstractmethod
    def row(self, record: Record, target: Target) -> Row | None:
        """A record as a row of the kind, in which fields may be missing; None if the record is not
        about the kind, which the format then counts as SKIPPED.

        Raises InvalidValue with the name of the source's field.
        """

    def knows(self, name: str) -> bool:
        """Whether a column of this name is read."""
        return name in dict(self.source_fields)

    def lacks(self, _names: Sequence[str]) -> list[str]:
        """The fields that a table with these columns lacks to be of this format, as far as that is known."""
        return []

    def unread(self, _record: Record) -> Record:
        """The members of a record that tell it from others, and that `row` does not read; here none."""
        return {}

    def chunk(self, kind: Kind, target: Target, records: Records) -> Chunk:
        """Records as rows of the kind; their texts are those of the records, as far as they may be kept."""
        broken = list(records.broken)
        target.counted = dict.fromkeys(self.counts, 0)
        # The row of each record that has one, with the record's number and itself.
        rows: list[Row] = []
        numbers: list[int] = []
        sources: list[Record] = []
        left_out: list[tuple[int, str, str]] = []
        refusal = ""
        for number, record in records.numbered:
            target.left_out = []
            try:
                row = self.row(record, target)
            except InvalidValue as cause:
                broken.append(BrokenLine(number, str(cause), self.kept_text(record)))
                if isinstance(cause, LostDigits):
                    refusal = refusal or f"line {number}: {cause}"
                continue
            if row is not None:
                if target.left_out:
                    left_out += [(len(rows), field, reason) for field, reason in target.left_out]
                rows.append(row)
                numbers.append(number)
                sources.append(record)
        shop = {"shop_id": [target.shop_id] * len(rows)} if self.needs_shop else {}
        # A format has more than the fields of its kind: the names of forms in tracking calls.
        names = dict.fromkeys((*kind.field_names(), *(place.field for place in self.source_fields)))
        return Chunk(
            {name: [row.get(name) for row in rows] for name in names} | shop,
            np.array(numbers, dtype=np.int64),
            lambda index: self.kept_text(sources[index]),
            broken=broken,
            position=records.position,
            format=self.name,
            shop_id=target.shop_id,
            counted=target.counted,
            left_out=left_out,
            unread=lambda index: self.unread(sources[index]),
            is_export=records.is_table,
            refusal=refusal,
        )

    def conceal(self, record: Record) -> Record:
        """A rejected record, of which only `source_fields` are left, without people's free answers."""
        return record

    def kept_text(self, record: Record) -> str:
        """A rejected record as JSON, as far as it may be kept, with the plain hashes of e-mails. Its mapping
        comes to the same row."""
        return encode(self.conceal(projected(record, self.places)))


def at(record: Any, place: str) -> Any:
    """The value at a place (`campaign.id`), which may be one name or a path; None where it is missing."""
    while isinstance(record, dict):
        if place in record or "." not in place:
            return record.get(place)
        name, _, place = place.partition(".")
        record = record.get(name)
    return None


def projected(value: Any, places: Places) -> Any:
    """A record with these places alone, and e-mail addresses as their plain hashes."""
    if isinstance(value, list):
        return [projected(item, places) for item in value]
    if not isinstance(value, dict) or not places:
        return value
    kept: Record = {}
    for name, below in places.items():
        if name in value:
            kept[name] = member = projected(value[name], below)
            # A text that should be a hash and is none must not become one: a retry would accept it.
            is_plain = "email" in name.lower() and "sha256" not in name.lower()
            if is_plain and not below and isinstance(member, str):
                kept[name] = plain_mark(member)
    return kept


def encode(record: Any) -> str:
    """A record, or any other value, as JSON; numbers keep their digits."""
    return ENCODE(record).decode()


def kept_record(text: str) -> dict[str, Any] | None:
    """The record of a kept text; None if it is no record (a line that could not be read)."""
    try:
        record = DECODE(text.encode("utf-8", "surrogatepass"))
    except UNDECODABLE:
        return None
    return record if isinstance(record, dict) else None
