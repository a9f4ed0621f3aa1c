"""The Connections page: a shop's API keys and write keys, and the forms to create, rotate and revoke
them, for members who manage connections; and the Activity page, the shop's audit trail, for all."""

from secrets import token_urlsafe
from typing import Any, Final

from flask import flash, redirect, render_template, request, url_for
from sqlalchemy.exc import IntegrityError

from warehouse.domain.vocabulary import SCOPES
from web.auth import api_keys, audit, permissions, write_keys
from web.auth.audit import OperatorError
from web.http.errors import not_found
from web.http.host_and_proxy import own_address
from web.pages.forms import GRACE_LABELS, NewKeyForm, NewWriteKeyForm, RotateForm
from web.pages.page_request import (
    FORM,
    change,
    form_id,
    member_request,
    members_blueprint,
    needs,
    own_key,
    read_form,
)
from web.pages.rendering import form_page, own_page_or, redirect_with

blueprint: Final = members_blueprint("connections", __name__)
activity: Final = members_blueprint("activity", __name__)
_manages: Final = needs(permissions.MANAGE_CONNECTIONS, "see and change keys")

_LIST: Final = "connections.show"
_RECENT_EVENTS: Final = 10
_EVENTS_OF_A_PAGE: Final = 50


@blueprint.get("/connections")
@_manages
def show() -> str:
    page = member_request()
    keys = api_keys.list_keys(page.connection, page.member.shop_id)[::-1]
    statuses = {key.credential_id: api_keys.status(key, page.now) for key in keys}
    ended_keys = [key for key in keys if statuses[key.credential_id] != "active"]
    of_pages = write_keys.list_write_keys(page.connection, page.member.shop_id)[::-1]
    return render_template(
        "connections.html",
        active_keys=[key for key in keys if statuses[key.credential_id] == "active"],
        # As many as may be active: there is no end to keys that have ended.
        ended_keys=ended_keys[: api_keys.MOST_KEYS],
        ended_count=len(ended_keys),
        statuses=statuses,
        hints={key.credential_id: key.hint for key in keys},
        can_rotate=lambda key: (
            api_keys.can_rotate(key, page.now)
            and permissions.can_grant(page.member.permissions, key.scopes)
        ),
        events=audit.list_events(page.connection, page.member.shop_id, limit=_RECENT_EVENTS),
        write_keys=[key for key in of_pages if key.revoked_at is None],
        revoked_write_keys=[key for key in of_pages if key.revoked_at][: api_keys.MOST_KEYS],
    )


@blueprint.route("/connections/new", methods=FORM)
@_manages
def new_key() -> Any:
    page = member_request()
    form = read_form(NewKeyForm, once=token_urlsafe(16))
    known_scopes = [scope for scope in form.scopes.data or () if scope in SCOPES]
    permissions.require_grant(page.member.permissions, known_scopes)
    if not form.validate_on_submit():
        granted = page.member.permissions
        refusals = {scope: permissions.grant_refusal(granted, scope) for scope in SCOPES}
        return form_page("key_new.html", form, refusals=refusals)
    try:
        with change() as page:
            key = api_keys.mint(
                page.change,
                page.member.shop_id,
                form.scopes.data,
                name=form.name.data,
                expires_at=form.expires.instant,
                credential_id=f"cred_{form_id(form)[:24]}",
            )
    except OperatorError as error:
        return redirect_with(f"No key was created: {error}.", _LIST, "problem")
    except IntegrityError:
        message = "The form was sent twice. Its key is in the list; it was shown once."
        return redirect_with(message, _LIST, "problem")
    return render_template("key_created.html", key=key, base_url=own_address())


@blueprint.route("/connections/<credential_id>/rotate", methods=FORM)
@_manages
def rotate(credential_id: str) -> Any:
    page = member_request()
    key = own_key(api_keys.find, credential_id)
    permissions.require_grant(page.member.permissions, key.scopes)
    cannot = "This key cannot be rotated: it is no longer active, or it was rotated before."
    # The form proposes the old key's last day: a limited key gets a limited replacement.
    expires = api_keys.last_day(key.expires_at) if key.expires_at else ""
    form = read_form(RotateForm, expires=expires, grace="24h")
    if request.method != "POST" and not api_keys.can_rotate(key, page.now):
        return redirect_with(cannot, _LIST, "problem")
    if not form.validate_on_submit():
        return form_page("key_rotate.html", form, key=key, grace_labels=GRACE_LABELS)
    try:
        with change() as page:
            new = api_keys.rotate(
                page.change,
                credential_id,
                grace=api_keys.GRACE_PERIODS[form.grace.data],
                expires_at=form.expires.instant,
            )
    except api_keys.KeyNotActive:
        return redirect_with(cannot, _LIST, "problem")
    except OperatorError as error:
        return redirect_with(f"No key was created: {error}.", _LIST, "problem")
    return render_template("key_created.html", key=new, base_url=own_address())


@blueprint.route("/connections/write-keys/new", methods=FORM)
@_manages
def new_write_key() -> Any:
    form = read_form(NewWriteKeyForm, once=token_urlsafe(16))
    next_page = own_page_or(url_for(_LIST))
    if not form.validate_on_submit():
        return form_page("write_key_new.html", form, next_page=next_page)
    try:
        with change() as page:
            write_keys.create(
                page.change,
                page.member.shop_id,
                form.origins.origins,
                name=form.name.data,
                text=f"{write_keys.PREFIX}{form_id(form)[:32]}",
            )
        flash(f"The line {form.name.data} is made.")
    except OperatorError as error:
        flash(f"No line was made: {error}.", "problem")
    except IntegrityError:
        flash("The form was sent twice. Its line is in the list.", "problem")
    return redirect(next_page)


@blueprint.route("/connections/<credential_id>/revoke", methods=FORM)
@blueprint.route("/connections/write-keys/<text>/revoke", methods=FORM, endpoint="revoke_write_key")
@_manages
def revoke(credential_id: str = "", text: str = "") -> Any:
    """Revoke a key of either kind: an API key by its credential id, a write key by its text."""
    keys, identifier = (write_keys, text) if text else (api_keys, credential_id)
    key = own_key(keys.find, identifier)
    if request.method != "POST":
        kind = "line" if text else "key"
        return render_template("key_revoke.html", key=key, kind=kind)
    with change() as page:
        keys.revoke(page.change, identifier)
    if text:
        name = key.name or key.text
        return redirect_with(f"The line {name} is revoked. It stops working in a moment.", _LIST)
    return redirect_with(f"The key {key.name or key.hint} is revoked and no longer works.", _LIST)


@activity.get("/activity", endpoint="show")
def show_activity() -> Any:
    """One page of the trail, newest first; the parameter `before` is the audit_id that ended the previous
    page. Members who do not manage connections see their own part of it."""
    before = request.args.get("before", "")
    if before and not (before.isascii() and before.isdigit() and len(before) < 19):
        raise not_found()
    page = member_request()
    sees_all = permissions.MANAGE_CONNECTIONS in page.member.rights
    # One more than a page shows whether there is another page.
    events = audit.list_events(
        page.connection,
        page.member.shop_id,
        own_of="" if sees_all else page.member.email,
        before=int(before) if before else None,
        limit=_EVENTS_OF_A_PAGE + 1,
    )
    shown, more = events[:_EVENTS_OF_A_PAGE], events[_EVENTS_OF_A_PAGE:]
    older = shown[-1].audit_id if more else None
    return render_template("activity.html", events=shown, older=older, sees_all=sees_all)
