"""The rules of a shop on its forms and codes: read, and changed by its members.

A rule takes effect when the next refresh has built figures under it, beside those that
answers read until then.
"""

from dataclasses import replace
from typing import Final

from sqlalchemy import ColumnElement, Connection, exists, select, text

from warehouse.domain import text_rules
from warehouse.domain.form_rules import LEFT_OUT, FormRules, parse, stored
from warehouse.domain.hash_ids import part_id
from warehouse.domain.time import NEVER
from warehouse.editions.editions import next_version
from warehouse.tables import edition, form, shop

_READ: Final = text("SELECT form_rules FROM shop WHERE shop_key = :shop_key")
_ADD_PART: Final = text(
    "INSERT INTO form (shop_key, form_id, name, status, created_at, updated_at, first_event_at, named_at) "
    "VALUES (:shop_key, :form_id, :name, 'published', :now, :now, :now, :named_at) "
    "ON CONFLICT (shop_key, form_id) DO UPDATE SET name = excluded.name, named_at = excluded.named_at"
)
_REMOVE_PART: Final = text("DELETE FROM form WHERE shop_key = :shop_key AND form_id = :form_id")
_WRITE: Final = text("UPDATE shop SET form_rules = :rules WHERE shop_key = :shop_key")


BY_MEMBER: Final = NEVER - 1
"""`named_at` of a form that a member named: after every name that an event gave, and before those of forms
that are imported or created here."""


class CannotRule(ValueError):
    """The forms cannot be counted so. The message says why."""


def read(connection: Connection, shop_key: int) -> FormRules:
    """The rules of a shop."""
    return parse(connection.execute(_READ, {"shop_key": shop_key}).scalar_one())


def leave_out(connection: Connection, shop_key: int, form_id: str) -> None:
    """Leave a form's events out of the figures. Raises CannotRule where the form has a rule already."""
    _add(connection, shop_key, form_id, LEFT_OUT)


def merge(connection: Connection, shop_key: int, form_id: str, into: str) -> None:
    """Count a form's events as those of another form. Raises CannotRule where it is the same form, or either
    has a rule already."""
    if form_id == into:
        raise CannotRule("A form cannot be merged into itself. Choose another one.")
    _add(connection, shop_key, form_id, into)


def undo(connection: Connection, shop_key: int, form_id: str) -> bool:
    """Remove the rule of a form, so that it counts as its events name it. False if it had none."""
    rules = _locked(connection, shop_key)
    forms = dict(rules.forms)
    had = forms.pop(form_id, None) is not None
    _write(connection, shop_key, replace(rules, forms=forms))
    return had


def split(
    connection: Connection, shop_key: int, form_id: str, path: str, name: str, now: int
) -> str:
    """Count a form's events on the page with this path as those of a new form, with this name. Returns its
    id. Raises CannotRule where the path is none, or the form is split by it."""
    if not path.startswith("/") or "?" in path or "#" in path:
        raise CannotRule(
            "Write the path of the page as its address has it, from the first / on and without what follows "
            "a ? or #."
        )
    rules = _locked(connection, shop_key)
    if (form_id, path) in rules.pages:
        raise CannotRule(f"The form {form_id} is split by {path} already. Undo that first.")
    own = part_id(form_id, path)
    row = {"shop_key": shop_key, "form_id": own, "name": name, "now": now, "named_at": BY_MEMBER}
    connection.execute(_ADD_PART, row)
    _write(connection, shop_key, replace(rules, pages={**rules.pages, (form_id, path): own}))
    forms_changed(connection, shop_key, now)
    return own


def undo_split(connection: Connection, shop_key: int, part: str, now: int) -> bool:
    """Count the events of a form that was split off again as those of the form that they name. False if it
    was not split off. Raises CannotRule where another rule names it."""
    rules = _locked(connection, shop_key)
    pages = {place: own for place, own in rules.pages.items() if own != part}
    if len(pages) == len(rules.pages):
        return False
    if part in {*rules.forms, *rules.forms.values(), *rules.codes.values()}:
        raise CannotRule(
            "Another rule names this form: a merge, or one of a code. Undo that first."
        )
    _write(connection, shop_key, replace(rules, pages=pages))
    connection.execute(_REMOVE_PART, {"shop_key": shop_key, "form_id": part})
    forms_changed(connection, shop_key, now)
    return True


def forms_changed(connection: Connection, shop_key: int, now: int) -> None:
    """Move the shop's data version: answers name forms."""
    own = {"shop_key": shop_key}
    connection.execute(text(f"UPDATE shop SET {next_version(now)} WHERE shop_key = :shop_key"), own)


def tie_code(connection: Connection, shop_key: int, code: str, form_id: str) -> str:
    """Count a code as issued to every submission of a form. Returns the code in upper case. Raises CannotRule
    where it is no code, the code is tied, or the form has a rule."""
    code = code.strip().upper()
    try:
        code = text_rules.identifier(code)
    except ValueError as error:
        raise CannotRule(f"The code {error}. Choose one of the list.") from None
    if not code:
        raise CannotRule("The code is missing. Choose one of the list.")
    rules = _locked(connection, shop_key)
    _require_no_rule(rules, form_id)
    if code in rules.codes:
        raise CannotRule(f"The code {code} is that of a form already. Undo that first.")
    _write(connection, shop_key, replace(rules, codes={**rules.codes, code: form_id}))
    return code


def untie_code(connection: Connection, shop_key: int, code: str) -> bool:
    """Count a code as issued where events name it alone. False if it was not tied to a form."""
    rules = _locked(connection, shop_key)
    codes = dict(rules.codes)
    had = codes.pop(code, None) is not None
    _write(connection, shop_key, replace(rules, codes=codes))
    return had


def _add(connection: Connection, shop_key: int, form_id: str, other: str) -> None:
    rules = _locked(connection, shop_key)
    for each in (form_id, other):
        _require_no_rule(rules, each)
    _write(connection, shop_key, replace(rules, forms={**rules.forms, form_id: other}))


def _require_no_rule(rules: FormRules, form_id: str) -> None:
    if form_id in rules.forms:
        is_left_out = rules.counted_as(form_id) == LEFT_OUT
        does = "is left out" if is_left_out else "counts as another form"
        raise CannotRule(f"The form {form_id} {does} already. Undo that first.")


def _write(connection: Connection, shop_key: int, rules: FormRules) -> None:
    connection.execute(_WRITE, {"rules": stored(rules), "shop_key": shop_key})


def _locked(connection: Connection, shop_key: int) -> FormRules:
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
