"""The rows of one chunk, read column by column: those that are refused, and those that are taken without a
field that could not be used."""

from collections.abc import Iterable
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.files.chunk import Chunk, Values
from jobs.importing.values.errors import InvalidValue, LostDigits
from jobs.importing.values.fields import Field, all_texts, long_ids
from warehouse.domain.email_hash import KEYED_MARK, EmailHasher, may_hold_address
from warehouse.domain.vocabulary import KEPT, KEPT_WITHOUT, MISSING, Reason

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
        # Accepted rows that were written before.
        self.passed_over: set[int] = set()
        for row, field, reason in chunk.left_out:
            self.leave_out(row, field, reason)
        # The result of `fields.long_ids`, by field of ids.
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
        """Take a row without a field. The first reason of several stands."""
        self._left_out.setdefault(row, {}).setdefault(field, reason)

    def refuse_missing(self, rows: Flags, field: str) -> None:
        """Refuse some rows, given as a flag for each row, that lack a field."""
        self.refuse(rows, field, "missing", MISSING)

    def incomplete(self) -> list[tuple[int, Reason]]:
        """Row number and reason (`kept without email: not a text`) of each accepted row that is taken without
        a field, in order."""
        return [
            (
                row,
                Reason(
                    KEPT_WITHOUT + "; without ".join(map(": ".join, fields.items())),
                    KEPT,
                    next(iter(fields)) if len(fields) == 1 else "",
                ),
            )
            for row, fields in sorted(self._left_out.items(), key=itemgetter(0))
            if not self._refused[row]
        ]

    def is_incomplete(self) -> Flags:
        """Whether each row is taken without a field."""
        flags = np.zeros(len(self.chunk), dtype=bool)
        flags[list(self._left_out)] = True
        return flags

    def to_write(self) -> Flags:
        """Whether each row is to be written."""
        flags = self.accepted()
        flags[list(self.passed_over)] = False
        return flags

    def accepted(self) -> Flags:
        """Whether each row is accepted so far."""
        return self._refused == 0

    def refused_rows(self) -> int:
        """The number of rows that are refused so far."""
        return int(np.count_nonzero(self._refused))

    def refused(self) -> list[tuple[int, Reason]]:
        """Row number and reason of each refused row, in order."""
        rows = np.flatnonzero(self._refused)
        reasons = self._refused[rows].tolist()
        return [(row, self._reasons[n]) for row, n in zip(rows.tolist(), reasons, strict=True)]

    def hashed_addresses(self) -> int:
        """The number of values of accepted rows, e-mails aside, that are stored as the hash of an address."""
        return int(self._hashed[self.accepted()].sum())

    def cells(self, name: str) -> Values:
        """The values of a field as the file has them, in an Arrow array where all are texts; None for a row
        without one."""
        values = self.chunk.columns.get(name)
        if values is None:
            return pa.nulls(len(self.chunk), pa.string())
        if isinstance(values, list) and (texts := all_texts(values)) is not None:
            values = self.chunk.columns[name] = texts
        return values

    def distinct(self, name: str) -> tuple[list[Any], npt.NDArray[np.int64]]:
        """The distinct values of a field as Python values, and the place of each row's among them."""
        return _distinct(self.cells(name))

    def objects(self, name: str) -> list[Any]:
        """The values of a field as Python values; see `cells`."""
        values = self.cells(name)
        if isinstance(values, list):
            return values
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
            if isinstance(values, list):
                pairs = zip(values, only, strict=True)
                values = [value if is_wanted else None for value, is_wanted in pairs]
            else:
                values = pc.if_else(pa.array(only), values, None)
        # Each text of a dictionary is looked at once, and stands in all its rows at the end.
        cells, places = values, None
        if isinstance(values, pa.DictionaryArray):
            values = _used(values)
            cells, places = values.dictionary, values.indices
        if not isinstance(cells, list) and cells.null_count == len(cells):
            column = pa.nulls(len(cells), type.arrow)
            absent = column.is_null()
        elif type.read_clean and (clean := type.read_clean(cells)) is not None:
            column, absent = clean, _is_missing(clean)
        else:
            column, places = self._read_each(field, values, needed)
            absent = column.is_null()
        if field.required:
            self.refuse_missing(_flags(_in_rows(absent, places, True)), field.name)
        if column.type == pa.string():
            if type.is_id and (found := long_ids(column)) is not None:
                self.long_ids[field.name] = found
            if type.missing not in ("", None):
                column = pc.if_else(_is_missing(column), type.missing, column)
            if type.may_be_address and _may_hold_address(column):
                texts, numbers = _distinct(column)
                stored = [text and type.read(self.hasher.text(text)) for text in texts]
                column = pa.array(stored, pa.string()).take(pa.array(numbers))
            if type.may_be_address or type.has_ids_inside:
                self.count_hashes(column, places)
        return _in_rows(column, places, type.missing)

    def count_hashes(self, texts: pa.Array, places: pa.Array | None = None) -> None:
        """Count the hashes of addresses in texts as they are stored, of each row or at these places."""
        if _may_hold_address(texts):
            counted = _in_rows(pc.count_substring_regex(texts, KEYED_MARK), places, 0)
            self._hashed += counted.to_numpy(zero_copy_only=False)

    def _read_each(
        self, field: Field, values: Values, needed: Flags | None
    ) -> tuple[pa.Array, pa.Array]:
        """The distinct cells of a field, each read by itself, nulls for missing ones; and each row's place
        among them."""
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
        return pa.array(results, field.type.arrow), pa.array(places)


def _distinct(values: Values) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """The distinct cells, and the number of its distinct cell for each row."""
    if not isinstance(values, list) and not pa.types.is_timestamp(values.type):
        is_encoded = isinstance(values, pa.DictionaryArray)
        encoded = _used(values) if is_encoded else values.dictionary_encode()
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


def _used(values: pa.DictionaryArray) -> pa.DictionaryArray:
    """A column whose dictionary has only the texts of its rows, in their order: that of a file has the texts
    of all its chunks."""
    used = values.indices.unique().drop_null()
    numbers = np.zeros(len(values.dictionary), np.int32)
    numbers[used.to_numpy()] = np.arange(len(used))
    indices = pa.array(numbers).take(values.indices)
    return pa.DictionaryArray.from_arrays(indices, values.dictionary.take(used))


def _in_rows(column: pa.Array, places: pa.Array | None, missing: Any) -> pa.Array:
    """A column of distinct values as that of the rows at which they stand."""
    column = column if places is None else column.take(places)
    return column if missing is None else column.fill_null(missing)


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
