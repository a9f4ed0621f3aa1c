"""`/notes`: what happened on a day of the shop. Every member reads it; with `forms:edit` one writes a note,
and takes one away."""

from typing import Any, Final

from flask import request
from flask_wtf import FlaskForm
from wtforms import StringField
from wtforms.validators import ValidationError

from warehouse.domain.time import day_date, local_day
from warehouse.shops import notes
from warehouse.shops.notes import Note
from web.auth.permissions import EDIT_FORMS, require
from web.http.api_key_auth import find_shop
from web.http.current_request import uuid7
from web.pages.page_request import (
    FORM,
    change,
    member_request,
    members_blueprint,
    needs,
    read_form,
)
from web.pages.rendering import form_page, redirect_with

blueprint: Final = members_blueprint("notes", __name__, prefix="/notes")
_NEED: Final = EDIT_FORMS, "write notes"


class NoteForm(FlaskForm):
    day = StringField("Day")
    text = StringField("What happened")

    def validate_day(self, field: StringField) -> None:
        try:
            notes.day_of(field.data or "")
        except ValueError:
            raise ValidationError("Choose a day from 2000 to 2100.") from None

    def validate_text(self, field: StringField) -> None:
        try:
            field.data = notes.in_one_line(field.data or "")
        except ValueError as error:
            raise ValidationError(f"This {error}.") from None


@blueprint.route("", methods=FORM)
def show() -> Any:
    page = member_request()
    if request.method == "POST":
        require(page.member.rights, *_NEED)
    today = day_date(local_day(page.now, find_shop(page.connection, page.member.shop_key).timezone))
    form = read_form(NoteForm, day=f"{today}")
    if not form.validate_on_submit():
        written = notes.of_days(page.connection, page.member.shop_key)
        return form_page(
            "notes.html",
            form,
            notes=[(day_date(one.day), one) for one in reversed(written)],
            may_write=EDIT_FORMS in page.member.rights,
            longest=notes.LONGEST,
        )
    day, text = notes.day_of(str(form.day.data)), str(form.text.data)
    with change() as page:
        shop_key = page.member.shop_key
        same_day = notes.of_days(page.connection, shop_key, day, day)
        if any(one.text == text for one in same_day):
            return redirect_with("This note is there already.", "notes.show", "note")
        try:
            new = Note(uuid7(page.now), day, text, page.now)
            notes.add(page.connection, shop_key, new)
        except notes.TooManyNotes as error:
            return redirect_with(str(error), "notes.show", "problem")
        page.record("note_written", f"{form.day.data}: {text}")
    return redirect_with("The note is written.", "notes.show")


@blueprint.post("/<note_id>/delete")
@needs(*_NEED)
def delete(note_id: str) -> Any:
    """Take a note away. One that somebody took away before is no error."""
    with change() as page:
        written = notes.find(page.connection, page.member.shop_key, note_id)
        if written is not None:
            notes.remove(page.connection, page.member.shop_key, note_id)
            page.record("note_deleted", f"{day_date(written.day)}: {written.text}")
    return redirect_with("The note is taken away.", "notes.show")
