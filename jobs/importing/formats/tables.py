"""Records that are flat enough to come as CSV too: reports of ad platforms, in JSON or in a table."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from jobs.importing import csv
from jobs.importing.formats.json_values import json_records
from jobs.importing.formats.records import Records
from jobs.importing.reading import Damaged, blocks_of


def report_records(path: Path, within: Sequence[str], columns: Sequence[str]) -> Iterator[Records]:
    """The records of a report: of a JSON file as `json_records` has them, of any other those of a CSV
    file whose header has some of these columns, without the empty cells.

    Raises OSError, and Unreadable.
    """
    return json_records(path, within) if _is_json(path) else csv_records(path, columns)


def _is_json(path: Path) -> bool:
    try:
        head = next(blocks_of(path), (b"", 0))[0]
    except Damaged:
        return False
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def csv_records(path: Path, columns: Sequence[str]) -> Iterator[Records]:
    """The records of a CSV file, as above."""
    for portion in csv.portions(path, columns, frozenset()):
        names = list(portion.columns)
        rows = zip(*portion.columns.values(), strict=True)
        found = [
            (line, {name: cell for name, cell in zip(names, row, strict=True) if cell})
            for line, row in zip(portion.lines.tolist(), rows, strict=True)
        ]
        yield Records(found, portion.broken, portion.position)
