"""The first sheet of an Excel file (.xlsx) as CSV, row by row.

Such a file is a zip of XML, and comes from anyone: what it unpacks to is bounded before it is read, and
`defusedxml`, which openpyxl takes where it is installed, reads no entities. A formula gives the value that
its program stored.
"""

import csv
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Final

from defusedxml.common import DefusedXmlException
from openpyxl import load_workbook
from openpyxl.xml import DEFUSEDXML

from jobs.importing.ceilings import check_time
from jobs.importing.files.chunk import MAX_COLUMNS, UnreadableFile

assert DEFUSEDXML, "openpyxl reads entities without defusedxml"

_MAX_ENTRIES: Final = 1_000
# More than a full sheet takes. The names of files say how much they unpack to, and no more is read.
_MAX_BYTES: Final = 1 << 30
# Texts that cells share are held in memory.
_MAX_TEXT_BYTES: Final = 128 << 20
_TEXTS: Final = "xl/sharedStrings.xml"
# Zeros are packed a thousandfold, sheets twentyfold.
_MAX_RATIO: Final = 100
_SMALL: Final = 16 << 20
_ROWS_A_LOOK: Final = 1_000
# No sheet has more. A file may say so of a row of a few bytes, and the rows before it would be made up.
_MAX_ROWS: Final = 1 << 20


def to_csv(path: Path, target: Path, most_bytes: int) -> None:
    """Write the first sheet of a spreadsheet as CSV of so many bytes at most. Raises UnreadableFile, and
    OSError of the target."""
    written, most = 0, min(most_bytes, _MAX_BYTES)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for number, row in enumerate(_rows(path)):
            if number % _ROWS_A_LOOK == 0:
                check_time()
            if number == _MAX_ROWS:
                raise UnreadableFile(f"{path}: the spreadsheet has more than {_MAX_ROWS:,} rows")
            if len(row) > MAX_COLUMNS:
                raise UnreadableFile(
                    f"{path}: row {number + 1} has {len(row)} columns; at most {MAX_COLUMNS} can be read"
                )
            if any(cells := [_text(cell) for cell in row]):
                # Many cells may share one long text.
                written += sum(map(len, cells))
                if written > most:
                    raise UnreadableFile(
                        f"{path}: the cells of the spreadsheet have more than {most >> 20} MiB of "
                        "text; export it as CSV"
                    )
                writer.writerow(cells)


def _rows(path: Path) -> Iterator[tuple[Any, ...]]:
    """The rows of the first sheet. Raises UnreadableFile."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_size(path, archive)
        with closing(load_workbook(path, read_only=True, data_only=True, keep_links=False)) as book:
            sheet = book.worksheets[0]
            # Anyone may state any size in the file.
            sheet.reset_dimensions()
            yield from sheet.iter_rows(values_only=True)
    except (GeneratorExit, UnreadableFile, MemoryError):
        raise
    except Exception as error:
        # While openpyxl looks for sheets, it raises an error of its own in the place of another.
        if any(isinstance(one, DefusedXmlException) for one in (error, error.__cause__)):
            raise UnreadableFile(
                f"{path}: the spreadsheet declares entities, which no program exports"
            ) from None
        # openpyxl raises whatever a broken file makes of it.
        raise UnreadableFile(
            f"{path}: not readable as a spreadsheet, or cut short ({type(error).__name__}); export it again"
        ) from error


def _check_size(path: Path, archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    if len(entries) > _MAX_ENTRIES:
        raise UnreadableFile(f"{path}: the spreadsheet has {len(entries)} parts, which none has")
    unpacked = sum(entry.file_size for entry in entries)
    texts = sum(entry.file_size for entry in entries if entry.filename.lower() == _TEXTS.lower())
    packed = path.stat().st_size
    is_bomb = unpacked > _SMALL and unpacked > _MAX_RATIO * packed
    if is_bomb or unpacked > _MAX_BYTES or texts > _MAX_TEXT_BYTES:
        raise UnreadableFile(
            f"{path}: the spreadsheet unpacks to {unpacked >> 20} MiB, which is too much; export it as CSV"
        )


def _text(cell: Any) -> str:
    """A cell as its CSV would have it, with a point before decimals and days as 2026-11-24."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(sep=" ")
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return str(cell)
