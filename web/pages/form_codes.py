"""`/discounts/code`: the form to which a discount code belongs that no form reports, and the undoing of
that."""

from typing import Any, Final

from flask import flash, redirect, request, url_for
from flask_wtf import FlaskForm
from sqlalchemy import bindparam, select
from wtforms import SelectField
from wtforms.validators import InputRequired

from warehouse.forms import form_rules
from warehouse.forms.form_rules import is_counted
from warehouse.tables import form as form_table
from web.auth.permissions import EDIT_FORMS
from web.pages.page_request import (
    FORM,
    change,
    member_request,
    members_blueprint,
    needs,
)
from web.pages.rendering import told
from web.pages.seen_forms import recomputing_page

blueprint: Final = members_blueprint("form_codes", __name__, prefix="/discounts/code")
_edits: Final = needs(EDIT_FORMS, "change how forms are counted")

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


@blueprint.route("", methods=FORM)
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
        return told(str(error), _CODES, "problem")
    message = f"{own} is the code of {names[form_id]}. The next refresh recomputes the figures."
    return told(message, _CODES)


@blueprint.post("/undo")
@_edits
def untie() -> Any:
    code = request.form.get("code", "")
    with change() as page:
        if form_rules.untie_code(page.connection, page.member.shop_key, code):
            page.record("code_untied", code)
            flash(f"{code} is no form's code any more. The next refresh recomputes the figures.")
    return redirect(url_for("dashboard.discounts", _anchor="form-codes"))
