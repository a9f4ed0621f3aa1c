"""Chunks: some rows of a file, column by column, as its reader gives them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.importing.values.notation import AS_SHOWN, Reading
from warehouse.domain.addresses import has_at

# A chunk is one transaction: at most this many rows, from about this many bytes of a file, so that
# long rows cannot fill the memory.
CHUNK_ROWS: Final = 50_000
CHUNK_BYTES: Final = 8 << 20

# Longer lines are not read: no row of the contract comes near it.
MAX_LINE_BYTES: Final = 16 << 20

# The widest exports have some hundreds. Each column costs time and memory for every chunk.
MAX_COLUMNS: Final = 2_000

# Characters of a rejected row that are kept: a row with the largest schema of a form has fewer.
MAX_KEPT_TEXT: Final = 1 << 20

# The first rejects of a file are kept; the others are only counted, and need no text.
MAX_KEPT_REJECTS: Final = 10_000

# Replaces a text that must not be kept.
HIDDEN: Final = "***"

# Stripped from the names of columns.
AROUND: Final = " \t\r\n\ufeff"
_MAX_LISTED: Final = 20

Values: TypeAlias = "list[Any] | pa.Array"


class UnreadableFile(ValueError):
    """The file as a whole cannot be read; the message is one line that says why."""


class RefusedFile(UnreadableFile):
    """A row shows that nothing of the file is to be taken."""


class BrokenLine(NamedTuple):
    """A line that could not be read: its number, why, and what is kept of it. Nothing is kept of what cannot
    be parsed: its personal parts cannot be told from the others. `is_rest`: nothing after it can be read."""

    line: int
    reason: str
    text: str = HIDDEN
    is_rest: bool = False


@dataclass
class Chunk:
    """Some rows of one file, in their order."""

    # The values of each field that any row has, one per row (None for a row without one).
    columns: dict[str, Values]
    # The number of the line on which each row starts, from 1 (Parquet: of the row).
    lines: npt.NDArray[np.int64]
    # The JSON text of row i, or the line as it is in the file.
    text: Callable[[int], str]
    # Whether the file writes numbers, booleans and lists as text (CSV, Parquet).
    textual: bool = False
    # The lines that could not be decoded.
    broken: list[BrokenLine] = field(default_factory=list)
    # Bytes of the file read so far.
    position: int = 0
    # The format of another system's file, and the shop that was named for it.
    format: str = ""
    shop_id: str = ""
    # Further counts of that format.
    counted: dict[str, int] = field(default_factory=dict)
    # Row, field and reason of what that format could not use.
    left_out: list[tuple[int, str, str]] = field(default_factory=list)
    # The values of row i, by their names, in columns that no field is.
    unread: Callable[[int], dict[str, Any]] | None = None
    # Whether the rows are the lines of another system's table, none of which comes twice.
    is_export: bool = False
    # Why the file as a whole cannot be taken, as far as its readers have seen.
    refusal: str = ""

    def __len__(self) -> int:
        return len(self.lines)

    def without(self, left_out: npt.NDArray[np.bool_]) -> "Chunk":
        """The chunk without some of its rows."""
        rows, places = np.flatnonzero(~left_out), np.cumsum(~left_out) - 1
        unread, text = self.unread, self.text
        return replace(
            self,
            columns={name: rows_of(values, rows) for name, values in self.columns.items()},
            lines=self.lines[rows],
            text=lambda i: text(int(rows[i])),
            unread=(lambda i: unread(int(rows[i]))) if unread else None,
            left_out=[
                (int(places[row]), name, why)
                for row, name, why in self.left_out
                if not left_out[row]
            ],
        )


def rows_of(values: Values, rows: npt.NDArray[np.int64]) -> Values:
    if isinstance(values, list):
        return [values[i] for i in rows]
    return values.take(pa.array(rows))


class WantedColumns(NamedTuple):
    """The columns that a reader looks for."""

    names: Sequence[str]
    # The file must have them.
    required: Sequence[str] = ()
    # How the cells of a column may be written (see `values/notation`), by its name.
    notation_of: Callable[[str], str] = lambda _name: ""
    # How cells are to be read, where they need not show it.
    reading: Reading = AS_SHOWN
    # Whether all columns of numbers are written in one way, so that one shows it for all.
    are_alike: bool = False
    # Whether other columns are wanted, too, to tell rows apart.
    keeps_others: bool = False
    # Words for the user of a file that lacks columns.
    advice: str = ""
    # Whether a column of this name is one of a table, where `names` do not have all its spellings.
    known: Callable[[str], bool] | None = None

    def count_known(self, given: Iterable[str]) -> int:
        """The number of these names of columns that are known."""
        if self.known:
            return sum(map(self.known, set(given)))
        return len({name.lower() for name in self.names} & {name.lower() for name in given})


def column_names(path: Path, given: Sequence[str], wanted: WantedColumns) -> list[str]:
    """The names of a file's columns, wanted ones in their own spelling: databases export them in upper
    case, spreadsheets with spaces or a byte order mark.

    Raises UnreadableFile if no wanted column is among them, a required one is missing, one is there
    twice, or there are too many.
    """
    if len(given) > MAX_COLUMNS:
        raise UnreadableFile(f"{path}: {len(given)} columns; at most {MAX_COLUMNS} can be read")
    spelling = {name.lower(): name for name in wanted.names}
    names = [name.strip(AROUND) for name in given]
    names = [spelling.get(name.lower(), name) for name in names]
    missing = [name for name in wanted.required if name not in names]
    if missing or not set(wanted.names) & set(names):
        expected = ", ".join(missing or listed(wanted.names))
        lacks = "columns missing" if missing else "none of the expected columns"
        raise UnreadableFile(
            f"{path}: {lacks}: {expected}; the file has: {', '.join(listed(names))}{wanted.advice}"
        )
    counted = Counter(filter(None, names))
    twice = next((name for name in counted if counted[name] > 1), None)
    if twice is not None:
        raise UnreadableFile(f"{path}: {counted[twice]} columns are named {listed([twice])[0]!r}")
    return names


def listed(names: Sequence[str]) -> list[str]:
    """Names of columns as a message shows them."""
    # A file without a header has values here: an address among them must not reach a log.
    shown = [
        HIDDEN if has_at(name) else " ".join(name.split())[:60] for name in names[:_MAX_LISTED]
    ]
    return [*shown, f"{len(names) - len(shown)} more"] if len(names) > len(shown) else shown
