"""The European Central Bank's reference rates, as it publishes them. See `ecb.md`."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import ClassVar, Final

from jobs.importing.files import csv
from jobs.importing.files.chunk import CHUNK_ROWS, WantedColumns
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
    title = "Exchange rates of the European Central Bank"
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
        for part in csv.parts(path, wanted):
            rates, broken = _rates(part), part.broken
            # At least once: there may be broken lines without any rate.
            while (numbered := list(islice(rates, CHUNK_ROWS))) or broken:
                yield Records(numbered, broken, part.position)
                broken = []

    def row(self, record: Record, target: Target) -> Row:
        return record


def _is_currency_code(name: str) -> bool:
    return len(name) == 3 and name.isascii() and name.isalpha()


def _rates(part: csv.TableRows) -> Iterator[tuple[int, Record]]:
    """(line, record) of each rate in a part of the table."""
    for line, cells in part.records():
        day = _iso(cells.pop(_DATE))
        for quote, rate in cells.items():
            if quote and rate.strip() not in _NO_RATE:
                yield line, {_DATE: day, "base": _BASE, "quote": quote, "rate": rate}


def _iso(date: str) -> str:
    """A date in words as ISO 8601 writes it; any other text unchanged."""
    try:
        return datetime.strptime(date.strip(), _IN_WORDS).replace(tzinfo=UTC).date().isoformat()
    except ValueError:
        return date
