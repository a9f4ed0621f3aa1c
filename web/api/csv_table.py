"""Answers as CSV tables (RFC 4180), in UTF-8 without a byte order mark, always with a header line.

A table has a line for each row of the answer, with the same figures under the same names. A value inside a
row has a dotted column name. Horizons are named by their days (`horizons.30.customers`), stages by their
name (`stages.view.count`), elements of other lists by their index (`buckets.0.count`). null is an empty
cell; no column has both null and an empty text. Numbers, booleans and open objects are written as JSON.

A text that a spreadsheet would take for a formula gets an apostrophe in front (OWASP, "CSV injection"). So
does a text that already looks like that, so a program can reverse it: remove the first apostrophe of a text
that matches `FORMULA` and begins with one.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from functools import cache
from io import StringIO
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import orjson

from warehouse.domain.vocabulary import LTV_HORIZONS
from web.api.schemas.forms import StageName
from web.openapi.schemas import dimension_of

FORMULA: Final = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")

# Lists whose elements have names: the member with the name, and all names.
_NAMED_BY: Final = {
    "stages": ("stage", get_args(StageName)),
    "horizons": ("days", LTV_HORIZONS),
}


def columns_of(payload: Any, data: Any) -> tuple[str, ...]:
    """The columns of an answer's `data`, whose type is `payload` (see `schemas/`)."""
    if isinstance(payload, UnionType):
        types = {dimension_of(each): each for each in get_args(payload)}
        payload = types[data["dimension"]]
    if is_typeddict(payload):
        payload = get_type_hints(payload).get("rows", payload)
    return _columns(payload if is_typeddict(payload) else get_args(payload)[0])


@cache
def _columns(row: type) -> tuple[str, ...]:
    columns: list[str] = []
    for name, kind in get_type_hints(row, include_extras=True).items():
        shape, *more = get_args(kind) if get_origin(kind) is Annotated else (kind,)
        if get_origin(shape) is list:
            (element,) = get_args(shape)
            label, names = _NAMED_BY.get(name) or ("", range(more[0].max_length))
            inner = [column for column in _columns(element) if column != label]
            columns += [f"{name}.{each}.{column}" for each in names for column in inner]
        else:
            columns.append(name)
    return tuple(columns)


def rows_of(data: Any) -> list[dict[str, Any]]:
    """The rows of an answer's `data`: a list itself, an object's `rows`, or the object as the only row."""
    if isinstance(data, list):
        return data
    rows: list[dict[str, Any]] = data.get("rows", [data])
    return rows


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's cells by column name."""
    cells: dict[str, Any] = {}
    _add_cells(cells, "", row)
    return cells


def write_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The rows under these columns. The cell is empty if a row lacks the column."""
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        cells = flat(row)
        writer.writerow([_written(cells.get(column)) for column in columns])
    return text.getvalue().encode()


def _add_cells(cells: dict[str, Any], prefix: str, members: Mapping[str, Any]) -> None:
    for name, value in members.items():
        if isinstance(value, dict):
            _add_cells(cells, f"{prefix}{name}.", value)
        elif isinstance(value, list):
            label, _ = _NAMED_BY.get(name, ("", ()))
            for index, element in enumerate(value):
                inner = {member: each for member, each in element.items() if member != label}
                _add_cells(cells, f"{prefix}{name}.{element.get(label, index)}.", inner)
        else:
            cells[prefix + name] = value


def _written(cell: Any) -> str | int:
    if isinstance(cell, str):
        return f"'{cell}" if FORMULA.match(cell) else cell
    if cell is None:
        return ""
    if type(cell) is int:
        return cell
    return orjson.dumps(cell).decode()
