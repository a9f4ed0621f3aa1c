"""START HERE: the declaration of a row, and the two ways to make rows of sums: `ranked` and `grid`.

A row is declared once (`web/reports/`). From the declaration come its JSON, its schema in the API's document,
its columns in CSV, its totals, and what pages say about it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import cleandoc
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from warehouse.catalogue import SUMMARY
from warehouse.daily.group_sum import Column
from warehouse.daily.reader import Sums
from warehouse.domain import rounding
from warehouse.domain.figures import COUNT, FIGURES, MONEY, SUBMISSION, Figure, Formula
from web.api.row_limit import OTHER, TextsOf, limit_rows, other_rows
from web.http.etags import State
from web.http.parameters import ORDER_CLOCK, SUBMISSION_CLOCK

Schema = dict[str, Any]

REFERENCE: Final = "#/components/schemas/{name}"
_NULL: Final[Schema] = {"type": "null"}
# The clock of orders that a row states to date alone: at no age, and by no day of the window.
TO_DATE: Final = "to date"


@dataclass(frozen=True)
class Answer:
    """The `data` of an answer, with further headers and `meta`. `state` is that of the form which the
    request has written; the form's ETag is made from it."""

    data: Any
    headers: dict[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    state: State | None = None


@dataclass(frozen=True)
class PlainColumn:
    """A column that is no figure: a text, a flag, or rows inside the row (`row`, `many` of them). `schema`
    is its JSON Schema. `made` gives its value from the sums of measures; without it, the report does.
    `names` are the values of the first column of the rows inside, where there is always one of each."""

    name: str
    heading: str
    schema: Schema
    row: "Row | None" = None
    many: bool = False
    required: bool = True
    made: Callable[[Mapping[str, int]], Any] | None = None
    names: tuple[Any, ...] = ()
    # In CSV: as JSON, not a column for each value.
    in_one_cell: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether its texts come from outside: texts of no fixed form, or objects with any members."""
        kinds = [self.schema, *self.schema.get("anyOf", ())]
        is_ours = any(word in self.schema for word in ("enum", "format", "pattern"))
        return not is_ours and any(kind.get("type") in ("string", "object") for kind in kinds)


def text(
    name: str,
    heading: str,
    words: str,
    *,
    null: bool = False,
    required: bool = True,
    pattern: str = "",
    **more: Any,
) -> PlainColumn:
    """A column of texts. `more` are further keywords of the schema, such as `format` and `enum`."""
    kind: Schema = {"anyOf": [{"type": "string"}, _NULL]} if null else {"type": "string"}
    schema = {**_described(words), **more, **kind, **({"pattern": pattern} if pattern else {})}
    return PlainColumn(name, heading, schema, required=required)


def column(name: str, heading: str, words: str, schema: Schema, **more: Any) -> PlainColumn:
    """A column with a schema of its own."""
    return PlainColumn(name, heading, {"description": words, **schema}, **more)


def rows(
    name: str,
    heading: str,
    words: str,
    row: "Row",
    made: Any = None,
    names: Any = (),
    in_one_cell: bool = False,
    **more: Any,
) -> PlainColumn:
    """A list of rows inside the row: one for each of `names`, or at most `maxItems`."""
    schema = {**_described(words), "type": "array", "items": row.reference, **more}
    return PlainColumn(
        *(name, heading, schema, row),
        many=True,
        made=made,
        names=tuple(names),
        in_one_cell=in_one_cell,
    )


def inside(
    name: str, heading: str, words: str, row: "Row", *, null: bool = False, made: Any = None
) -> PlainColumn:
    """One row inside the row; null, if it may be missing."""
    kind = {"anyOf": [row.reference, _NULL]} if null else row.reference
    return PlainColumn(name, heading, _described(words) | kind, row, made=made)


def _described(words: str) -> Schema:
    return {"description": words} if words else {}


class Row:
    """A kind of row: its name and its description in the API's document, and its columns in the order of
    the answer. A text among the columns is a list of names of shared figures (`warehouse/domain/figures.py`).

    `says` has, by the name of a shared figure, the API's and the owner's words where this row means
    something else by it. `owner` tells an owner what the rows are. `clock` dates the orders of the row.
    """

    def __init__(
        self,
        name: str,
        description: str,
        *columns: PlainColumn | Figure | str,
        says: Mapping[str, tuple[str, str]] | None = None,
        owner: str = "",
        clock: str = SUBMISSION_CLOCK,
    ) -> None:
        self.name, self.description, self.owner = name, cleandoc(description), owner
        self.clock = clock
        own_words = says or {}
        self.columns: dict[str, PlainColumn | Figure] = {}
        for column in columns:
            of_column = (
                map(FIGURES.__getitem__, column.split()) if isinstance(column, str) else [column]
            )
            for each in of_column:
                if isinstance(each, Figure) and each.name in own_words:
                    words, owners = own_words[each.name]
                    each = replace(each, words=words, owner=owners)
                self.columns[each.name] = each
        plain = {name: each for name, each in self.columns.items() if isinstance(each, PlainColumn)}
        self.given = [name for name, each in plain.items() if not each.made]
        self._made = [(name, each.made) for name, each in plain.items() if each.made]
        self.figures = {
            name: each for name, each in self.columns.items() if isinstance(each, Figure)
        }

    def formula(self, name: str) -> Formula:
        """The formula of a figure over measures. A figure that the row lacks is the shared one; another
        name is that of a measure."""
        figure = self.figures.get(name) or FIGURES.get(name) or Figure(name, "", COUNT, "", "")
        return figure.formula(self.formula)

    def clock_of(self, name: str, clock: str = "") -> str:
        """The clock of a figure; "" for one whose events are dated by themselves. `clock` stands for the
        row's, where the request chooses it. Figures on the submission clock can be compared at equal age
        alone, figures to date never."""
        figure = self.figures.get(name) or FIGURES.get(name)
        if not figure:
            # A measure without a heading, such as buyers with a second order, is in a quotient alone.
            return ""
        parts = (*(figure.less or ()), *(figure.over or ()), figure.share_of)
        clocks = {self.clock_of(part, clock) for part in parts if part}
        if figure.dated_by and self.clock != TO_DATE:
            clocks.add(SUBMISSION_CLOCK if figure.dated_by == SUBMISSION else clock or self.clock)
        elif figure.dated_by:
            clocks.add(TO_DATE)
        # A rate of submissions that bought is on their clock, whatever it is divided by.
        order = TO_DATE, SUBMISSION_CLOCK, ORDER_CLOCK
        return next((each for each in order if each in clocks), "")

    def filled(self, given: Iterable[Any], sums: Mapping[str, int]) -> dict[str, Any]:
        """The row with these values of its plain columns, and everything else from the sums of measures. Its
        shares are of itself."""
        row = dict(zip(self.given, given, strict=True))
        for name, divide, parts in self._quotients:
            values = [part(sums) for part in parts]
            row[name] = divide(*values) if divide else values[0]
        for name, whole, _ in self._shares:
            row[name] = rounding.percent(row[whole], row[whole])
        for name, made in self._made:
            row[name] = made(sums)
        return row

    def filled_rows(
        self, given: Iterable[Iterable[Any]], sums: Sums, block: int = 0
    ) -> list[dict[str, Any]]:
        """Several rows, figure by figure: in a third of the time. `given` has the plain columns of each. A
        share is one of all rows, or of each `block` of so many."""
        # Where there is no row, nothing says how many columns it would have.
        columns: dict[str, Iterable[Any]] = dict(
            zip(self.given, zip(*given, strict=True), strict=False)
        )
        for name, divide, parts in self._quotients:
            values = [part(sums.columns).tolist() for part in parts]
            columns[name] = map(divide, *values) if divide else values[0]
        for name, _, formula in self._shares:
            parts_of = formula(sums.columns)
            length = block or max(len(parts_of), 1)
            whole = parts_of.reshape(-1, length).sum(axis=1).repeat(length)
            columns[name] = map(rounding.percent, parts_of.tolist(), whole.tolist())
        for name, made in self._made:
            columns[name] = map(made, sums.rows())
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def total(self, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """The figures of several rows together: sums, and the quotients of the sums. A quotient of
        something that the rows do not show is left out."""
        rows = list(rows)
        values = {
            name: sum(row[name] for row in rows)
            for name, figure in self.figures.items()
            if figure.adds_up
        }
        for name, figure in self.figures.items():
            if figure.over and set(figure.over) <= values.keys():
                values[name] = figure.formula()(values)
        return values

    def inner(self, name: str) -> "Row | None":
        """The rows in one of its columns."""
        column = self.columns.get(name)
        return column.row if isinstance(column, PlainColumn) else None

    def every_column(self, before: str = "") -> Iterator[tuple[str, PlainColumn | Figure]]:
        """The columns of the row, and those of the rows inside it by names with points."""
        for name, each in self.columns.items():
            if isinstance(each, PlainColumn) and each.row:
                yield from each.row.every_column(f"{before}{name}.")
            else:
                yield f"{before}{name}", each

    @property
    def reference(self) -> Schema:
        return {"$ref": REFERENCE.format(name=self.name)}

    @cached_property
    def schema(self) -> Schema:
        """The JSON Schema of the row (2020-12, the dialect of OpenAPI 3.1)."""
        properties = {
            name: each.schema
            if isinstance(each, PlainColumn)
            else {
                "description": each.words,
                "type": "integer" if each.unit in (COUNT, MONEY) else "number",
                **each.bounds,
            }
            for name, each in self.columns.items()
        }
        return {
            "title": self.name,
            "description": self.description,
            "type": "object",
            "properties": properties,
            "required": [
                name
                for name, each in self.columns.items()
                if isinstance(each, Figure) or each.required
            ],
        }

    @property
    def inner_rows(self) -> Iterator["Row"]:
        """The row itself, and all rows inside it."""
        yield self
        for each in self.columns.values():
            if isinstance(each, PlainColumn) and each.row:
                yield from each.row.inner_rows

    @cached_property
    def _quotients(self) -> list[tuple[str, Any, list[Formula]]]:
        """Each figure but shares: how it is divided, if it is, and the formulas of what is."""
        return [
            (
                name,
                figure.divide if figure.over else None,
                list(map(self.formula, figure.over or [name])),
            )
            for name, figure in self.figures.items()
            if not figure.share_of
        ]

    @cached_property
    def _shares(self) -> list[tuple[str, str, Formula]]:
        """The name of a share, and the figure of which it is."""
        return [
            (name, figure.share_of, self.formula(figure.share_of))
            for name, figure in self.figures.items()
            if figure.share_of
        ]


def explained(kinds: Iterable[Row]) -> dict[str, Any]:
    """The meaning of the columns of these rows: the owner's words for each figure, by its name, and the names
    of those whose texts come from outside."""
    columns = {name: each for row in kinds for name, each in row.every_column()}
    plain = {name: each for name, each in columns.items() if isinstance(each, PlainColumn)}
    return {
        "figures": {name: each.owner for name, each in columns.items() if isinstance(each, Figure)},
        "untrusted": [name for name, each in plain.items() if each.is_foreign],
    }


def by_dimension(name: str, **by: Row) -> dict[str, Row]:
    """The objects `{dimension, rows}` of an answer whose parameter `dimension` chooses the row."""
    return {
        dimension: Row(
            f"{name}By{dimension.capitalize()}",
            f"`dimension={dimension}`.",
            column("dimension", "", "The requested dimension.", {"enum": [dimension]}),
            rows("rows", "", "", row),
        )
        for dimension, row in by.items()
    }


# The columns that say which form a row is about.
FORM_COLUMNS: Final = (
    text("formId", "Form", "The form's id.", format="uuid"),
    text(
        "formName",
        "Name",
        "The form's name; null if the shop's forms do not include it.",
        null=True,
    ),
)
FIELD_ID: Final = text("fieldId", "Question", "The id of a field of the form.")
DATE: Final = text("date", "Day", "A day of the shop's calendar.", format="date")


def zeros(summary: str) -> dict[str, int]:
    """All measures of a summary, each 0."""
    return dict.fromkeys(SUMMARY[summary].measures, 0)


def with_figures(columns: Mapping[str, Column], keys: Sequence[str]) -> tuple[list[Column], Sums]:
    """The key columns, and the measures (all other columns), of the rows with any figure. A row can become
    all zeros when its facts move."""
    measures = {name: column for name, column in columns.items() if name not in keys}
    has_figure = np.logical_or.reduce([column != 0 for column in measures.values()])
    return [columns[name][has_figure] for name in keys], Sums(measures).at(has_figure)


def ranked(
    row: Row,
    sums: Sums,
    keys: Sequence[str],
    texts_of: Callable[..., TextsOf],
    descending: str,
    limit: int,
    more: Callable[..., Iterable[tuple[Any, ...]]] | None = None,
) -> Answer:
    """A row for each combination of `keys` with any figure, sorted by these figures, descending, then by
    its texts. Rows after the first `limit` are summed in the row `(other)`.

    `texts_of` gives the texts behind the columns of keys. `more` gives further plain columns of the rows that
    are shown, from their texts and the columns of their keys.
    """
    ids, measures = with_figures(sums.columns, keys)
    order = [row.formula(name)(measures.columns) for name in descending.split()]
    found = limit_rows(measures, order, texts_of(*ids), limit)
    given = [*found.texts]
    if more:
        further = more(found.texts, *(column[found.shown] for column in ids))
        given = [(*texts, *each) for texts, each in zip(found.texts, further, strict=True)]
    if found.others:
        given.append((OTHER,) * len(given[0]))
    return Answer(row.filled_rows(given, found.sums), meta=other_rows(found.others))


def grid(
    row: Row, sums: Sequence[Sums], *keys: tuple[str, Sequence[tuple[int, str]]]
) -> list[dict[str, Any]]:
    """A row for every combination of the keys' values, in their order: (column, pairs of value and text).
    The values ascend. Several sums stand beside each other; a measure that two of them have is that of the
    later one. A share is one of the rows that differ in the last key alone."""
    columns: dict[str, Column] = {}
    rows = prod(len(values) for _, values in keys)
    for each in sums:
        places = np.zeros(len(each), dtype=np.int64)
        for name, values in keys:
            ids = [id for id, _ in values]
            places = places * len(ids) + np.searchsorted(ids, each[name])
        for name, column in each.columns.items():
            columns[name] = np.zeros(rows, dtype=np.int64)
            columns[name][places] = column
    texts = product(*([text for _, text in values] for _, values in keys))
    return row.filled_rows(texts, Sums(columns), len(keys[-1][1]))
