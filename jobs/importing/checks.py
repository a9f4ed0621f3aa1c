"""Checks of whole columns. Each gives the column as the tables want it, and refuses rows for a reason.

No check gives a null: what is missing is "", 0, False or `days.NEVER`. What a refused row holds in a
column is of no consequence. Of several reasons to refuse a row, the first stands.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.identity import digest, hashed_email, uuid
from jobs.importing.numbers import MOST, is_number, number_text, whole_number
from jobs.importing.portion import Portion, Values
from jobs.importing.times import UNREADABLE, instant, instants
from warehouse.days import EARLIEST, LATEST, NEVER

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

ID_LENGTH: Final = 255
_NO_TEXT: Final = "not a text"
_TRUE_OR_FALSE: Final[dict[Any, bool]] = {
    **dict.fromkeys((True, 1, 1.0, "true", "1"), True),
    **dict.fromkeys((False, 0, 0.0, "false", "0", "", None), False),
}


class Checks:
    """The checks of one portion, and what they refuse."""

    def __init__(self, portion: Portion) -> None:
        self.portion = portion
        self._why = np.zeros(len(portion), dtype=np.int32)
        self._reasons = [""]

    # --- what is refused ---

    def refuse(self, rows: npt.ArrayLike, reason: str) -> None:
        """Refuse some rows: their numbers, or a flag for each row."""
        rows = np.asarray(rows)
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        if rows.size:
            rows = rows.astype(np.int64)
            self._reasons.append(reason)
            self._why[rows[self._why[rows] == 0]] = len(self._reasons) - 1

    def good(self) -> Flags:
        """The rows that no check has refused."""
        return self._why == 0

    def refused(self) -> list[tuple[int, str]]:
        """Row and reason of each row that was refused."""
        return [(int(row), self._reasons[self._why[row]]) for row in np.flatnonzero(self._why)]

    # --- columns as they are given ---

    def given(self, name: str) -> Values:
        """The values of a field, None where a row has none."""
        values = self.portion.columns.get(name)
        return [None] * len(self.portion) if values is None else values

    def objects(self, name: str) -> list[Any]:
        """The same as Python values."""
        values = self.given(name)
        return values if isinstance(values, list) else values.to_pylist()

    # --- texts ---

    def text(
        self,
        name: str,
        *,
        required: bool = False,
        longest: int | None = ID_LENGTH,
        cut: int | None = None,
    ) -> pa.Array:
        """A text of at most `longest` characters, or (names and the like) cut to so many. A number
        counts as its text, but for what is an id only a whole one."""
        column = self._without_nul(name, self._texts(name, whole=cut is None))
        most = cut or longest
        # Bytes first: few texts have more of them than they may have characters.
        if most and (pc.max(pc.binary_length(column)).as_py() or 0) > most:
            if cut:
                column = pc.utf8_slice_codeunits(column, 0, cut)
            else:
                too_long = pc.greater(pc.utf8_length(column), most)
                self.refuse(_flags(too_long), f"{name}: longer than {most} characters")
        if required:
            self.refuse(_flags(pc.equal(column, "")), f"{name}: missing")
        return column

    def word(self, name: str, other: str) -> pa.Array:
        """A text of any length; `other` stands for what is no text."""
        return self._without_nul(name, self._texts(name, other=other))

    def _without_nul(self, name: str, column: pa.Array) -> pa.Array:
        if _holds_nul(column):
            self.refuse(_flags(pc.match_substring(column, "\0")), f"{name}: has a NUL character")
        return column

    def _texts(self, name: str, *, whole: bool = True, other: str | None = None) -> pa.Array:
        """Texts without nulls. `other` stands for what is none, where that does not refuse a row."""
        values = self.given(name)
        if isinstance(values, list):
            try:
                # Nearly every column has nothing but texts: looking whether it does is dear.
                values = pa.array(values, pa.string())
            except pa.ArrowException:
                read = [
                    self._as_text(name, row, value, whole) if other is None else _or(value, other)
                    for row, value in enumerate(values)
                ]
                values = pa.array(read, pa.string())
        elif not pa.types.is_string(values.type):
            if other is None:
                self.refuse(_flags(values.is_valid()), f"{name}: {_NO_TEXT}")
            values = pc.if_else(values.is_valid(), other or "", "")
        return pc.fill_null(values, "")

    def _as_text(self, name: str, row: int, value: Any, whole: bool) -> str:
        if isinstance(value, str):
            return value
        if value is None:
            return ""
        found, reason = number_text(value, whole=whole) if is_number(value) else ("", _NO_TEXT)
        if reason:
            self.refuse([row], f"{name}: {reason}")
        return found

    def mapped(
        self, name: str, column: pa.Array, change: Callable[[str], str | None], reason: str
    ) -> pa.Array:
        """Each distinct text changed; where the change gives None, rows are refused for the reason."""
        encoded = column.dictionary_encode()
        changed = [change(text) if text else "" for text in encoded.dictionary.to_pylist()]
        if None in changed:
            bad = np.array([text is None for text in changed])
            self.refuse(bad[encoded.indices.to_numpy()], f"{name}: {reason}")
        texts = pa.array([text or "" for text in changed], pa.string())
        return texts.take(encoded.indices)

    def codes(self, name: str, column: pa.Array, code: Callable[[str], int]) -> Numbers:
        """A number for each distinct text; where it is negative, rows are refused."""
        encoded = column.dictionary_encode()
        known = np.array([code(text) for text in encoded.dictionary.to_pylist()], dtype=np.int64)
        numbers = known[encoded.indices.to_numpy()] if len(known) else np.empty(0, np.int64)
        for bad in np.flatnonzero(known < 0):
            text = encoded.dictionary[int(bad)].as_py()
            shown = f"unknown {text[:60]!r}" if text else "missing"
            self.refuse(encoded.indices.to_numpy() == bad, f"{name}: {shown}")
        return numbers

    def shop(self, shops: Mapping[str, int]) -> Numbers:
        """The key of each row's shop."""
        return self.codes("shop_id", self.text("shop_id"), lambda text: shops.get(text, -1))

    def uuid(self, name: str, *, required: bool = False) -> pa.Array:
        """A UUID of 36 characters, in lower case."""
        column = self.text(name, required=required)
        return self.mapped(name, column, uuid, "not a UUID")

    def email_sha256(self) -> pa.Array:
        """The hash of `email` where it is given, else `email_sha256`."""
        clear = self.mapped("email", self.text("email", longest=None), hashed_email, "")
        given = self.text("email_sha256", longest=None)
        given = pc.if_else(pc.equal(clear, ""), given, "")
        hashed = self.mapped("email_sha256", given, digest, "not 64 hexadecimal digits")
        return pc.if_else(pc.equal(clear, ""), hashed, clear)

    # --- times, numbers, flags ---

    def instant(self, name: str, *, required: bool = False) -> Numbers:
        """A time from 2000 to 2100 as an instant; NEVER where it is missing."""
        values = self.given(name)
        if isinstance(values, list) and not set(map(type, values)) <= {str, type(None)}:
            found = np.array([NEVER if v in (None, "") else instant(v) for v in values], np.int64)
            missing = found == NEVER
        elif not isinstance(values, list) and pa.types.is_timestamp(values.type):
            missing = _flags(values.is_null())
            found = values.cast(pa.int64()).fill_null(0).to_numpy()
        else:
            texts = self._texts(name)
            missing = _flags(pc.equal(texts, ""))
            found = np.full(len(texts), NEVER)
            found[~missing] = instants(texts.filter(pa.array(~missing)) if missing.any() else texts)
        if required:
            self.refuse(missing, f"{name}: missing")
        self.refuse(~missing & (found == UNREADABLE), f"{name}: not an ISO 8601 time")
        outside = (found < EARLIEST) | (found >= LATEST)
        self.refuse(~missing & outside, f"{name}: before 2000 or after 2100")
        return np.where(missing, NEVER, found)

    def whole(self, name: str, *, required: bool = False) -> tuple[Numbers, Flags]:
        """A whole number from 0 to 2^63 - 1, and whether it is missing (then it is 0)."""
        values = self.objects(name)
        if values.count(None) == len(values):
            found, missing = np.zeros(len(values), np.int64), np.ones(len(values), bool)
        else:
            found, missing = self._wholes(name, values)
        if required:
            self.refuse(missing, f"{name}: missing")
        return found, missing

    def _wholes(self, name: str, values: list[Any]) -> tuple[Numbers, Flags]:
        found = np.zeros(len(values), dtype=np.int64)
        missing = np.zeros(len(values), dtype=bool)
        for row, value in enumerate(values):
            if value is None or value == "":
                missing[row] = True
                continue
            if type(value) is int and 0 <= value <= MOST:
                found[row] = value
                continue
            number, reason = whole_number(value, textual=self.portion.textual)
            if reason:
                self.refuse([row], f"{name}: {reason}")
            found[row] = number
        return found, missing

    def flag(self, name: str) -> Flags:
        """True or false; false where it is missing."""
        values = [v.lower() if isinstance(v, str) else v for v in self.objects(name)]
        known = [v.__hash__ is not None and v in _TRUE_OR_FALSE for v in values]
        self.refuse(~np.array(known, dtype=bool), f"{name}: not true or false")
        pairs = zip(values, known, strict=True)
        return np.array([ok and _TRUE_OR_FALSE[value] for value, ok in pairs], dtype=bool)


def _or(value: Any, other: str) -> str | None:
    return value if value is None or isinstance(value, str) else other


def _flags(array: pa.Array) -> Flags:
    return array.to_numpy(zero_copy_only=False)


def _holds_nul(column: pa.Array) -> bool:
    # The text of all rows at once: nearly no file has a NUL anywhere.
    data = column.buffers()[2]
    return data is not None and b"\0" in memoryview(data).tobytes()
