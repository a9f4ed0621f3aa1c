"""Reports of ad platforms, which come as JSON or as a table."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from jobs.importing.files import csv
from jobs.importing.files.byte_blocks import BOM, DamagedArchive, blocks_of
from jobs.importing.files.chunk import WantedColumns
from jobs.importing.formats.base import Records
from jobs.importing.formats.json_stream import json_records


def report_records(
    path: Path, list_members: Sequence[str], columns: Sequence[str]
) -> Iterator[Records]:
    """The records of a report: of a JSON file as `json_records`, of any other as `csv_records`.

    Raises OSError and UnreadableFile.
    """
    if not _is_json(path):
        return csv_records(path, columns)
    return (Records(*part) for part in json_records(path, list_members))


def _is_json(path: Path) -> bool:
    try:
        head = next(blocks_of(path), (b"", 0))[0]
    except DamagedArchive:
        return False
    return head.removeprefix(BOM).lstrip()[:1] in (b"{", b"[")


def csv_records(path: Path, columns: Sequence[str]) -> Iterator[Records]:
    """The records of a CSV file whose header has some of these columns, without the empty cells."""
    for chunk in csv.chunks(path, WantedColumns(columns)):
        names = list(chunk.columns)
        rows = zip(*chunk.columns.values(), strict=True)
        numbered = [
            (line, {name: cell for name, cell in zip(names, row, strict=True) if cell})
            for line, row in zip(chunk.lines.tolist(), rows, strict=True)
        ]
        yield Records(numbered, chunk.broken, chunk.position)
