"""What a file is read as: portions of rows, column by column."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

# Rows of one portion, which is one transaction; and the bytes of a file that make it up, so that
# long rows cannot fill the memory.
ROWS: Final = 50_000
BYTES: Final = 8 << 20

# A longer line is not read: nothing that the contract describes comes near it.
LONGEST_LINE: Final = 16 << 20

# Characters of a rejected row that are kept: a row with the largest schema of a form has no more.
LONGEST_TEXT: Final = 1 << 20

# In the place of a text that must not be kept.
HIDDEN: Final = "***"

_AROUND: Final = " \t\r\n\ufeff"

Values: TypeAlias = "list[Any] | pa.Array"


class Broken(NamedTuple):
    """A line that could not be decoded: its number, its text (as far as it is kept), why."""

    line: int
    text: str
    reason: str


@dataclass
class Portion:
    """Some rows of one file, in their order.

    `columns`: the values of each field that any row has, one per row (None where it has none).
    `lines`: the number of the line on which each row starts, from 1 (Parquet: of the row).
    `text`: the JSON text of row i, or the line as it is in the file.
    `textual`: whether numbers and booleans may be written as text (CSV, Parquet).
    `position`: how many bytes of the file have been read up to here.
    `format`, `shop_id`: of rows that are mapped from a foreign format, its name and the shop that
    they were mapped for. `counted`: what was counted meanwhile.
    """

    columns: dict[str, Values]
    lines: npt.NDArray[np.int64]
    text: Callable[[int], str]
    textual: bool = False
    broken: list[Broken] = field(default_factory=list)
    position: int = 0
    format: str = ""
    shop_id: str = ""
    counted: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lines)


class Unreadable(ValueError):
    """The file as a whole cannot be read: the message is one line that says why."""


def column_names(path: Path, given: Sequence[str], fields: Sequence[str]) -> list[str]:
    """The names of a file's columns, those of the fields as the fields are called: databases export
    them in upper case, and spreadsheets with spaces or a byte order mark.

    Raises Unreadable where no field is among them, or one is there twice.
    """
    known = {field.lower(): field for field in fields}
    names = [name.strip(_AROUND) for name in given]
    names = [known.get(name.lower(), name) for name in names]
    if not known.keys() & set(names):
        first = next(iter(names), "")[:60]
        raise Unreadable(f"{path}: no column is a field of this kind (the first is {first!r})")
    twice = [name for name in dict.fromkeys(names) if name and names.count(name) > 1]
    if twice:
        raise Unreadable(f"{path}: more than one column is named {twice[0]}")
    return names
