"""A table of a page as a file for spreadsheets: its columns in the order shown, with numbers as the browser's
language writes them. A language with a decimal comma separates cells by `;`, as its spreadsheets do."""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

from flask import Response

from web.api.csv_table import BYTE_ORDER_MARK
from web.dashboard import formatting
from web.dashboard.page import Page
from web.dashboard.table import Table
from web.http.errors import not_found


def csv_of(page: Page, name: str) -> Response:
    """All rows of the page's table of this name. Raises the 404 where the page has none."""
    tables = {each.name: each for each in _tables(page.values)}
    if name not in tables:
        raise not_found()
    text = StringIO(newline="")
    text.write(BYTE_ORDER_MARK)
    delimiter = ";" if formatting.decimal_mark() == "," else ","
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    writer.writerows(tables[name].plain)
    selection = page.view.selection
    filtered = "_filtered" if tables[name].view.answers.filters else ""
    file = f"{name}_{selection.first}_{selection.last}{filtered}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return Response(
        text.getvalue(), 200, headers, content_type="text/csv; charset=utf-8; header=present"
    )


def _tables(values: Any) -> Iterator[Table]:
    for value in values.values():
        if isinstance(value, Table):
            yield value
        elif isinstance(value, dict):
            yield from _tables(value)
