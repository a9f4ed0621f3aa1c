"""Write keys on the Connections page: the forms to create and revoke them."""

from hashlib import sha256
from secrets import token_urlsafe
from typing import Any, Final

from flask import flash, redirect, render_template, url_for
from sqlalchemy.exc import IntegrityError

from web.auth import permissions, write_keys
from web.http.errors import not_found
from web.pages.forms import NewWriteKeyForm
from web.pages.page_request import MemberRequest, member_request, members_blueprint

blueprint: Final = members_blueprint("write_keys", __name__)


@blueprint.get("/connections/write-keys/new", provide_automatic_options=False)
def new_form() -> Any:
    permissions.require_manage(member_request().member.permissions)
    form = NewWriteKeyForm(data={"once": token_urlsafe(16)})
    return render_template("write_key_new.html", form=form)


@blueprint.post("/connections/write-keys/new", provide_automatic_options=False)
def create() -> Any:
    page, form = member_request(), NewWriteKeyForm()
    permissions.require_manage(page.member.permissions)
    if not form.validate():
        return render_template("write_key_new.html", form=form), 422
    try:
        write_keys.create(
            page.connection,
            page.member.shop_id,
            form.origins.origins,
            name=form.name.data,
            by=page.actor,
            now=page.now,
            text=_text(page, form.once.data),
        )
        page.connection.commit()
        flash(f"The write key {form.name.data} is created; it is in the list.")
    except write_keys.NoFolder as error:
        flash(f"No write key was created: {error}.", "problem")
    except IntegrityError:
        flash("The form was sent twice. Its write key is in the list.", "problem")
    return redirect(url_for("connections.show"))


@blueprint.get("/connections/write-keys/<text>/revoke", provide_automatic_options=False)
def revoke_form(text: str) -> Any:
    page = member_request()
    key = _own_key(page, text)
    permissions.require_manage(page.member.permissions)
    return render_template("write_key_revoke.html", key=key)


@blueprint.post("/connections/write-keys/<text>/revoke", provide_automatic_options=False)
def revoke(text: str) -> Any:
    page = member_request()
    key = _own_key(page, text)
    permissions.require_manage(page.member.permissions)
    write_keys.revoke(page.connection, text, by=page.actor, now=page.now)
    page.connection.commit()
    flash(
        f"The write key {key.name or key.text} is revoked. Events with it are refused in a moment."
    )
    return redirect(url_for("connections.show"))


def _own_key(page: MemberRequest, text: str) -> write_keys.WriteKey:
    """A write key of the member's shop. Raises the same 404 for an unknown one and another shop's."""
    try:
        key = write_keys.find(page.connection, text)
    except write_keys.WriteKeyNotFound:
        raise not_found() from None
    if key.shop_key != page.member.shop_key:
        raise not_found()
    return key


def _text(page: MemberRequest, once: str) -> str:
    """The same text each time one form is sent in one sign-in."""
    digest = sha256(f"{page.member.token} {once}".encode()).hexdigest()
    return f"{write_keys.PREFIX}{digest[:32]}"
