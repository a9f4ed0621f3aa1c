"""Fields of an import, each declared once: its name, type, meaning, and whether a row must have it.

Reading, checking, required columns, the text of rejects and `python -m jobs fields KIND` all follow
from these declarations. A type reads one cell, and its rules are in `texts`, `numbers` and `times` alone.
`read_clean`, where a type has it, passes a column at once whose cells the rules leave as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.files.chunk import Values
from jobs.importing.values import numbers, texts, times
from jobs.importing.values.notation import NUMBER, TIME
from warehouse.domain import text_rules
from warehouse.domain.time import EARLIEST, NEVER

_TEXT: Final = pa.string()
# A longer text is hardly a time, and is read by itself.
_LONGEST_TIME: Final = 100


@dataclass(frozen=True)
class FieldType:
    """How cells of a type are read.

    `name`: as documentation prints it. `read`: a cell that is not missing as the value that is stored;
    raises InvalidValue. `missing`: what is stored for a missing cell. `arrow`: the type of the column.
    `read_text`: in place of `read` for files that write numbers and lists as text (CSV, Parquet).
    `read_clean`: a whole column, nulls for missing cells; None if any cell may need `read`.
    `notation`: NUMBER or TIME if its cells are such, which tables write in several ways; else "".
    `may_be_address`: whether a value that is an e-mail address is stored as its hash.
    `has_ids_inside`: whether that goes for ids in a value; `read` is then told how (`hash_text`).
    """

    name: str
    read: Callable[..., Any]
    missing: Any = ""
    arrow: pa.DataType = _TEXT
    read_text: Callable[..., Any] | None = None
    read_clean: Callable[[Values], pa.Array | None] | None = None
    notation: str = ""
    may_be_address: bool = False
    has_ids_inside: bool = False


@dataclass(frozen=True)
class Field:
    """One field of a kind. `required`: every row must have it. `required_for`: the rows that must have
    it otherwise."""

    name: str
    type: FieldType
    meaning: str
    required: bool = False
    required_for: str = ""


def all_texts(values: Values) -> pa.Array | None:
    """A column as an Arrow array of texts and nulls, possibly with a dictionary; None if it has anything
    else."""
    if not isinstance(values, list):
        is_texts = pa.types.is_string(values.type) or pa.types.is_dictionary(values.type)
        return values if is_texts else None
    try:
        return pa.array(values, pa.string())
    except pa.ArrowException:
        return None


def _clean_texts(values: Values, max_length: int) -> pa.Array | None:
    """Texts that are stored as they are: without NUL, and none of them too long."""
    column = all_texts(values)
    if column is not None and pa.types.is_dictionary(column.type):
        distinct = _clean_texts(column.dictionary, max_length)
        return None if distinct is None else distinct.take(column.indices)
    # Bytes: a text has at least as many bytes as characters.
    if (
        column is None
        or _has_nul(column)
        or (pc.max(pc.binary_length(column)).as_py() or 0) > max_length
    ):
        return None
    return column


def _clean_ids(values: Values) -> pa.Array | None:
    """The same, of ids that are none of the texts which broken scripts send in the place of one."""
    column = _clean_texts(values, text_rules.MAX_ID)
    if column is None:
        return None
    # Lengths first: hardly any id has to be lowered.
    lengths = pa.array({len(text) for text in text_rules.NO_IDS}, pa.int32())
    suspects = column.filter(pc.is_in(pc.binary_length(column), lengths))
    is_none = pc.is_in(pc.utf8_lower(suspects), pa.array(text_rules.NO_IDS))
    return None if pc.any(is_none).as_py() else column


def _has_nul(array: pa.Array) -> bool:
    # The bytes of all rows at once: hardly any file has a NUL.
    data = array.buffers()[2]
    return data is not None and b"\0" in memoryview(data).tobytes()


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
        if pa.types.is_dictionary(written.type):
            if (pc.max(pc.binary_length(written.dictionary)).as_py() or 0) > _LONGEST_TIME:
                return None
            written = written.dictionary.take(written.indices)
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
    read_clean=partial(_clean_texts, max_length=text_rules.MAX_ID),
    may_be_address=True,
)
SENT_ID: Final = replace(ID, read=texts.sent_id, read_clean=_clean_ids)
"""The id of an event, a form session, a visitor, a customer or an order."""
CODE: Final = FieldType("id, compared in any case", texts.code, may_be_address=True)
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
    notation=TIME,
)
OLD_INSTANT: Final = FieldType(
    "ISO 8601 time from 1970 on, at most a day ahead; UTC without an offset",
    times.instant,
    None,
    _INT64,
    notation=TIME,
)
DAY: Final = FieldType("date (YYYY-MM-DD)", times.day, 0, _INT64, notation=TIME)
WHOLE: Final = FieldType(
    "whole number from 0",
    numbers.json_whole_number,
    0,
    _INT64,
    read_text=numbers.whole_number,
    read_clean=_clean_whole_numbers,
    notation=NUMBER,
)
# Platforms write their counts as text in JSON, too.
COUNT: Final = FieldType("whole number from 0", numbers.whole_number, 0, _INT64, notation=NUMBER)
DECIMAL: Final = FieldType("decimal number", numbers.decimal, notation=NUMBER)
POSITIVE: Final = FieldType("decimal number above 0", numbers.positive, notation=NUMBER)
FLAG: Final = FieldType("true or false", texts.flag, 0, pa.int16())
