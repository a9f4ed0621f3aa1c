"""Rows of small kinds, cell by cell: each field is read by its own function (`cells`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from jobs.importing.cells import Malformed, Read, Value, is_missing
from jobs.importing.checks import Checks

REQUIRED: Final = object()


@dataclass(frozen=True)
class Field:
    """One field of a kind: how a cell of it is read, and what stands for a missing one."""

    name: str
    read: Read
    default: Value | None | object = REQUIRED


def names_of(fields: Sequence[Field]) -> tuple[str, ...]:
    return tuple(field.name for field in fields)


def read_columns(checks: Checks, fields: Sequence[Field]) -> list[list[Any]]:
    """The values of each field, one per row of the portion; rows that cannot be taken are refused,
    and have None there."""
    return [_column(checks, field) for field in fields]


def _column(checks: Checks, field: Field) -> list[Any]:
    # Texts repeat from row to row: each is read once.
    known: dict[str, Any] = {}
    values: list[Any] = []
    refused: dict[str, list[int]] = {}
    for cell in checks.objects(field.name):
        if cell.__class__ is str and cell in known:
            values.append(known[cell])
            continue
        try:
            value = _value(field, cell)
        except Malformed as cause:
            refused.setdefault(str(cause), []).append(len(values))
            value = None
        else:
            if cell.__class__ is str:
                known[cell] = value
        values.append(value)
    for cause, rows in refused.items():
        checks.refuse(rows, f"{field.name}: {cause}")
    return values


def _value(field: Field, cell: Any) -> Any:
    if not is_missing(cell):
        return field.read(cell)
    if field.default is REQUIRED:
        raise Malformed("missing")
    return field.default
