"""The labels of questions and answers, as the schemas of forms have them; ids where there is none.

A schema is any JSON object of a shop's people or of their platform. Labels are read from
`fields: [{id, label, options: [{value, label}]}]`, at its top or in each of its `steps`. Anything else in it
is passed over: a page never fails for a schema.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, func, select

from warehouse.tables import form
from web.api.row_limit import OTHER
from web.dashboard.page import View

MOST_CHARACTERS: Final = 250_000
"""A longer schema has no labels: to read it would show in the time of the page."""
LONGEST: Final = 100
"""Characters of a label."""
MOST_FORMS: Final = 100
"""Forms whose schemas are read for one page."""

_JOINERS: Final = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
_SCHEMAS: Final = (
    select(form.c.schema)
    .where(
        form.c.shop_key == bindparam("shop_key"),
        form.c.form_id.in_(bindparam("form_ids", expanding=True)),
        func.length(form.c.schema) <= MOST_CHARACTERS,
    )
    .order_by(form.c.name, form.c.form_id)
)


@dataclass(frozen=True, slots=True)
class Labels:
    """`questions` by field id, `answers` by field id and value."""

    questions: Mapping[str, str]
    answers: Mapping[str, Mapping[str, str]]

    def question(self, field_id: str) -> str:
        return self.questions.get(field_id, field_id)

    def answer(self, field_id: str, value: str) -> str:
        return self.answers.get(field_id, {}).get(value, value)


def labels_of(*schemas: str) -> Labels:
    """The labels in the JSON texts of schemas, "" where a form has none. Where several have a label for the
    same field, or for the same answer to it, the first one counts. Labels that would be the same for two
    questions, or for two answers to one, have the id beside them."""
    questions: dict[str, str] = {}
    answers: dict[str, dict[str, str]] = {}
    for schema in schemas:
        for field in _fields(schema):
            field_id = _key(field.get("id"))
            _add(questions, field_id, field.get("label"))
            for option in _objects(field.get("options")):
                value = _key(option.get("value"))
                _add(answers.setdefault(field_id, {}), value, option.get("label"))
    return Labels(
        _told_apart(questions),
        {field_id: _told_apart(of_field) for field_id, of_field in answers.items()},
    )


def labels_of_forms(view: View, form_ids: Collection[str]) -> Labels:
    """The labels of the first of these forms. Equal field ids of different forms are one field: its label is
    that of the first form by name."""
    values = {"shop_key": view.shop.key, "form_ids": list(form_ids)[:MOST_FORMS]}
    return labels_of(*view.answers.connection.scalars(_SCHEMAS, values))


def _fields(schema: str) -> Iterator[Mapping[str, Any]]:
    if not schema or len(schema) > MOST_CHARACTERS:
        return
    try:
        # It refuses what is nested too deeply, and numbers that Python has not.
        top = orjson.loads(schema)
    except orjson.JSONDecodeError:
        return
    for part in _objects([top]):
        yield from _objects(part.get("fields"))
        for step in _objects(part.get("steps")):
            yield from _objects(step.get("fields"))


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects in a value that should be a list of them."""
    items = value if isinstance(value, list) else []
    return (item for item in items if isinstance(item, dict))


def _key(value: Any) -> str:
    """An id or an answer as the figures have it; "" for what is neither."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, str | int | float) else ""


def _add(labels: dict[str, str], key: str, label: Any) -> None:
    text = _clean(label) if isinstance(label, str) else ""
    # The row of all others has its own name.
    if key and key != OTHER and text:
        labels.setdefault(key, text)


def _clean(text: str) -> str:
    """The text in one line, cut, and without characters that do not show or turn others round."""
    shown = " ".join(text[: 10 * LONGEST].split())
    if not shown.isprintable():
        shown = "".join(char for char in shown if char.isprintable() or char in _JOINERS).strip()
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"


def _told_apart(labels: Mapping[str, str]) -> dict[str, str]:
    times = Counter(labels.values())
    return {
        key: label if times[label] == 1 else f"{label} ({_clean(key)})"
        for key, label in labels.items()
    }
