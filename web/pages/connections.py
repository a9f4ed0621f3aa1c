"""The Connections page: a shop's API keys, and the forms to create, rotate and revoke them. All of it is for
members who manage connections."""

from secrets import token_urlsafe
from typing import Any, Final

from flask import flash, redirect, render_template, request, url_for
from sqlalchemy.exc import IntegrityError

from warehouse.domain.vocabulary import SCOPES
from warehouse.settings import PUBLIC_URL
from web.auth import api_keys, audit, permissions, write_keys
from web.pages.forms import GRACE_LABELS, NewKeyForm, RotateForm
from web.pages.page_request import (
    MemberRequest,
    change,
    digest_of_once,
    member_request,
    members_blueprint,
    own_key,
)

blueprint: Final = members_blueprint("connections", __name__)

_RECENT_EVENTS: Final = 10


@blueprint.before_request
def require_permission() -> None:
    permissions.require_manage(member_request().member.permissions)


@blueprint.get("/connections", provide_automatic_options=False)
def show() -> Any:
    page = member_request()
    now = page.now
    keys = api_keys.list_keys(page.connection, page.member.shop_id)[::-1]
    ended_keys = [key for key in keys if key.state(now) != "active"]
    of_pages = write_keys.list_write_keys(page.connection, page.member.shop_id)[::-1]
    return render_template(
        "connections.html",
        active_keys=[key for key in keys if key.state(now) == "active"],
        # As many as may be active: there is no end to keys that have ended.
        ended_keys=ended_keys[: api_keys.MOST_KEYS],
        ended_count=len(ended_keys),
        hints={key.credential_id: key.hint for key in keys},
        events=audit.list_events(page.connection, page.member.shop_id, limit=_RECENT_EVENTS),
        write_keys=[key for key in of_pages if key.revoked_at is None],
        revoked_write_keys=[key for key in of_pages if key.revoked_at][: api_keys.MOST_KEYS],
        now=now,
    )


@blueprint.get("/connections/new", provide_automatic_options=False)
def new_key_form() -> Any:
    page = member_request()
    return _new_key_page(page, NewKeyForm(data={"once": token_urlsafe(16)}))


@blueprint.post("/connections/new", provide_automatic_options=False)
def create_key() -> Any:
    page = member_request()
    form = NewKeyForm()
    known_scopes = [scope for scope in form.scopes.data if scope in SCOPES]
    permissions.require_grant(page.member.permissions, known_scopes)
    if not form.validate():
        return _new_key_page(page, form), 422
    try:
        with change() as page:
            key = api_keys.mint(
                page.connection,
                page.member.shop_id,
                form.scopes.data,
                name=form.name.data,
                by=page.actor,
                now=page.now,
                expires_at=form.expires.instant,
                credential_id=f"cred_{digest_of_once(form.once.data)[:24]}",
            )
    except api_keys.TooManyKeys as error:
        return _no_key(error)
    except IntegrityError:
        flash("The form was sent twice. Its key is in the list; it was shown once.", "problem")
        return redirect(url_for("connections.show"))
    return _key_created_page(key)


@blueprint.get("/connections/<credential_id>/rotate", provide_automatic_options=False)
def rotate_form(credential_id: str) -> Any:
    page = member_request()
    key = own_key(page, api_keys.find, credential_id)
    permissions.require_grant(page.member.permissions, key.scopes)
    if not key.can_rotate(page.now):
        return _cannot_rotate()
    # The form proposes the old key's last day: a limited key gets a limited replacement.
    expires = api_keys.last_day(key.expires_at) if key.expires_at else ""
    return _rotate_page(key, RotateForm(data={"expires": expires, "grace": "24h"}))


@blueprint.post("/connections/<credential_id>/rotate", provide_automatic_options=False)
def rotate(credential_id: str) -> Any:
    page = member_request()
    key = own_key(page, api_keys.find, credential_id)
    permissions.require_grant(page.member.permissions, key.scopes)
    form = RotateForm()
    if not form.validate():
        return _rotate_page(key, form), 422
    try:
        with change() as page:
            new_key = api_keys.rotate(
                page.connection,
                credential_id,
                by=page.actor,
                now=page.now,
                grace=api_keys.GRACE_PERIODS[form.grace.data],
                expires_at=form.expires.instant,
            )
    except api_keys.KeyNotActive:
        return _cannot_rotate()
    except api_keys.TooManyKeys as error:
        return _no_key(error)
    return _key_created_page(new_key)


@blueprint.get("/connections/<credential_id>/revoke", provide_automatic_options=False)
def revoke_form(credential_id: str) -> Any:
    page = member_request()
    return render_template("key_revoke.html", key=own_key(page, api_keys.find, credential_id))


@blueprint.post("/connections/<credential_id>/revoke", provide_automatic_options=False)
def revoke(credential_id: str) -> Any:
    page = member_request()
    key = own_key(page, api_keys.find, credential_id)
    with change() as page:
        api_keys.revoke(page.connection, credential_id, by=page.actor, now=page.now)
    flash(f"The key {key.name or key.hint} is revoked and no longer works.")
    return redirect(url_for("connections.show"))


def _new_key_page(page: MemberRequest, form: NewKeyForm) -> str:
    refusals = {
        scope: permissions.grant_refusal(page.member.permissions, scope) for scope in SCOPES
    }
    return render_template("key_new.html", form=form, refusals=refusals)


def _rotate_page(key: api_keys.ApiKey, form: RotateForm) -> str:
    return render_template("key_rotate.html", key=key, form=form, grace_labels=GRACE_LABELS)


def _key_created_page(key: str) -> str:
    base_url = PUBLIC_URL.get() or request.host_url.rstrip("/")
    return render_template("key_created.html", key=key, base_url=base_url)


def _no_key(error: api_keys.TooManyKeys) -> Any:
    flash(f"No key was created: {error}.", "problem")
    return redirect(url_for("connections.show"))


def _cannot_rotate() -> Any:
    flash(
        "This key cannot be rotated: it is no longer active, or it was rotated before.", "problem"
    )
    return redirect(url_for("connections.show"))
