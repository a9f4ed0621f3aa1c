"""`/setup/forms`, the forms that were seen on a shop's pages: the list that the page of Set up has and its
script asks for again, and what a member makes of one of them: another name, left out, merged into another
form, split by a page, and all of that undone.

`/discounts/code`: the form to which a discount code belongs that no form reports, and the undoing of that."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from flask import Response, flash, redirect, render_template, request, url_for
from flask_wtf import FlaskForm
from sqlalchemy import bindparam, select
from wtforms import IntegerField, SelectField
from wtforms.validators import InputRequired, NumberRange

from warehouse.daily.reader import DailyRows
from warehouse.domain import text_rules
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import MICROS_PER_SECOND, local_day
from warehouse.forms import form_rules, form_sightings, seen_forms
from warehouse.forms.form_rules import is_counted
from warehouse.forms.seen_forms import SeenForm
from warehouse.settings import REFRESH_MINUTES
from warehouse.shops import shop_state
from warehouse.tables import form as form_table
from web.auth.permissions import EDIT_FORMS, MANAGE_CONNECTIONS
from web.http.api_key_auth import find_shop
from web.http.errors import not_found
from web.http.etags import digest
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
from web.pages.rendering import form_page, redirect_with

blueprint: Final = members_blueprint("seen_forms", __name__, prefix="/setup/forms")
codes: Final = members_blueprint("form_codes", __name__, prefix="/discounts/code")
_edits: Final = needs(EDIT_FORMS, "change how forms are counted")

_LIST: Final = "setup.show#forms"
# Days of the line of a form's events.
_DAYS: Final = 28
# Forms of a page of the list, and of the list of forms to merge one into.
_PAGE: Final = 50
_CHOICES: Final = 500
# The digits of a number of a page.
_DIGITS: Final = 9
# "Fewer visitors than" is this, until somebody changes it; and at most that.
_FEW: Final = 2
_MOST_FEW: Final = 1_000_000
# The token of a button expires after an hour.
_BUTTONS_WORK: Final = 900 * MICROS_PER_SECOND


class RenameForm(FlaskForm):
    name = RuleField("Name", text_rules.name)


class MergeForm(FlaskForm):
    into = SelectField("Counts as", validators=[InputRequired("Choose a form.")])


class FewForm(FlaskForm):
    visitors = IntegerField(
        "Fewer visitors than", validators=[InputRequired(), NumberRange(2, _MOST_FEW)]
    )


class SplitForm(FlaskForm):
    page_path = RuleField(
        "Page", text_rules.identifier, validators=[InputRequired("Write a path.")]
    )
    name = RuleField("Name", text_rules.name, validators=[InputRequired("Write a name.")])


def recomputing_page(template: str, form: FlaskForm, **values: Any) -> tuple[str, int]:
    """A form whose change has all figures of the shop recomputed; it says how long that takes."""
    page = member_request()
    return form_page(
        template,
        form,
        recomputing=shop_state.read_recomputing(page.connection, page.member.shop_key),
        refresh_minutes=REFRESH_MINUTES.get(),
        **values,
    )


@blueprint.get("")
@needs(MANAGE_CONNECTIONS, "set up a shop")
def listed() -> Response:
    """The list alone, for the script of the page of Set up; a 304 where it is the one that the script has."""
    page = member_request()
    values = list_values(page)
    # The buttons of a list that stays the same are to work, too.
    tag = digest(values, page.now // _BUTTONS_WORK, page.member.permissions)
    response = Response()
    response.set_etag(tag)
    if not request.if_none_match.contains(tag):
        response.set_data(render_template("seen_forms.html", **values, ago=ago_of(page)))
    response.make_conditional(request)
    return response


def ago_of(page: MemberRequest) -> Callable[[int], str]:
    """A function that gives the words for how long ago an instant was, as the script of the page has them."""

    def ago(instant: int) -> str:
        seconds = max((page.now - instant) // MICROS_PER_SECOND, 0)
        for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
            if seconds >= size:
                return f"{seconds // size} {unit} ago"
        return f"{seconds} s ago"

    return ago


def list_values(page: MemberRequest) -> dict[str, Any]:
    """The values of the page of the list that the address names, but for how long ago forms were seen."""
    shop_key = page.member.shop_key
    all = seen_forms.count_seen(page.connection, shop_key)
    pages = max(1, -(-all // _PAGE))
    text = request.args.get("page", "1")
    number = min(max(int(text), 1), pages) if text.isdecimal() and len(text) < _DIGITS else 1
    forms = seen_forms.list_seen(page.connection, shop_key, (number - 1) * _PAGE, _PAGE)
    others = {form.counts_for for form in forms if form.rule is not None}
    others |= {form.split_from for form in forms if form.split_from}
    # The events of the last days of each of these forms that counts.
    shop = find_shop(page.connection, shop_key)
    last = local_day(page.now, shop.timezone)
    sums = DailyRows(page.connection, shop.edition, last - _DAYS + 1, last).sums(
        "all_forms", by=("form", "day")
    )
    ids = {text_id(form.form_id): form.form_id for form in forms}
    events_by_day: dict[str, list[int]] = {form_id: [0] * _DAYS for form_id in ids.values()}
    for row in sums.at(np.flatnonzero(np.isin(sums["form"], list(ids)))).rows():
        events_by_day[ids[row["form"]]][row["day"] - last + _DAYS - 1] = row["events"]
    return {
        "forms": forms,
        "findings": form_sightings.findings(page.connection, shop_key),
        "finding_days": form_sightings.KEPT_DAYS,
        "form_names": seen_forms.names_of(page.connection, shop_key, others),
        "events_by_day": events_by_day,
        "days": _DAYS,
        "recomputing": shop_state.read_recomputing(page.connection, shop_key),
        "refresh_minutes": REFRESH_MINUTES.get(),
        "list_page": {"number": number, "pages": pages, "before": (number - 1) * _PAGE, "all": all},
        "few": _FEW,
    }


def _own(form_id: str) -> SeenForm:
    """A form that was seen in the member's shop. Raises the 404 for any other."""
    page = member_request()
    # No text of a database may contain NUL.
    is_id = "\0" not in form_id
    form = is_id and seen_forms.find_seen(page.connection, page.member.shop_key, form_id)
    if not form:
        raise not_found()
    return form


@blueprint.post("/forget-few")
@_edits
def forget_few() -> Any:
    """Forget the forms with few visitors in the figures."""
    form = FewForm()
    if not form.validate_on_submit():
        return redirect_with(f"Give a number of visitors from 2 to {_MOST_FEW}.", _LIST, "problem")
    fewer = int(form.visitors.data)
    with change() as page:
        shop = find_shop(page.connection, page.member.shop_key)
        visitors = seen_forms.visitors_by_form(page.connection, shop.edition)
        count = seen_forms.forget_few(
            page.connection, page.member.shop_key, visitors, fewer, page.now
        )
        page.record("forms_forgotten", f"{count} with fewer than {fewer} visitors")
    return redirect_with(
        f"Forms with fewer than {fewer} visitors: {count} are forgotten. Their events still count for the "
        "shop. A form comes back with its next event.",
        _LIST,
    )


@blueprint.route("/<form_id>/name", methods=FORM)
@_edits
def rename(form_id: str) -> Any:
    own = _own(form_id)
    if not own.is_known:
        return redirect_with("The form can be renamed once its first events are in.", _LIST, "note")
    form = read_form(RenameForm, name=own.name)
    if not form.validate_on_submit():
        return form_page("form_rename.html", form, seen=own)
    name = str(form.name.data)
    with change() as page:
        seen_forms.rename(page.connection, page.member.shop_key, form_id, name, page.now)
        called = f"{form_id}: {name or 'as its events call it'}"
        page.change.record_repeated(page.member.shop_key, "form_renamed", called)
    return redirect_with(f"The form is called {name or 'as its events call it'}.", _LIST)


@blueprint.route("/<form_id>/merge", methods=FORM)
@_edits
def merge(form_id: str) -> Any:
    own = _own(form_id)
    page = member_request()
    listed = seen_forms.list_seen(page.connection, page.member.shop_key, count=_CHOICES)
    others = [form for form in listed if form.rule is None and form.form_id != form_id]
    form = MergeForm()
    form.into.choices = [
        ("", "Choose a form"),
        *(
            (other.form_id, f"{other.name}, on {other.path}" if other.path else other.name)
            for other in others
        ),
    ]
    if not form.validate_on_submit():
        return recomputing_page("form_merge.html", form, seen=own)
    into = str(form.into.data)
    with change() as page:
        form_rules.merge(page.connection, page.member.shop_key, form_id, into)
        page.record("form_merged", f"{form_id} into {into}")
    return redirect_with("The two are counted as one form.", _LIST)


@blueprint.route("/<form_id>/split", methods=FORM)
@_edits
def split(form_id: str) -> Any:
    own = _own(form_id)
    form = read_form(
        SplitForm, page_path=own.path, name=f"{own.name}, {own.path}" if own.path else ""
    )
    if not form.validate_on_submit():
        return recomputing_page("form_split.html", form, seen=own)
    path, name = str(form.page_path.data), str(form.name.data)
    try:
        with change() as page:
            part = form_rules.split(
                page.connection, page.member.shop_key, form_id, path, name, page.now
            )
            page.record("form_split", f"{form_id} by {path}: {part}")
    except form_rules.CannotRule as error:
        form.page_path.errors = [str(error)]
        return recomputing_page("form_split.html", form, seen=own)
    return redirect_with(
        f"{own.name} is split: what happens on {path} is counted as {name}.", _LIST
    )


@blueprint.post("/<form_id>/undo-split")
@_edits
def undo_split(form_id: str) -> Any:
    _own(form_id)
    with change() as page:
        if form_rules.undo_split(page.connection, page.member.shop_key, form_id, page.now):
            page.record("form_split_undone", form_id)
    return redirect_with("The two are counted as one form again.", _LIST)


@blueprint.post("/<form_id>/leave-out")
@_edits
def leave_out(form_id: str) -> Any:
    _own(form_id)
    with change() as page:
        form_rules.leave_out(page.connection, page.member.shop_key, form_id)
        page.record("form_left_out", form_id)
    return redirect_with("The form is left out.", _LIST)


@blueprint.post("/<form_id>/count-again")
@_edits
def count_again(form_id: str) -> Any:
    _own(form_id)
    with change() as page:
        if form_rules.undo(page.connection, page.member.shop_key, form_id):
            page.record("form_counted_again", form_id)
    return redirect_with("The form is counted as its events name it.", _LIST)


@blueprint.errorhandler(form_rules.CannotRule)
def _cannot(error: form_rules.CannotRule) -> Any:
    return redirect_with(str(error), _LIST, "problem")


_CODES: Final = "dashboard.discounts#form-codes"
# Forms to choose from, those that changed last.
_MOST_FORMS: Final = 500
_FORMS: Final = (
    select(form_table.c.form_id, form_table.c.name)
    .where(form_table.c.shop_key == bindparam("shop_key"), is_counted())
    .order_by(form_table.c.updated_at.desc(), form_table.c.form_id)
    .limit(_MOST_FORMS)
)


class CodeForm(FlaskForm):
    form_id = SelectField("Form", validators=[InputRequired("Choose a form.")])


@codes.route("", methods=FORM)
@_edits
def tie() -> Any:
    member, code = member_request(), request.args.get("code", "")
    shop_key = member.member.shop_key
    rows = member.connection.execute(_FORMS, {"shop_key": shop_key}).all()
    names = {row.form_id: row.name or row.form_id for row in rows}
    form = CodeForm()
    by_name = sorted(names.items(), key=lambda choice: (choice[1].casefold(), choice[0]))
    form.form_id.choices = [("", "Choose a form"), *by_name]
    if not form.validate_on_submit():
        return recomputing_page("form_code.html", form, code=code)
    form_id = str(form.form_id.data)
    try:
        with change() as page:
            own = form_rules.tie_code(page.connection, shop_key, code, form_id)
            page.record("code_tied", f"{own} to {form_id}")
    except form_rules.CannotRule as error:
        return redirect_with(str(error), _CODES, "problem")
    message = f"{own} is the code of {names[form_id]}. The next refresh recomputes the figures."
    return redirect_with(message, _CODES)


@codes.post("/undo")
@_edits
def untie() -> Any:
    code = request.form.get("code", "")
    with change() as page:
        if form_rules.untie_code(page.connection, page.member.shop_key, code):
            page.record("code_untied", code)
            flash(f"{code} is no form's code any more. The next refresh recomputes the figures.")
    return redirect(url_for("dashboard.discounts", _anchor="form-codes"))
