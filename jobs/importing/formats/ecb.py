"""The European Central Bank's reference rates, as it publishes them. See `ecb.md`."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import ClassVar, Final

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
    source_fields: ClassVar = tuple(
        SourceField(name, name) for name in (_DATE, "base", "quote", "rate")
    )

    def matches(self, sample: Sample) -> bool:
        return sample.is_table and any(_is_header(list(names)) for names in sample.records)

    def records(self, path: Path, reading: Reading = AS_SHOWN) -> Iterator[Records]:
        wanted = WantedColumns(
            (_DATE,),
            notation_of=lambda name: DAY if name == _DATE else NUMBER,
            reading=reading,
            are_alike=True,
            known=lambda name: name.lower() == _DATE or _is_currency_code(name),
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


def _is_header(names: list[str]) -> bool:
    quotes = list(filter(None, names[1:]))
    return (
        names[:1] != []
        and names[0].lower() == _DATE
        and bool(quotes)
        and all(map(_is_currency_code, quotes))
    )


def _rates(part: csv.TableRows) -> Iterator[tuple[int, Record]]:
    """(line, record) of each rate in a part of the table."""
    for line, cells in part.records():
        day = cells.pop(_DATE)
        for quote, rate in cells.items():
            if quote and rate.strip() not in _NO_RATE:
                yield line, {_DATE: day, "base": _BASE, "quote": quote, "rate": rate}
