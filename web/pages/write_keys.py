"""Write keys on the Connections page: the forms to create and revoke them."""

from secrets import token_urlsafe
from typing import Any, Final

from flask import flash, redirect, render_template, url_for
from sqlalchemy.exc import IntegrityError

from web.auth import permissions, write_keys
from web.auth.api_keys import TooManyKeys
from web.pages.forms import NewWriteKeyForm
from web.pages.page_request import (
    change,
    digest_of_once,
    member_request,
    members_blueprint,
    own_key,
)
from web.pages.return_address import own_page_or

blueprint: Final = members_blueprint("write_keys", __name__)


@blueprint.before_request
def require_permission() -> None:
    permissions.require_manage(member_request().member.permissions)


@blueprint.get("/connections/write-keys/new", provide_automatic_options=False)
def new_form() -> Any:
    return _new_key_page(NewWriteKeyForm(data={"once": token_urlsafe(16)}))


@blueprint.post("/connections/write-keys/new", provide_automatic_options=False)
def create() -> Any:
    form = NewWriteKeyForm()
    if not form.validate():
        return _new_key_page(form), 422
    try:
        with change() as page:
            write_keys.create(
                page.connection,
                page.member.shop_id,
                form.origins.origins,
                name=form.name.data,
                by=page.actor,
                now=page.now,
                text=f"{write_keys.PREFIX}{digest_of_once(form.once.data)[:32]}",
            )
        flash(f"The write key {form.name.data} is created.")
    except (TooManyKeys, write_keys.NoFolder) as error:
        flash(f"No write key was created: {error}.", "problem")
    except IntegrityError:
        flash("The form was sent twice. Its write key is in the list.", "problem")
    return redirect(_next_page())


@blueprint.get("/connections/write-keys/<text>/revoke", provide_automatic_options=False)
def revoke_form(text: str) -> Any:
    page = member_request()
    return render_template("write_key_revoke.html", key=own_key(page, write_keys.find, text))


@blueprint.post("/connections/write-keys/<text>/revoke", provide_automatic_options=False)
def revoke(text: str) -> Any:
    page = member_request()
    key = own_key(page, write_keys.find, text)
    with change() as page:
        write_keys.revoke(page.connection, text, by=page.actor, now=page.now)
    flash(
        f"The write key {key.name or key.text} is revoked. Events with it are refused in a moment."
    )
    return redirect(url_for("connections.show"))


def _new_key_page(form: NewWriteKeyForm) -> str:
    return render_template("write_key_new.html", form=form, next_page=_next_page())


def _next_page() -> str:
    return own_page_or(url_for("connections.show"))
