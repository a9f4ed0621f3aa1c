"""The European Central Bank's reference rates, as it publishes them. See `ecb.md`."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import ClassVar, Final

from jobs.importing import csv
from jobs.importing.formats.format import Format, Row, Taken, Target
from jobs.importing.formats.records import Record, Records, Sample
from jobs.importing.portion import ROWS, Portion

_DATE: Final = "date"
_BASE: Final = "EUR"
_NONE: Final = ("", "N/A")
# 21 November 2026: so the file of the latest day alone writes its date.
_IN_WORDS: Final = "%d %B %Y"


class Ecb(Format):
    """A table with a row for each day and a column for each currency: each rate in it is a record."""

    name = "ecb"
    kind = "exchange-rates"
    of_shop = False
    takes: ClassVar = tuple(Taken(name, name) for name in (_DATE, "base", "quote", "rate"))

    def seems(self, sample: Sample) -> bool:
        first = sample.records[0] if sample.records else {}
        name, *others = [name.strip() for name in first] or [""]
        quotes = [other for other in others if other]
        return name.lower() == _DATE and bool(quotes) and all(map(_is_code, quotes))

    def records(self, path: Path) -> Iterator[Records]:
        for portion in csv.portions(path, (_DATE,), frozenset()):
            rates, broken = _rates(portion), portion.broken
            # At least once: something may be broken where there is no rate.
            while (found := list(islice(rates, ROWS))) or broken:
                yield Records(found, broken, portion.position)
                broken = []

    def row(self, record: Record, target: Target) -> Row:
        return record


def _is_code(name: str) -> bool:
    return len(name) == 3 and name.isascii() and name.isalpha()


def _rates(portion: Portion) -> Iterator[tuple[int, Record]]:
    """Line and record of each rate that a part of the table states."""
    quotes = [name for name in portion.columns if name not in (_DATE, "")]
    rates = zip(*(portion.columns[quote] for quote in quotes), strict=True)
    for line, date, of_day in zip(
        portion.lines.tolist(), portion.columns[_DATE], rates, strict=True
    ):
        day = _iso(date)
        for quote, rate in zip(quotes, of_day, strict=True):
            if rate.strip() not in _NONE:
                yield line, {_DATE: day, "base": _BASE, "quote": quote, "rate": rate}


def _iso(date: str) -> str:
    """A date in words as ISO 8601 writes it; anything else as it is."""
    try:
        return datetime.strptime(date.strip(), _IN_WORDS).replace(tzinfo=UTC).date().isoformat()
    except ValueError:
        return date
