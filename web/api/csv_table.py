"""Answers as CSV tables (RFC 4180), in UTF-8, always with a header line. For a spreadsheet with a byte order
mark, and an apostrophe in front of a text that it would take for a number or a date, such as a code.

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
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from io import StringIO
from typing import Any, Final

import orjson

from web.api.rows import PlainColumn, Row

FORMULA: Final = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")

BYTE_ORDER_MARK: Final = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""Without it spreadsheets read the file in an old code page."""

_MONTH: Final = (
    "(jan|january|januar|feb|february|februar|mar|march|mär|märz|apr|april|may|mai|jun|june|juni|jul|july|juli|"
    "aug|august|sep|sept|september|oct|october|okt|oktober|nov|november|dec|december|dez|dezember)"
)
# Texts that a spreadsheet reads as a number, an amount, a percentage, a date, a time or a truth: `00123`,
# `3E5`, `1-2`, `MAR1`, `5 pm`.
_NOT_A_TEXT: Final = re.compile(
    r"'*[$€£¥]?[\d.,'’/:()\s-]*\d[\d.,'’/:()\s-]*(e[+-]?\d+)?([%$€£¥]|[ap]m?)?|"
    rf"'*{_MONTH}[ .,/-]*\d{{1,4}}([ .,/-]+\d{{1,4}})?|'*\d{{1,4}}[ .,/-]*{_MONTH}([ .,/-]*\d{{1,4}})?|"
    "'*(true|false|wahr|falsch)",
    re.I,
)
_LONGEST_NUMBER: Final = 40


def write_table(
    row: Row, lines: Iterable[Mapping[str, Any]], *, of_spreadsheet: bool = False
) -> bytes:
    """A table of rows of this kind. A cell is empty if the row lacks its column."""
    text = StringIO(newline="")
    text.write(BYTE_ORDER_MARK if of_spreadsheet else "")
    writer = csv.writer(text, lineterminator="\r\n")
    columns = _columns(row)
    # Days and instants are to be taken for what they are.
    dates = {
        name
        for name, column in row.columns.items()
        if isinstance(column, PlainColumn) and column.schema.get("format") in ("date", "date-time")
    }
    texts = {*columns} - dates if of_spreadsheet else set()
    writer.writerow(columns)
    for line in lines:
        cells = dict(_cells(row, line))
        writer.writerow(
            [
                _written(cells.get(name), guarded_text if name in texts else guarded)
                for name in columns
            ]
        )
    return text.getvalue().encode()


@cache
def _columns(row: Row) -> tuple[str, ...]:
    columns: list[str] = []
    for name, column in row.columns.items():
        if not isinstance(column, PlainColumn) or not column.row or column.in_one_cell:
            columns.append(name)
        elif not column.many:
            columns += [f"{name}.{inner}" for inner in _columns(column.row)]
        else:
            elements = column.names or range(column.schema["maxItems"])
            inner_columns = _columns(column.row)[1 if column.names else 0 :]
            columns += [f"{name}.{each}.{inner}" for each in elements for inner in inner_columns]
    return tuple(columns)


def _cells(row: Row, line: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in line.items():
        column = row.columns[name]
        if not isinstance(column, PlainColumn) or not column.row or column.in_one_cell:
            yield name, value
            continue
        elements = {name: value} if value is not None else {}
        if column.many:
            label = next(iter(column.row.columns)) if column.names else ""
            elements = {f"{name}.{each.get(label, at)}": each for at, each in enumerate(value)}
        for prefix, element in elements.items():
            yield from ((f"{prefix}.{inner}", cell) for inner, cell in _cells(column.row, element))


def guarded(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def guarded_text(text: str) -> str:
    """A text that every spreadsheet takes for one."""
    is_misread = len(text) <= _LONGEST_NUMBER and _NOT_A_TEXT.fullmatch(text.strip())
    return f"'{text}" if is_misread else guarded(text)


def _written(cell: Any, guard: Callable[[str], str]) -> str | int:
    if isinstance(cell, str):
        return guard(cell)
    if cell is None:
        return ""
    if type(cell) is int:
        return cell
    return orjson.dumps(cell).decode()
