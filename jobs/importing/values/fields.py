"""Fields of an import, each declared once: its name, type, meaning, and whether a row must have it.

Reading, checking, required columns, the text of rejects and `python -m jobs fields KIND` all follow
from these declarations. A type reads one cell, and its rules are in `texts`, `numbers` and `times` alone.
`read_clean`, where a type has it, passes a column at once whose cells the rules leave as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from string import digits
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.files.chunk import Values
from jobs.importing.values import notation, numbers, texts, times
from warehouse.domain import text_rules
from warehouse.domain.time import EARLIEST, NEVER

_TEXT: Final = pa.string()
# Digits that a spreadsheet keeps of a number; it writes zeros in the place of the others.
KEPT_DIGITS: Final = 15
# 1E+5: a shorter text has no bytes so far before its end.
_SHORTEST_FLOAT: Final = 3
_EXPONENTS: Final = np.frombuffer(b"eE+", np.uint8)


@dataclass(frozen=True)
class FieldType:
    """A type of cells, and how they are read."""

    # The name that documentation prints.
    name: str
    # Reads a cell that is not missing as the value that is stored; raises InvalidValue.
    read: Callable[..., Any]
    # The value that is stored for a missing cell.
    missing: Any = ""
    # The type of the column.
    arrow: pa.DataType = _TEXT
    # Reads in place of `read` for files that write numbers and lists as text (CSV, Parquet).
    read_text: Callable[..., Any] | None = None
    # Reads a whole column, nulls for missing cells; None if any cell may need `read`.
    read_clean: Callable[[Values], pa.Array | None] | None = None
    # A word of `values/notation` for cells that tables write in several ways; else "".
    notation: str = ""
    # Whether a value that is an e-mail address is stored as its hash.
    may_be_address: bool = False
    # Whether that goes for ids in a list; `read` is then told how (`hash_text`), and of each
    # element that it leaves out, why (`leave_out`).
    has_ids_inside: bool = False
    # Whether a spreadsheet may have taken its values for numbers.
    is_id: bool = False


@dataclass(frozen=True)
class Field:
    """One field of a kind.

    A row is refused for a cell that cannot be used of a field that it must have, or that decides. Any other
    cell that cannot be used is left out, and the row is taken without it.
    """

    name: str
    type: FieldType
    meaning: str
    # Whether every row must have it.
    required: bool = False
    # The rows that must have it otherwise.
    required_for: str = ""
    # Whether it decides which row it is, or how other fields are read.
    decides: bool = False


def all_texts(values: Values) -> pa.Array | None:
    """A column as an Arrow array of texts and nulls; None if it has anything else."""
    if not isinstance(values, list):
        return values if pa.types.is_string(values.type) else None
    try:
        return pa.array(values, pa.string())
    except pa.ArrowException:
        return None


def _clean_texts(values: Values, max_length: int) -> pa.Array | None:
    """Texts that are stored as they are: without NUL, and none of them too long."""
    column = all_texts(values)
    # Bytes: a text has at least as many bytes as characters.
    if (
        column is None
        # The bytes of all rows at once: hardly any file has a NUL.
        or ((data := column.buffers()[2]) is not None and b"\0" in data.to_pybytes())
        or (pc.max(pc.binary_length(column)).as_py() or 0) > max_length
    ):
        return None
    return column


def _clean_ids(values: Values) -> pa.Array | None:
    """Clean texts (see `_clean_texts`) of ids that programs did not take for numbers with decimals."""
    column = _clean_texts(values, text_rules.MAX_ID)
    if column is None:
        return None
    # Whether each may be a number with decimals of 0 or an exponent, by some of its letters: a pattern takes
    # ten times as long.
    starts, ends, data = _bytes_of(column)
    flags = ends - starts >= _SHORTEST_FLOAT
    flags[flags] &= data[starts[flags]] - np.uint8(ord("0")) < len(digits)
    ends = ends[flags]
    may_be_float = data[ends - 1] == ord("0")
    for back in (2, 3, 4):
        may_be_float |= np.isin(data[ends - back], _EXPONENTS)
    flags[flags] &= may_be_float
    suspects = column.filter(pa.array(flags))
    is_float = pc.match_substring_regex(
        suspects, f"^(?:{texts.AS_FLOAT.pattern})$", ignore_case=True
    )
    return None if pc.any(is_float).as_py() else column


def long_ids(column: pa.Array) -> str | None:
    """The first of the numbers of 16 digits and more in a column of ids if all of them end in zeros from the
    16th digit on, as those do that a spreadsheet has stored; "" if one does not, None if there is none."""
    starts, ends, data = _bytes_of(column)
    flags = ends - starts > KEPT_DIGITS
    flags[flags] &= data[starts[flags]] - np.uint8(ord("1")) < len(digits) - 1
    if not flags.any():
        return None
    is_zero = flags.copy()
    is_zero[flags] &= data[ends[flags] - 1] == ord("0")
    if not is_zero.any():
        return ""
    numbers = column.filter(pa.array(flags))
    numbers = numbers.filter(pc.match_substring_regex(numbers, "^[0-9]+$"))
    rest = pc.utf8_slice_codeunits(numbers, KEPT_DIGITS)
    if not len(numbers):
        return None
    is_lost = pc.all(pc.match_substring_regex(rest, "^0+$")).as_py()
    return str(numbers[0].as_py()) if is_lost else ""


def _bytes_of(column: pa.Array) -> tuple[npt.NDArray[Any], ...]:
    """The places at which the bytes of each text begin and end, and the bytes of all."""
    _, offsets, data = column.buffers()
    if data is None or not len(column):
        return tuple(np.zeros(size, np.int64) for size in (len(column), len(column), 0))
    places = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return places[:-1], places[1:], np.frombuffer(data, np.uint8)


def _clean_sent_ids(values: Values) -> pa.Array | None:
    """Clean ids (see `_clean_ids`) that are none of the texts which broken scripts send in the place of
    one."""
    column = _clean_ids(values)
    if column is None:
        return None
    # Lengths first: hardly any id has to be lowered.
    lengths = pa.array({len(text) for text in text_rules.NO_IDS}, pa.int32())
    suspects = column.filter(pc.is_in(pc.binary_length(column), lengths))
    is_none = pc.is_in(pc.utf8_lower(suspects), pa.array(text_rules.NO_IDS))
    return None if pc.any(is_none).as_py() else column


def _clean_whole_numbers(values: Values) -> pa.Array | None:
    if not isinstance(values, list) or not set(map(type, values)) <= {int, type(None)}:
        return None
    try:
        column = pa.array(values, pa.int64())
    except (pa.ArrowException, OverflowError):
        return None
    return column if (pc.min(column).as_py() or 0) >= 0 else None


def _clean_instants(values: Values) -> pa.Array | None:
    if not isinstance(values, list) and pa.types.is_timestamp(values.type):
        column = values.cast(pa.int64())
    else:
        written = all_texts(values)
        if written is None:
            return None
        present = pc.not_equal(written, "").fill_null(False)
        read = times.uniform_instants(written.filter(present))
        if read is None:
            return None
        instants = np.zeros(len(written), dtype=np.int64)
        flags = present.to_numpy(zero_copy_only=False)
        instants[flags] = read
        column = pa.array(instants, mask=~flags)
    least, most = pc.min_max(column).as_py().values()
    if least is None or EARLIEST <= least <= most <= times.latest_instant():
        return column
    return None


_INT64: Final = pa.int64()

ID: Final = FieldType(
    "id, at most 255 characters",
    texts.identifier,
    read_clean=_clean_ids,
    may_be_address=True,
    is_id=True,
)
SENT_ID: Final = replace(ID, read=texts.sent_id, read_clean=_clean_sent_ids)
"""The id of an event, a form session, a visitor, a customer or an order."""
CODE: Final = FieldType("id, compared in any case", texts.code, may_be_address=True, is_id=True)
PROVIDER: Final = FieldType("id, kept in lower case", texts.provider)
NAME: Final = FieldType(
    "text, cut at 1,000 characters",
    texts.name,
    read_clean=partial(_clean_texts, max_length=text_rules.MAX_NAME),
)
SHORT_TEXT: Final = FieldType(
    "text, cut at 255 characters",
    texts.short_text,
    read_clean=partial(_clean_texts, max_length=texts.MAX_SHORT_TEXT),
    may_be_address=True,
)
PAGE_PATH: Final = FieldType(
    "text, cut at 255 characters, without what follows a `?`", texts.page_path
)
UUID: Final = FieldType("UUID", texts.uuid)
EMAIL: Final = FieldType("e-mail address; only its hash is kept", texts.email)
EMAIL_SHA256: Final = FieldType("64 hexadecimal digits", texts.email_sha256)
CURRENCY: Final = FieldType("ISO 4217 currency", texts.currency)
CURRENCY_CODE: Final = FieldType("currency code of three letters", texts.currency_code)
TIMEZONE: Final = FieldType("IANA time zone", texts.timezone)
JSON_OBJECT: Final = FieldType("JSON object", texts.json_object)
INSTANT: Final = FieldType(
    "ISO 8601 time from 2000 on, at most a day ahead; UTC without an offset",
    times.recent_instant,
    NEVER,
    _INT64,
    read_clean=_clean_instants,
    notation=notation.TIME,
)
OLD_INSTANT: Final = FieldType(
    "ISO 8601 time from 1970 on, at most a day ahead; UTC without an offset",
    times.instant,
    None,
    _INT64,
    notation=notation.TIME,
)
DAY: Final = FieldType("date (YYYY-MM-DD)", times.day, 0, _INT64, notation=notation.DAY)
WHOLE: Final = FieldType(
    "whole number from 0",
    numbers.json_whole_number,
    0,
    _INT64,
    read_text=numbers.whole_number,
    read_clean=_clean_whole_numbers,
    notation=notation.WHOLE,
)
# Platforms write their counts as text in JSON, too.
COUNT: Final = FieldType(
    "whole number from 0", numbers.whole_number, 0, _INT64, notation=notation.WHOLE
)
DECIMAL: Final = FieldType("decimal number", numbers.decimal, notation=notation.NUMBER)
POSITIVE: Final = FieldType("decimal number above 0", numbers.positive, notation=notation.NUMBER)
FLAG: Final = FieldType("true or false", texts.flag, 0, pa.int16())
