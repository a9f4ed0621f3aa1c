"""Answers as tables: RFC 4180, in UTF-8 without a byte order mark, a header line always.

A table has a line for each of the answer's rows, and the same figures under the same names. What lies
within a row is a column with a dotted name: `horizons` of lifetime value are told apart by their days
(`horizons.30.customers`), `stages` of a funnel by their stage (`stages.view.count`), other lists by
place, from 0 (`buckets.0.count`). null is an empty cell (no column has both null and an empty text);
numbers and booleans are spelled as in JSON.

A text that a spreadsheet would take for a formula has an apostrophe before it (OWASP, "CSV injection").
So has one that looks as if it had been given one, so that a program can undo it: where a text matches
`FORMULA` with an apostrophe in front, that one is to be left out.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
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

from warehouse.vocabulary import LTV_HORIZONS
from web.openapi.schemas import dimension_of
from web.shapes.forms import StageName

MEDIA_TYPE: Final = "text/csv"
CONTENT_TYPE: Final = "text/csv; charset=utf-8; header=present"

FORMULA: Final = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")

# Lists whose elements have a name: the member that it is, and the names that there are.
_NAMED_BY: Final = {
    "stages": ("stage", get_args(StageName)),
    "horizons": ("days", LTV_HORIZONS),
}


def columns_of(payload: Any, data: Any) -> tuple[str, ...]:
    """The columns of an answer's `data`, which has the shape `payload` (see `shapes/`)."""
    if isinstance(payload, UnionType):
        kinds = {dimension_of(kind): kind for kind in get_args(payload)}
        payload = kinds[data["dimension"]]
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
            within = [column for column in _columns(element) if column != label]
            columns += [f"{name}.{each}.{column}" for each in names for column in within]
        else:
            columns.append(name)
    return tuple(columns)


def rows_of(data: Any) -> list[dict[str, Any]]:
    """The rows of an answer's `data`: a list is its rows, an object has them as `rows`, or is one."""
    if isinstance(data, list):
        return data
    rows: list[dict[str, Any]] = data.get("rows", [data])
    return rows


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's cells by the names of their columns."""
    return dict(_cells("", row))


def write_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The rows under these columns; a row has no cell in a column that it does not name."""
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        cells = flat(row)
        writer.writerow([_spelled(cells.get(column)) for column in columns])
    return text.getvalue().encode()


def _cells(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    prefix = f"{name}." if name else ""
    if isinstance(value, Mapping):
        for member, inner in value.items():
            yield from _cells(f"{prefix}{member}", inner)
    elif isinstance(value, list):
        label, _ = _NAMED_BY.get(name, ("", ()))
        for place, element in enumerate(value):
            inner = {member: each for member, each in element.items() if member != label}
            yield from _cells(f"{prefix}{element.get(label, place)}", inner)
    else:
        yield name, value


def _spelled(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return f"'{cell}" if FORMULA.match(cell) else cell
    return orjson.dumps(cell).decode()
