"""The rules of a shop on its forms: read, and changed by its members.

A rule takes effect when the next refresh has built figures under it, beside those that
answers read until then.
"""

from typing import Final

from sqlalchemy import ColumnElement, Connection, exists, select, text

from warehouse.domain.form_rules import LEFT_OUT, counted_as, parse, stored
from warehouse.tables import edition, form, shop

_READ: Final = text("SELECT form_rules FROM shop WHERE shop_key = :shop_key")
_WRITE: Final = text("UPDATE shop SET form_rules = :rules WHERE shop_key = :shop_key")


class CannotRule(ValueError):
    """The forms cannot be counted so. The message says why."""


def read(connection: Connection, shop_key: int) -> dict[str, str]:
    """The rules of a shop, by form: as its members made them."""
    return parse(connection.execute(_READ, {"shop_key": shop_key}).scalar_one())


def leave_out(connection: Connection, shop_key: int, form_id: str) -> None:
    """Have a form's events not count. Raises CannotRule where the form has a rule already."""
    _add(connection, shop_key, form_id, LEFT_OUT)


def merge(connection: Connection, shop_key: int, form_id: str, into: str) -> None:
    """Have a form's events count as those of another form. Raises CannotRule where it is the same form, or
    either has a rule already."""
    if form_id == into:
        raise CannotRule("A form cannot be merged into itself. Choose another one.")
    _add(connection, shop_key, form_id, into)


def undo(connection: Connection, shop_key: int, form_id: str) -> bool:
    """Have a form counted again as its events name it; whether it had a rule."""
    rules = _locked(connection, shop_key)
    had = rules.pop(form_id, None) is not None
    connection.execute(_WRITE, {"rules": stored(rules), "shop_key": shop_key})
    return had


def _add(connection: Connection, shop_key: int, form_id: str, other: str) -> None:
    rules = _locked(connection, shop_key)
    for each in (form_id, other):
        if each in rules:
            does = (
                "is left out" if counted_as(rules, each) == LEFT_OUT else "counts as another form"
            )
            raise CannotRule(f"The form {each} {does} already. Undo that first.")
    connection.execute(_WRITE, {"rules": stored(rules | {form_id: other}), "shop_key": shop_key})


def _locked(connection: Connection, shop_key: int) -> dict[str, str]:
    """The rules of a shop, which no other request changes before the end of the transaction."""
    connection.execute(
        text("UPDATE shop SET form_rules = form_rules WHERE shop_key = :shop_key"),
        {"shop_key": shop_key},
    )
    return read(connection, shop_key)


def is_counted() -> ColumnElement[bool]:
    """The condition on rows of `form`: the figures that answers read have no rule on it. To answers, another
    form is not there."""
    # In the text of rules, an id that is followed by a colon is that of a form with a rule.
    own, figures = shop.alias(), edition.alias()
    return ~exists(
        select(1)
        .select_from(own.join(figures, figures.c.edition == own.c.edition))
        .where(
            own.c.shop_key == form.c.shop_key,
            figures.c.form_rules.contains('"' + form.c.form_id + '": '),
        )
        .correlate(form)
    )
