"""The sheet of an Excel file (.xlsx) that has a table, as CSV, row by row.

Such a file is a zip of XML, and comes from anyone: what it unpacks to is bounded before it is read, and
`defusedxml`, which openpyxl takes where it is installed, reads no entities. A formula gives the value that
its program stored.
"""

import csv
import io
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path, PosixPath
from tempfile import mkstemp
from typing import Any, Final
from weakref import finalize

from jobs.importing.ceilings import check_time
from jobs.importing.files.chunk import MAX_COLUMNS, UnreadableFile
from jobs.importing.values.errors import quoted

IsTable = Callable[[bytes], bool]

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
_WORKBOOK: Final = "xl/workbook.xml"
_MAX_SHEETS: Final = 100
_MAX_NAMED: Final = 10
# Rows by which a sheet is known, and characters of their cells.
_ROWS_OF_HEAD: Final = 25
_LONG: Final = 1_000
# No sheet has more. A file may say so of a row of a few bytes, and the rows before it would be made up.
_MAX_ROWS: Final = 1 << 20


class SheetPath(PosixPath):
    """The path of a spreadsheet: whoever opens it gets the CSV of its table, which goes with the path."""

    table: str

    def __fspath__(self) -> str:
        return self.table


def is_spreadsheet(path: Path) -> bool:
    """Whether a file is a spreadsheet, whatever its name says, unless it says `.zip`: that is an archive of
    files. Raises OSError."""
    try:
        with zipfile.ZipFile(path) as archive:
            return path.suffix.lower() != ".zip" and _WORKBOOK in archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def as_table(path: Path, is_table: IsTable) -> SheetPath:
    """A spreadsheet as a path at which there is the CSV of its sheet with a table. `is_table`: whether the
    text of some first lines is the beginning of one. Raises UnreadableFile, and OSError."""
    sheet = SheetPath(path)
    descriptor, sheet.table = mkstemp(suffix=".csv")
    os.close(descriptor)
    finalize(sheet, os.unlink, sheet.table)
    written = 0
    with Path(sheet.table).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for number, row in enumerate(_rows(path, is_table)):
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
                if written > _MAX_BYTES:
                    raise UnreadableFile(
                        f"{path}: the cells of the spreadsheet have more than {_MAX_BYTES >> 20} MiB of "
                        "text; export it as CSV"
                    )
                writer.writerow(cells)
    return sheet


def _rows(path: Path, is_table: IsTable) -> Iterator[tuple[Any, ...]]:
    """The rows of the sheet with a table. Raises UnreadableFile."""
    # Loaded where it is needed: other files are read sooner without it.
    from defusedxml.common import DefusedXmlException
    from openpyxl import load_workbook
    from openpyxl.xml import DEFUSEDXML

    assert DEFUSEDXML, "openpyxl reads entities without defusedxml"
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
        if len(entries) > _MAX_ENTRIES:
            raise UnreadableFile(
                f"{path}: the spreadsheet has {len(entries)} parts, which none has"
            )
        unpacked = sum(entry.file_size for entry in entries)
        of_texts = (entry for entry in entries if entry.filename.lower() == _TEXTS.lower())
        is_bomb = unpacked > _SMALL and unpacked > _MAX_RATIO * path.stat().st_size
        are_long = sum(entry.file_size for entry in of_texts) > _MAX_TEXT_BYTES
        if is_bomb or are_long or unpacked > _MAX_BYTES:
            raise UnreadableFile(
                f"{path}: the spreadsheet unpacks to {unpacked >> 20} MiB, which is too much; export it as "
                "CSV"
            )
        with (
            # Opened here, not by its path: openpyxl would look at how its name ends.
            path.open("rb") as file,
            closing(load_workbook(file, read_only=True, data_only=True, keep_links=False)) as book,
        ):
            sheet = _sheet_of(path, book.worksheets, is_table)
            yield from sheet.iter_rows(values_only=True) if sheet else ()
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


def _sheet_of(path: Path, sheets: Sequence[Any], is_table: IsTable) -> Any:
    """The sheet that has a table, or the only one that has anything; None if all are empty. Raises
    UnreadableFile."""
    filled, tables = [], []
    for sheet in sheets[:_MAX_SHEETS]:
        # Anyone may state any size in the file.
        sheet.reset_dimensions()
        head = [
            [_text(cell)[:_LONG] for cell in row[:MAX_COLUMNS]]
            for row in islice(sheet.iter_rows(values_only=True), _ROWS_OF_HEAD)
        ]
        lines = [cells for cells in head if any(cells)]
        if lines:
            filled.append(sheet)
            text = io.StringIO()
            csv.writer(text).writerows(lines)
            if is_table(text.getvalue().encode()):
                tables.append(sheet)
    found = tables or filled
    if len(found) > 1:
        names = ", ".join(quoted(sheet.title) for sheet in found[:_MAX_NAMED])
        raise UnreadableFile(
            f"{path}: {'several sheets have a table' if tables else 'no sheet has a table that is known'} "
            f"({names}); save the sheet that you mean as a file of its own"
        )
    return found[0] if found else None


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
    text = str(cell)
    # A fourth decimal shows that the point is no sign between thousands.
    return f"{text}0" if isinstance(cell, float) and text[-4:-3] == "." else text
