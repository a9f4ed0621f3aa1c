"""The rows of one chunk, read column by column: those that are refused, and those that are taken without a
field that could not be used."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.files.chunk import Chunk, Values
from jobs.importing.values.errors import InvalidValue, LostDigits
from jobs.importing.values.fields import Field, FieldType, all_texts, long_ids
from warehouse.domain.email_hash import KEYED_MARK, EmailHasher, may_hold_address
from warehouse.operations.reject_reasons import KEPT, KEPT_WITHOUT, MISSING, Reason

Flags = npt.NDArray[np.bool_]


class ChunkColumns:
    """The columns of one chunk. The first of several reasons to refuse a row stands; the values of a
    refused row are of no consequence. `hasher` hashes e-mail addresses as the warehouse does."""

    def __init__(self, chunk: Chunk, hasher: EmailHasher) -> None:
        self.chunk, self.hasher = chunk, hasher
        # How many values of each row are stored as the hash of an address.
        self._hashed = np.zeros(len(chunk), dtype=np.int64)
        # Why each row is refused: the place of its reason, 0 for a row that is accepted so far.
        self._refused = np.zeros(len(chunk), dtype=np.int64)
        self._reasons = [Reason("")]
        # The rows without a field that they state: its name and why, by row.
        self._left_out: dict[int, dict[str, str]] = {}
        self._passed_over: set[int] = set()
        for row, field, reason in chunk.left_out:
            self.leave_out(row, field, reason)
        # By field of ids, the result of `fields.long_ids`.
        self.long_ids: dict[str, str] = {}

    def refuse(self, rows: npt.ArrayLike, field: str, why: str, code: str = "") -> None:
        """Refuse some rows for a field, given as row numbers or as a flag for each row."""
        rows = np.asarray(rows)
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        self._reasons.append(Reason(f"{field}: {why}", code, field))
        accepted = rows[self._refused[rows] == 0]
        self._refused[accepted] = len(self._reasons) - 1

    def leave_out(self, row: int, field: str, reason: str) -> None:
        """Have a row be taken without a field. The first reason of several stands."""
        self._left_out.setdefault(row, {}).setdefault(field, reason)

    def refuse_missing(self, rows: Flags, field: str) -> None:
        """Refuse some rows, given as a flag for each row, that lack a field."""
        self.refuse(rows, field, "missing", MISSING)

    def incomplete(self) -> list[tuple[int, Reason]]:
        """Row number and reason (`kept without email: not a text`) of each accepted row that is taken without
        a field, in order."""
        return [
            (row, _kept_without(self._left_out[row]))
            for row in sorted(self._left_out)
            if not self._refused[row]
        ]

    def is_incomplete(self) -> Flags:
        """Whether each row is taken without a field."""
        flags = np.zeros(len(self.chunk), dtype=bool)
        flags[list(self._left_out)] = True
        return flags

    def pass_over(self, rows: Iterable[int]) -> None:
        """Have accepted rows not be written: they were before."""
        self._passed_over.update(rows)

    def passed_over(self) -> int:
        return len(self._passed_over)

    def to_write(self) -> Flags:
        """Whether each row is to be written."""
        flags = self.accepted()
        flags[list(self._passed_over)] = False
        return flags

    def accepted(self) -> Flags:
        """Whether each row is accepted so far."""
        return self._refused == 0

    def refused_rows(self) -> int:
        """How many rows are refused so far."""
        return int(np.count_nonzero(self._refused))

    def refused(self) -> list[tuple[int, Reason]]:
        """Row number and reason of each refused row, in order."""
        rows = np.flatnonzero(self._refused)
        reasons = self._refused[rows].tolist()
        return [(row, self._reasons[n]) for row, n in zip(rows.tolist(), reasons, strict=True)]

    def hashed_addresses(self) -> int:
        """How many values of accepted rows, e-mails aside, are stored as the hash of an address."""
        return int(self._hashed[self.accepted()].sum())

    def cells(self, name: str) -> Values:
        """The values of a field as the file has them; None for a row without one."""
        values = self.chunk.columns.get(name)
        return [None] * len(self.chunk) if values is None else values

    def objects(self, name: str) -> list[Any]:
        """The same as Python values."""
        values = self.cells(name)
        if isinstance(values, list):
            return values
        if not pa.types.is_dictionary(values.type):
            return values.to_pylist()
        # Each text once, however many rows have it.
        distinct, places = _distinct(values)
        return [distinct[place] for place in places.tolist()]

    def missing(self, name: str) -> Flags:
        """Whether each row lacks a field: it has none, null, or an empty text."""
        values = self.cells(name)
        if not isinstance(values, list):
            return _flags(_is_missing(values))
        return np.array([value is None or value == "" for value in values], dtype=bool)

    def read_all(self, fields: Iterable[Field]) -> dict[str, pa.Array]:
        """The column of each field, by name."""
        return {field.name: self.read(field) for field in fields}

    def read(
        self, field: Field, only: Flags | None = None, needed: Flags | None = None
    ) -> pa.Array:
        """The column of a field as it is stored. A row whose cell cannot be used is refused where the field
        must be usable (see `Field`), or in the rows `needed`; else it is taken without the field.
        `only`: cells of other rows count as missing."""
        values, type = self.cells(field.name), field.type
        if only is not None and not only.all():
            values = _only(values, only)
        if isinstance(values, list) and values.count(None) == len(values):
            column = pa.nulls(len(values), type.arrow)
            absent = column.is_null()
        elif type.read_clean and (clean := type.read_clean(values)) is not None:
            column, absent = clean, _is_missing(clean)
        else:
            column = self._read_each(field, values, needed)
            absent = column.is_null()
        if field.required:
            self.refuse_missing(_flags(absent), field.name)
        if type.is_id and column.type == pa.string() and (found := long_ids(column)) is not None:
            self.long_ids[field.name] = found
        if type.missing not in ("", None) and column.type == pa.string():
            column = pc.if_else(_is_missing(column), type.missing, column)
        if column.type == pa.string():
            if type.may_be_address:
                column = self._without_addresses(column, type)
            elif type.has_ids_inside:
                self.count_hashes(column)
        return column if type.missing is None else column.fill_null(type.missing)

    def count_hashes(self, column: pa.Array) -> None:
        """Count the hashes of addresses in a column of texts as it is stored."""
        if _may_hold_address(column):
            counted = pc.count_substring_regex(column, KEYED_MARK).fill_null(0)
            self._hashed += counted.to_numpy(zero_copy_only=False)

    def _without_addresses(self, column: pa.Array, type: FieldType) -> pa.Array:
        """A column of texts as it was read, with the hash of each that is an address."""
        if not _may_hold_address(column):
            return column
        distinct, places = _distinct(column)
        stored = [text and type.read(self.hasher.text(text)) for text in distinct]
        column = pa.array(stored, pa.string()).take(pa.array(places))
        self.count_hashes(column)
        return column

    def _read_each(self, field: Field, values: Values, needed: Flags | None) -> pa.Array:
        """The column of a field, each distinct cell read by itself; nulls for missing cells."""
        textual = self.chunk.textual and field.type.read_text is not None
        read = field.type.read_text if textual else field.type.read
        assert read
        left_out: list[str] = []
        if field.type.has_ids_inside:
            read = partial(read, hash_text=self.hasher.text, leave_out=left_out.append)
        distinct, places = _distinct(values)
        results, reasons = [], [""]
        # The place of the reason why a cell cannot be used, or not all of it.
        unusable = np.zeros(len(distinct), dtype=np.int64)
        for number, cell in enumerate(distinct):
            result = None
            if cell is not None and cell != "":
                try:
                    result = read(cell)
                except InvalidValue as cause:
                    left_out.append(str(cause))
                    if isinstance(cause, LostDigits):
                        self.chunk.refusal = self.chunk.refusal or f"{field.name}: {cause}"
            if left_out:
                unusable[number] = len(reasons)
                reasons.append(left_out[0])
                left_out.clear()
            results.append(result)
        if len(reasons) > 1:
            why = unusable[places]
            must = field.required or field.decides
            needed = np.full(len(why), must) if needed is None else needed
            refused = (why > 0) & needed & (self._refused == 0)
            self._refused[refused] = why[refused] + len(self._reasons) - 1
            self._reasons += [
                Reason(f"{field.name}: {reason}", field=field.name) for reason in reasons[1:]
            ]
            for row in np.flatnonzero((why > 0) & ~needed).tolist():
                self.leave_out(row, field.name, reasons[why[row]])
        return pa.array(results, field.type.arrow).take(pa.array(places))


def _kept_without(fields: dict[str, str]) -> Reason:
    words = KEPT_WITHOUT + "; without ".join(map(": ".join, fields.items()))
    return Reason(words, KEPT, next(iter(fields)) if len(fields) == 1 else "")


def _only(values: Values, wanted: Flags) -> Values:
    """The wanted cells; None for the others."""
    if not isinstance(values, list):
        return pc.if_else(pa.array(wanted), values, None)
    return [value if is_wanted else None for value, is_wanted in zip(values, wanted, strict=True)]


def _distinct(values: Values) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """The distinct cells, and the number of its distinct cell for each row."""
    column = all_texts(values)
    if column is not None:
        is_encoded = pa.types.is_dictionary(column.type)
        encoded = column if is_encoded else column.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        places = encoded.indices.fill_null(len(distinct)).to_numpy().astype(np.int64)
        return [*distinct, None], places
    numbers: dict[Any, int] = {}
    cells: list[Any] = []
    row_numbers = []
    for value in values if isinstance(values, list) else values.to_pylist():
        # Cells of different types can be equal: 1 and true.
        key = (value.__class__, value)
        try:
            number = numbers.setdefault(key, len(cells))
        except TypeError:  # a list or an object
            number = len(cells)
        if number == len(cells):
            cells.append(value)
        row_numbers.append(number)
    return cells, np.array(row_numbers, dtype=np.int64)


def _may_hold_address(texts: pa.Array) -> bool:
    data = texts.buffers()[2]
    return data is not None and may_hold_address(data.to_pybytes())


def _is_missing(texts: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(texts.type):
        return _is_missing(texts.dictionary).take(texts.indices).fill_null(True)
    if not pa.types.is_string(texts.type):
        return texts.is_null()
    return pc.or_kleene(texts.is_null(), pc.equal(texts, ""))


def _flags(array: pa.Array) -> Flags:
    return array.fill_null(False).to_numpy(zero_copy_only=False)
