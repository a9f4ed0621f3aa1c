"""Portions as rows: each field read by its own function, each row taken or refused with a reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from jobs.importing.cells import Malformed, Read, Value, is_missing
from jobs.importing.portion import Portion

Row = tuple[Any, ...]
REQUIRED: Final = object()


@dataclass(frozen=True)
class Field:
    """One field of a kind: how a cell of it is read, and what stands for a missing one."""

    name: str
    read: Read
    default: Value | None | object = REQUIRED


def read_rows(portion: Portion, fields: Sequence[Field]) -> tuple[list[Row], dict[int, str]]:
    """One tuple of values per row, and the reason for each row (by position) that is refused; such
    a row's tuple is not to be used."""
    refused: dict[int, str] = {}
    columns = [_column(portion, field, refused) for field in fields]
    return list(zip(*columns, strict=True)), refused


def _column(portion: Portion, field: Field, refused: dict[int, str]) -> list[Any]:
    cells = portion.columns.get(field.name)
    if cells is None:
        cells = [None] * len(portion)
    elif isinstance(cells, pa.Array | pa.ChunkedArray):
        cells = cells.to_pylist()
    # Texts repeat from row to row: each is read once.
    known: dict[str, Any] = {}
    values: list[Any] = []
    for place, cell in enumerate(cells):
        if cell.__class__ is str and cell in known:
            values.append(known[cell])
            continue
        try:
            value = _read(field, cell)
        except Malformed as cause:
            refused.setdefault(place, f"{field.name}: {cause}")
            value = None
        else:
            if cell.__class__ is str:
                known[cell] = value
        values.append(value)
    return values


def _read(field: Field, cell: Any) -> Any:
    if not is_missing(cell):
        return field.read(cell)
    if field.default is REQUIRED:
        raise Malformed("missing")
    return field.default


def with_shop_keys(
    rows: list[Row], refused: dict[int, str], keys: Mapping[str, int]
) -> tuple[list[Row], list[int]]:
    """The rows that stand, with the shop's key in place of its id (their first value), and the
    position of each. Rows of shops that are not known are added to those refused."""
    taken: list[Row] = []
    places: list[int] = []
    for place, row in enumerate(rows):
        if place in refused:
            continue
        key = keys.get(row[0])
        if key is None:
            refused[place] = f"shop_id: unknown {row[0][:60]!r}"
        else:
            taken.append((key, *row[1:]))
            places.append(place)
    return taken, places
