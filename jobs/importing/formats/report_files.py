"""Reports of ad platforms, which come as JSON or as a table."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from jobs.importing.files import csv
from jobs.importing.files.byte_blocks import BOM, DamagedArchive, blocks_of
from jobs.importing.files.chunk import UnreadableFile, WantedColumns, listed
from jobs.importing.files.json import json_records
from jobs.importing.formats.base import Records
from jobs.importing.kinds.ad_spend import AdSpendKind

# The fields of ad spend that a platform's table must fill.
REQUIRED: Final = {field.name for field in AdSpendKind.fields if field.required} - {
    "shop_id",
    "provider",
}


def report_records(
    path: Path, list_members: Sequence[str], columns: Mapping[str, str], dates: str
) -> Iterator[Records]:
    """The records of a report: of a JSON file as `json_records`, of any other as `csv_records`.

    Raises OSError and UnreadableFile.
    """
    if not _is_json(path):
        return csv_records(path, tuple(columns), lambda name: columns.get(name, ""), dates)
    return (Records(*part) for part in json_records(path, list_members, {}))


def _is_json(path: Path) -> bool:
    try:
        head = next(blocks_of(path), (b"", 0))[0]
    except DamagedArchive:
        return False
    return head.removeprefix(BOM).lstrip()[:1] in (b"{", b"[")


def csv_records(
    path: Path,
    names: Sequence[str],
    field_of: Callable[[str], str],
    dates: str,
    required: Collection[str] = REQUIRED,
) -> Iterator[Records]:
    """The records of a CSV file whose header has some of these names, without the empty cells.
    `field_of`: the field of ad spend that a column fills, "" for none. `required`: fields for which the
    file must have a column."""
    wanted = WantedColumns(
        names, notation_of=lambda name: AdSpendKind.notation_of(field_of(name)), dates=dates
    )
    for chunk in csv.chunks(path, wanted):
        names = list(chunk.columns)
        raise_if_lacking(path, names, {field_of(name) for name in names}, required)
        rows = zip(*chunk.columns.values(), strict=True)
        numbered = [
            (line, {name: cell for name, cell in zip(names, row, strict=True) if cell})
            for line, row in zip(chunk.lines.tolist(), rows, strict=True)
        ]
        yield Records(numbered, chunk.broken, chunk.position)


def raise_if_lacking(
    path: Path, names: Sequence[str], filled: Collection[str], required: Collection[str]
) -> None:
    """Raise UnreadableFile if no column of a table fills some required fields."""
    missing = [field.name for field in AdSpendKind.fields if field.name in {*required} - {*filled}]
    if missing:
        raise UnreadableFile(
            f"{path}: no column says: {', '.join(missing)}; the file has: {', '.join(listed(names))}"
        )
