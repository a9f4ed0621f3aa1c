"""Rows of small kinds, cell by cell: each field is read by its own function (`cells`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from jobs.importing.cells import Malformed, Read
from jobs.importing.checks import Checks

REQUIRED: Final = object()


@dataclass(frozen=True)
class Field:
    """One field of a kind: how a cell of it is read, and what stands for a missing one."""

    name: str
    read: Read
    default: object = REQUIRED


def names_of(fields: Sequence[Field]) -> tuple[str, ...]:
    return tuple(field.name for field in fields)


def read_columns(checks: Checks, fields: Sequence[Field]) -> list[list[Any]]:
    """The values of each field, one per row of the portion; rows that cannot be taken are refused,
    and have None there."""
    return [_column(checks, field) for field in fields]


def _column(checks: Checks, field: Field) -> list[Any]:
    cells = checks.objects(field.name)
    kinds = set(map(type, cells)) - {type(None)}
    if len(kinds) > 1 or kinds & {dict, list}:
        # Cells that are equal can be of different kinds (1 and true): one by one.
        read = [_read(field, cell) for cell in cells]
    else:
        known = {cell: _read(field, cell) for cell in dict.fromkeys(cells)}
        read = [known[cell] for cell in cells]
        if not any(isinstance(value, Malformed) for value in known.values()):
            return read
    refused: dict[str, list[int]] = {}
    for row, value in enumerate(read):
        if isinstance(value, Malformed):
            refused.setdefault(str(value), []).append(row)
            read[row] = None
    for cause, rows in refused.items():
        checks.refuse(rows, f"{field.name}: {cause}")
    return read


def _read(field: Field, cell: Any) -> Any:
    if cell is None or cell == "":
        if field.default is REQUIRED:
            return Malformed("missing")
        return field.default
    try:
        return field.read(cell)
    except Malformed as cause:
        return cause
