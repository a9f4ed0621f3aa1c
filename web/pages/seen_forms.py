"""`/setup/forms`, the forms that were seen on a shop's pages: the list that the page of Set up has and its
script asks for again, and what a member makes of one of them: another name, left out, merged into another
form, and all of that undone."""

from typing import Any, Final

from flask import flash, redirect, render_template, url_for
from flask_wtf import FlaskForm
from wtforms import SelectField
from wtforms.validators import InputRequired

from warehouse.daily.reader import read
from warehouse.domain import text_rules
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import MICROS_PER_SECOND, local_day
from warehouse.operations import form_rules, form_sightings, recomputing, seen_forms
from warehouse.operations.seen_forms import SeenForm
from warehouse.settings import REFRESH_MINUTES
from web.auth.permissions import EDIT_FORMS, MANAGE_CONNECTIONS
from web.http.api_key_auth import find_shop
from web.http.errors import not_found
from web.pages.forms import RuleField
from web.pages.page_request import (
    FORM,
    MemberRequest,
    change,
    member_request,
    members_blueprint,
    needs,
    read_form,
)
from web.pages.rendering import form_page

blueprint: Final = members_blueprint("seen_forms", __name__, prefix="/setup/forms")
_edits: Final = needs(EDIT_FORMS, "change how forms are counted")

# Days of the line of a form's events.
_DAYS: Final = 28


class RenameForm(FlaskForm):
    name = RuleField("Name", text_rules.name)


class MergeForm(FlaskForm):
    into = SelectField("Counts as", validators=[InputRequired("Choose a form.")])


class PressedForm(FlaskForm):
    """A button."""


@blueprint.get("")
@needs(MANAGE_CONNECTIONS, "set up a shop")
def listed() -> str:
    """The list alone, for the script of the page of Set up."""
    return render_template("seen_forms.html", **list_values(member_request()))


def list_values(page: MemberRequest) -> dict[str, Any]:
    """The values of the template of the list."""
    forms = seen_forms.list_seen(page.connection, page.member.shop_key)
    return {
        "forms": forms,
        "findings": form_sightings.findings(page.connection, page.member.shop_key),
        "form_names": {form.form_id: form.name for form in forms},
        "events_by_day": _events_by_day(page),
        "days": _DAYS,
        "recomputing": recomputing.read(page.connection, page.member.shop_key),
        "refresh_minutes": REFRESH_MINUTES.get(),
        "button": PressedForm(),
        "ago": lambda instant: _ago(page.now - instant),
    }


def _events_by_day(page: MemberRequest) -> dict[str, list[int]]:
    """The events of the last days of each form that counts, by its id."""
    shop = find_shop(page.connection, page.member.shop_key)
    last = local_day(page.now, shop.timezone)
    sums = read(
        page.connection, "all_forms", shop.edition, last - _DAYS + 1, last, by=("form", "day")
    ).columns
    ids = {text_id(form.form_id): form.form_id for form in _forms(page)}
    found: dict[str, list[int]] = {form_id: [0] * _DAYS for form_id in ids.values()}
    rows = zip(*(sums[name].tolist() for name in ("form", "day", "events")), strict=True)
    for form, day, events in rows:
        if form in ids:
            found[ids[form]][day - last + _DAYS - 1] = events
    return found


def _ago(micros: int) -> str:
    """How long ago something was, as the script of the page says it."""
    seconds = max(micros // MICROS_PER_SECOND, 0)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"


def _forms(page: MemberRequest) -> list[SeenForm]:
    return seen_forms.list_seen(page.connection, page.member.shop_key)


def _own(form_id: str) -> SeenForm:
    """A form that was seen in the member's shop. Raises the 404 for any other."""
    for form in _forms(member_request()):
        if form.form_id == form_id:
            return form
    raise not_found()


@blueprint.route("/<form_id>/name", methods=FORM)
@_edits
def rename(form_id: str) -> Any:
    own = _own(form_id)
    if not own.is_known:
        flash("The form can be renamed once its first events are in.", "note")
        return _to_list()
    form = read_form(RenameForm, name=own.name)
    if not form.validate_on_submit():
        return form_page("form_rename.html", form, seen=own)
    name = str(form.name.data)
    with change() as page:
        seen_forms.rename(page.connection, page.member.shop_key, form_id, name, page.now)
        page.record("form_renamed", f"{form_id}: {name or 'as its events call it'}")
    flash(f"The form is called {name}." if name else "The form is called as its events call it.")
    return _to_list()


@blueprint.route("/<form_id>/merge", methods=FORM)
@_edits
def merge(form_id: str) -> Any:
    own = _own(form_id)
    others = [
        form for form in _forms(member_request()) if form.rule is None and form.form_id != form_id
    ]
    form = MergeForm()
    form.into.choices = [(other.form_id, _label(other)) for other in others]
    if not form.validate_on_submit():
        shop_key = member_request().member.shop_key
        return form_page(
            "form_merge.html",
            form,
            seen=own,
            recomputing=recomputing.read(member_request().connection, shop_key),
            refresh_minutes=REFRESH_MINUTES.get(),
        )
    into = str(form.into.data)
    try:
        with change() as page:
            form_rules.merge(page.connection, page.member.shop_key, form_id, into)
            page.record("form_merged", f"{form_id} into {into}")
    except form_rules.CannotRule as error:
        flash(str(error), "problem")
        return _to_list()
    flash("The two are counted as one form.")
    return _to_list()


@blueprint.post("/<form_id>/leave-out")
@_edits
def leave_out(form_id: str) -> Any:
    _own(form_id)
    try:
        with change() as page:
            form_rules.leave_out(page.connection, page.member.shop_key, form_id)
            page.record("form_left_out", form_id)
    except form_rules.CannotRule as error:
        flash(str(error), "problem")
        return _to_list()
    flash("The form is left out.")
    return _to_list()


@blueprint.post("/<form_id>/count-again")
@_edits
def count_again(form_id: str) -> Any:
    _own(form_id)
    with change() as page:
        if form_rules.undo(page.connection, page.member.shop_key, form_id):
            page.record("form_counted_again", form_id)
    flash("The form is counted as its events name it.")
    return _to_list()


def _label(form: SeenForm) -> str:
    return f"{form.name}, on {form.path}" if form.path else form.name


def _to_list() -> Any:
    return redirect(url_for("setup.show", _anchor="forms"))
