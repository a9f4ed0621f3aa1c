"""The reader of all ad reports, each by its table (`report_table.py`)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from jobs.importing.files import csv
from jobs.importing.files.byte_blocks import begins_json, head_of
from jobs.importing.files.chunk import UnreadableFile, WantedColumns, listed
from jobs.importing.files.json import Places, json_records
from jobs.importing.formats.ads.readers import READERS, provider, read_at, segment_of
from jobs.importing.formats.ads.report_table import Fill, ReportTable, fields_of, language_advice
from jobs.importing.formats.base import (
    SKIPPED,
    Format,
    Record,
    Records,
    Row,
    Sample,
    SourceField,
    Target,
    at,
)
from jobs.importing.kinds.ad_spend import NO_IDS, AdSpendKind
from jobs.importing.values.errors import InvalidValue, quoted
from jobs.importing.values.notation import AS_SHOWN, Reading
from warehouse.domain.vocabulary import PROVIDER_SOURCES

# Fields of ad spend that a table must fill.
_OF_ANY_PLATFORM: Final = [
    field.name for field in AdSpendKind.fields if field.required and field.name != "shop_id"
]
_REQUIRED: Final = set(_OF_ANY_PLATFORM)
_CLAIMS: Final = ("reported_conversions", "reported_value")
# A place that fills both has the name of a campaign, which stands for its id where there is no other.
_NAME_AND_ID: Final = {"campaign_name", "campaign_id"}
_NO_VALUE: Final = (None, "")
# "Amount spent (EUR)"
_WITH_CURRENCY: Final = re.compile(r"(.*\S)\s*\(([A-Z]{3})\)")
_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
_HUMP: Final = re.compile(r"_+(.)")
# The depth of the members that are mapped.
_DEPTH: Final = 3
# Columns of other tables can have names of any length; the whole of them is not remembered.
_LONGEST_NAME: Final = 255
_EVERY_MEMBER: Final = "*"
# Columns that name the platform; the first say nothing else.
_PLATFORM: Final = ("provider", "platform", "ad_platform", "advertising_platform")
_PLATFORM_OR_MORE: Final = (*_PLATFORM, "source", "channel", "network")
# The line of the days above an export: "1 October 2026 - 31 October 2026".
_DAYS: Final = re.compile(r".*\d.*(\s[-–]\s|\bbis\b|\bto\b).*\d.*")


class AdReport(Format):
    """The reports that a table describes: rows of one day each."""

    kind = "ad-spend"
    reads_tables = True

    def __init__(self, name: str, table: ReportTable) -> None:
        self.name, self.title, self.table = name, table.title, table
        self.list_members = tuple(table.lists or ())
        self.counts = (SKIPPED,) if table.page else ()
        # (place, field, reader)
        self._fills = [
            (place, field, READERS[fill.read] if isinstance(fill, Fill) else None)
            for place, fill in table.fields.items()
            for field in fields_of(fill)
        ]
        places = [*table.fields, *table.segment, *table.one_day]
        self._at = at if any("." in place for place in places) else dict.get
        self._segment = list(table.segment.items())
        self._missing = (*_NO_VALUE, *table.missing) if table.missing else ()
        self._provider = {"provider": table.provider} if table.provider else {}
        days = [(place, "date") for place in table.one_day if place not in table.fields]
        filled = [(place, field) for place, field, _ in self._fills] + days
        filled += [(place, "segment") for place in table.segment]
        # Before the others, which say how the place is read.
        self._name_places = [
            place for place, fill in table.fields.items() if {*fields_of(fill)} >= _NAME_AND_ID
        ]
        filled[:0] = [(place, NO_IDS) for place in self._name_places]
        self.source_fields = tuple(SourceField(place, field) for place, field in filled)
        columns = {place: place for place, _ in filled}
        translated = table.page.translated if table.page else {}
        self._read = set(columns)
        self._columns = {self._spelt(name): place for name, place in (columns | translated).items()}
        # The names, in one spelling, of columns and members that say another platform in vain.
        self._platforms = set(_PLATFORM_OR_MORE) if table.provider else set()
        page = table.page
        self._only_here = set(map(self._spelt, page.only_here)) if page else set()
        self._hints = self._only_here | set(map(self._spelt, page.hints)) if page else set()

    def matches(self, sample: Sample) -> bool:
        table = self.table
        if table.page:
            return any(
                {self._place(name) for name in names} >= set(self.table.shown_by)
                and self._is_page(names, sample.lines[:place])
                for place, _, names in csv.possible_headers(sample.lines)
            )
        if table.shown_by:
            rows = (self._plain(record) for record in sample.records)
            return any(row.keys() >= set(table.shown_by) for row in rows)
        return sample.is_table and any(
            self._filled(record) >= _REQUIRED for record in sample.records
        )

    def lacks(self, names: Sequence[str]) -> list[str]:
        """The fields that a table with these columns lacks."""
        missing = _REQUIRED - self._filled(names)
        if self.table.page and any(map(_WITH_CURRENCY.fullmatch, names)):
            missing -= {"currency"}
        return [field.name for field in AdSpendKind.fields if field.name in missing]

    def knows(self, name: str) -> bool:
        return self._place(name) in self._read

    def records(self, path: Path, reading: Reading = AS_SHOWN) -> Iterator[Records]:
        parts = self._of_table(path, reading)
        if self.table.lists is not None and begins_json(head_of(path)):
            parts = (Records(*part) for part in json_records(path, self.list_members, {}))
        # Accounts as records without spend state them, for the rows after them: each, and the last.
        accounts: dict[str, Record] = {}
        last: Record = {}
        of_account = self.table.account
        for part in parts:
            rows = [
                (line, self._plain(record))
                for line, record in part.numbered
                if not self.table.no_row or self.table.no_row not in record
            ]
            if self._platforms:
                self._check_platforms(path, rows)
            part.numbered = [] if of_account else rows
            for line, record in rows if of_account else ():
                if "spend" not in record and record.keys() >= set(of_account):
                    last = {name: record[name] for name in of_account}
                    accounts[str(record[of_account[0]])] = last
                else:
                    account = record.get(of_account[0])
                    stated = last if account is None else accounts.get(str(account), {})
                    part.numbered.append((line, stated | record))
            yield part

    def row(self, record: Record, target: Target) -> Row | None:
        if not self.table.page and (days := self._several_days(record)):
            raise InvalidValue(
                f"{self.table.one_day[1]}: {quoted(days[1])} is not {self.table.one_day[0]} "
                f"({quoted(days[0])}); export one row a day"
            )
        row: Row = dict(self._provider)
        at = self._at
        for place, field, read in self._fills:
            value = at(record, place)
            if value is not None and value != "" and row.get(field) is None:
                if not read:
                    row[field] = value
                elif field in _CLAIMS:  # in no figure: one that cannot be used is left out
                    row[field] = target.if_usable(field, partial(read_at, place, read, value))
                else:
                    row[field] = read_at(place, read, value)
                if field == "campaign_id" and place in self._name_places:
                    row[NO_IDS] = True
        if self.table.page and not (row.get("date") and row.get("campaign_name")):
            target.count(SKIPPED)  # a total
            return None
        if row.get("segment"):
            return row
        # The first place of a key that has a value gives it.
        keys: dict[str, Any] = {}
        for place, name in self._segment:
            value = at(record, place)
            if value is None or value == "":
                continue
            if name != _EVERY_MEMBER:
                keys.setdefault(name, value)
            elif isinstance(value, dict):
                left_out = self.table.segment_without.get(place, ())
                keys |= {name: value[name] for name in sorted(value) if name not in left_out}
        row["segment"] = segment_of(keys.items())
        return row

    def _several_days(self, record: Record) -> tuple[Any, Any] | None:
        """The first and the last day of a row, if they differ; None where another place states its day."""
        if not self.table.one_day:
            return None
        own = self.table.one_day[0]
        first, last = (self._at(record, place) for place in self.table.one_day)
        if first == last:
            return None
        dated = (
            place for place, field, _ in self._fills if field == "date" and self._at(record, place)
        )
        return (first, last) if next(dated, own) == own else None

    def _plain(self, record: Record) -> Record:
        """A record with the names of the table, without missing values."""
        if self.table.camel_case:
            record = _camel_case(record)
        if self.table.members:
            record = dict(record)
            for name in self.table.members:
                if isinstance(record.get(name), dict):
                    record |= record.pop(name)
        if not (missing := self._missing):
            return record
        return {name: value for name, value in record.items() if value not in missing}

    def _of_table(self, path: Path, reading: Reading) -> Iterator[Records]:
        table = self.table
        fields = dict(self.source_fields)
        # All names that a column may have, as far as they can be listed.
        wanted_names = [*fields, *(table.page.translated if table.page else ())]
        if table.any_spelling:
            wanted_names += [name.replace("_", " ") for name in wanted_names]
        if table.camel_case:
            wanted_names += [
                re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower() for name in wanted_names
            ]
        wanted = WantedColumns(
            wanted_names,
            notation_of=lambda name: AdSpendKind.notation_of(fields.get(self._place(name), "")),
            reading=reading,
            known=self.knows,
        )
        for part in csv.parts(path, wanted):
            names = [self._place(name) for name in part.header]
            stated = self._checked(path, part.header)
            numbered = []
            for line, cells in zip(part.lines, part.rows, strict=True):
                present = zip(names, (cell.strip() for cell in cells), cells, strict=True)
                record = stated | {
                    name: cell for name, bare, cell in present if bare and bare not in table.missing
                }
                numbered.append((line, record))
                days = self._several_days(record) if table.page else None
                if (
                    table.page
                    and days
                    and days[1] is not None
                    and "campaign_name" in self._filled(record)
                ):
                    raise UnreadableFile(
                        f"{path}: a row is of several days ({quoted(days[0])} to {quoted(days[1])}); "
                        f"{table.page.advice}"
                    )
            yield Records(numbered, part.broken, part.position, is_table=True)

    def unread(self, record: Record) -> Record:
        """The members of a record that no place of the table reads, by their names."""
        return dict(_unread(record, self.places, ""))

    def _check_platforms(self, path: Path, rows: Iterable[tuple[int, Record]]) -> None:
        """Raise UnreadableFile if a column names another platform than that of the format."""
        own = self.table.provider
        # Nearly all rows have the same members.
        by_members: dict[tuple[str, ...], list[str]] = {}
        for line, record in rows:
            members = tuple(record)
            if (names := by_members.get(members)) is None:
                names = by_members[members] = [
                    name for name in members if _plain_name(name) in self._platforms
                ]
            for name in names:
                if not isinstance(value := record[name], str):
                    continue
                named = provider(value)
                is_plain = _plain_name(name) in _PLATFORM and name not in self._read
                if named != own and (is_plain or named in PROVIDER_SOURCES):
                    raise UnreadableFile(
                        f"{path}: line {line}: {name} is {quoted(value)}, but the file was taken for "
                        f"{self.name}, a report of {own}; a table of several platforms needs columns for "
                        f"{', '.join(_OF_ANY_PLATFORM)}; else leave {name} out"
                    )

    def _is_page(self, names: Sequence[str], titles: Sequence[str]) -> bool:
        """Whether only a page of this platform has written a table with these columns below these lines."""
        platforms = [name for name in names if _plain_name(name) in _PLATFORM]
        if any(not self.knows(name) for name in platforms):
            return False
        marks = self._only_here if platforms else self._hints
        spelt = {self._spelt(name) for name in names} | {self._place(name) for name in names}
        if marks & (spelt | {self._spelt(name) for name in spelt}):
            return True
        pattern = self.table.page.title if self.table.page else ""
        lines = [line.strip('"\ufeff,; \t\r\n') for line in titles]
        return bool(pattern) and any(
            re.fullmatch(pattern, title, re.IGNORECASE) and _DAYS.fullmatch(days)
            for title, days in pairwise(lines)
        )

    def _checked(self, path: Path, header: Sequence[str]) -> Record:
        """The currency, which a header itself states. Raises UnreadableFile if columns are missing."""
        page, filled, stated = self.table.page, self._filled(header), {}
        if not filled >= _REQUIRED and (advice := language_advice(header)):
            raise UnreadableFile(
                f"{path}: it has the columns {', '.join(listed(header))}. {advice}"
            )
        if page and "date" not in filled:
            raise UnreadableFile(f"{path}: no column says the day; {page.advice}")
        missing = _REQUIRED - filled - ({"currency"} if page else set())
        if missing:
            in_order = [field.name for field in AdSpendKind.fields if field.name in missing]
            raise UnreadableFile(
                f"{path}: no column says: {', '.join(in_order)}; the file has: "
                f"{', '.join(listed(header))}"
            )
        if page and "currency" not in filled:
            matches = [_WITH_CURRENCY.fullmatch(name.strip()) for name in header]
            currencies = [m[2] for m in matches if m and "spend" in self._filled([m[1]])]
            if not currencies:
                raise UnreadableFile(f"{path}: no column says the currency; add it to the report")
            place = next(place for place, field, _ in self._fills if field == "currency")
            stated = {place: currencies[0]}
        return stated

    def _filled(self, names: Iterable[str]) -> set[str]:
        """The fields that columns of these names fill."""
        places = {self._place(name) for name in names}
        return {field for place, field, _ in self._fills if place in places} | {*self._provider}

    def _place(self, column: str) -> str:
        """The place that a column is, or its own name."""
        return self._columns.get(self._spelt(column[:_LONGEST_NAME]), column)

    def _spelt(self, column: str) -> str:
        """The name of a column, the same for all its spellings."""
        if self.table.any_spelling:
            return _plain_name(column)
        if self.table.camel_case:
            return ".".join(_in_camel_case(column))
        if not self.table.page:
            return column
        match = _WITH_CURRENCY.fullmatch(column.strip())
        return (match[1] if match else column.strip()).replace(".", "").lower()


def _unread(value: Record, places: Places, above: str) -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        if name not in places:
            yield f"{above}{name}", inner
        elif (below := places[name]) and isinstance(inner, dict):
            yield from _unread(inner, below, f"{above}{name}.")


@lru_cache(maxsize=1 << 10)
def _plain_name(name: str) -> str:
    return _BETWEEN_WORDS.sub("_", name[:_LONGEST_NAME].lower()).strip("_")


def _camel_case(record: Record, depth: int = _DEPTH) -> Record:
    """A record as REST writes it: `campaign.id` of a CSV header becomes a member of a member, and
    `cost_micros`, the spelling of SQL and other clients, becomes `costMicros`."""
    camel: Record = {}
    for path, value in record.items():
        below = camel
        *above, name = _in_camel_case(path)
        for part in above:
            inner = below.setdefault(part, {})
            below = inner if isinstance(inner, dict) else {}
        below[name] = _camel_case(value, depth - 1) if depth and isinstance(value, dict) else value
    return camel


@lru_cache(maxsize=1 << 10)
def _in_camel_case(path: str) -> tuple[str, ...]:
    return tuple(_HUMP.sub(lambda match: match[1].upper(), part) for part in path.split("."))
