"""The European Central Bank's reference rates, as it publishes them. See `ecb.md`."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import ClassVar, Final

from jobs.importing.files import csv
from jobs.importing.files.chunk import CHUNK_ROWS, Chunk, WantedColumns
from jobs.importing.formats.base import Format, Record, Records, Row, Sample, SourceField, Target
from jobs.importing.values.notation import TIME

_DATE: Final = "date"
_BASE: Final = "EUR"
_NO_RATE: Final = ("", "N/A")
# 21 November 2026: the file of the latest day writes its date like this.
_IN_WORDS: Final = "%d %B %Y"


class Ecb(Format):
    """A table with a row for each day and a column for each currency: each rate in it is a record."""

    name = "ecb"
    kind = "exchange-rates"
    needs_shop = False
    source_fields: ClassVar = tuple(
        SourceField(name, name) for name in (_DATE, "base", "quote", "rate")
    )

    def matches(self, sample: Sample) -> bool:
        first = sample.records[0] if sample.records else {}
        name, *others = [name.strip() for name in first] or [""]
        quotes = [other for other in others if other]
        return name.lower() == _DATE and bool(quotes) and all(map(_is_currency_code, quotes))

    def records(self, path: Path, dates: str = "") -> Iterator[Records]:
        wanted = WantedColumns(
            (_DATE,), notation_of=lambda name: TIME if name == _DATE else "", dates=dates
        )
        for chunk in csv.chunks(path, wanted):
            rates, broken = _rates(chunk), chunk.broken
            # At least once: there may be broken lines without any rate.
            while (numbered := list(islice(rates, CHUNK_ROWS))) or broken:
                yield Records(numbered, broken, chunk.position)
                broken = []

    def row(self, record: Record, target: Target) -> Row:
        return record


def _is_currency_code(name: str) -> bool:
    return len(name) == 3 and name.isascii() and name.isalpha()


def _rates(chunk: Chunk) -> Iterator[tuple[int, Record]]:
    """(line, record) of each rate in a part of the table."""
    quotes = [name for name in chunk.columns if name not in (_DATE, "")]
    if not quotes:
        return
    rates = zip(*(chunk.columns[quote] for quote in quotes), strict=True)
    for line, date, of_day in zip(chunk.lines.tolist(), chunk.columns[_DATE], rates, strict=True):
        day = _iso(date)
        for quote, rate in zip(quotes, of_day, strict=True):
            if rate.strip() not in _NO_RATE:
                yield line, {_DATE: day, "base": _BASE, "quote": quote, "rate": rate}


def _iso(date: str) -> str:
    """A date in words as ISO 8601 writes it; any other text unchanged."""
    try:
        return datetime.strptime(date.strip(), _IN_WORDS).replace(tzinfo=UTC).date().isoformat()
    except ValueError:
        return date
