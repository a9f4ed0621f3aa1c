"""The European Central Bank's reference rates, as it publishes them. See `ecb.md`."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from jobs.importing.files import csv
from jobs.importing.files.chunk import CHUNK_ROWS, WantedColumns
from jobs.importing.formats.base import Format, Record, Records, Row, Sample, SourceField, Target
from jobs.importing.values.notation import AS_SHOWN, DAY, NUMBER, Reading

_DATE: Final = "date"
_BASE: Final = "EUR"
_NO_RATE: Final = ("", "N/A")


class Ecb(Format):
    """A table with a row for each day and a column for each currency: each rate in it is a record."""

    name = "ecb"
    title = "Exchange rates of the European Central Bank"
    kind = "exchange-rates"
    needs_shop = False
    reads_tables = True
    source_fields = tuple(SourceField(name, name) for name in (_DATE, "base", "quote", "rate"))

    def matches(self, sample: Sample) -> bool:
        if not sample.is_table:
            return False
        for first, *others in filter(None, map(list, sample.records)):
            quotes = list(filter(None, others))
            if first.lower() == _DATE and quotes and all(map(_is_currency_code, quotes)):
                return True
        return False

    def records(self, path: Path, reading: Reading = AS_SHOWN) -> Iterator[Records]:
        wanted = WantedColumns(
            (_DATE,),
            notation_of=lambda name: DAY if name == _DATE else NUMBER,
            reading=reading,
            are_alike=True,
            known=lambda name: name.lower() == _DATE or _is_currency_code(name),
        )
        for part in csv.parts(path, wanted):
            rates: Iterator[tuple[int, Record]] = (
                (line, {_DATE: cells[_DATE], "base": _BASE, "quote": quote, "rate": rate})
                for line, cells in part.records()
                for quote, rate in cells.items()
                if quote not in ("", _DATE) and rate.strip() not in _NO_RATE
            )
            broken = part.broken
            # At least once: there may be broken lines without any rate.
            while (numbered := list(islice(rates, CHUNK_ROWS))) or broken:
                yield Records(numbered, broken, part.position)
                broken = []

    def row(self, record: Record, target: Target) -> Row:
        return record


def _is_currency_code(name: str) -> bool:
    return len(name) == 3 and name.isascii() and name.isalpha()
