"""Settings → Connections: a shop's keys, and minting, rotating and revoking them."""

from hashlib import sha256
from secrets import token_urlsafe
from typing import Any, Final

from flask import flash, g, redirect, render_template, request, url_for
from sqlalchemy.exc import IntegrityError

from warehouse.settings import PUBLIC_URL
from warehouse.vocabulary import SCOPES
from web import audit, keys
from web.errors import not_found
from web.expiry import last_day
from web.members import grants
from web.settings import pages
from web.settings.forms import GRACE_LABELS, MintForm, RotateForm

blueprint: Final = pages.members_only("connections", __name__)

_RECENT: Final = 10


@blueprint.get("/connections", provide_automatic_options=False)
def show() -> Any:
    now = pages.now()
    found = keys.list_keys(g.connection, g.member.shop_id)
    return render_template(
        "settings/connections.html",
        working=[key for key in reversed(found) if key.state(now) == "active"],
        over=[key for key in reversed(found) if key.state(now) != "active"],
        hints={key.credential_id: key.hint for key in found},
        may_change=grants.MANAGE in g.member.permissions,
        entries=audit.entries(g.connection, g.member.shop_id, limit=_RECENT),
        now=now,
    )


@blueprint.get("/connections/new", provide_automatic_options=False)
def new() -> Any:
    grants.require_manage(g.member.permissions)
    return _mint_page(MintForm(data={"once": token_urlsafe(16)}))


@blueprint.post("/connections/new", provide_automatic_options=False)
def mint() -> Any:
    form = MintForm()
    grants.require_grant(g.member.permissions, [one for one in form.scopes.data if one in SCOPES])
    if not form.validate():
        return _mint_page(form), 422
    try:
        key = keys.mint(
            g.connection,
            g.member.shop_id,
            form.scopes.data,
            name=form.name.data,
            by=pages.actor(),
            now=pages.now(),
            expires_at=form.expires.instant,
            credential_id=_credential_id(form.once.data),
        )
        pages.commit()
    except (keys.AlreadyMinted, IntegrityError):
        flash("This form was sent before. Its key is in the list; it was shown once.", "problem")
        return redirect(url_for("connections.show"))
    return _key_page(key, "Your new key")


@blueprint.get("/connections/<credential_id>/rotate", provide_automatic_options=False)
def ask_to_rotate(credential_id: str) -> Any:
    key = _own_key(credential_id)
    grants.require_grant(g.member.permissions, key.scopes)
    if not key.can_rotate(pages.now()):
        return _cannot_rotate()
    # What was to end stays to end, unless the member says otherwise.
    form = RotateForm(data={"expires": last_day(key.expires_at or 1), "grace": "24h"})
    return _rotate_page(key, form)


@blueprint.post("/connections/<credential_id>/rotate", provide_automatic_options=False)
def rotate(credential_id: str) -> Any:
    key = _own_key(credential_id)
    grants.require_grant(g.member.permissions, key.scopes)
    form = RotateForm()
    if not form.validate():
        return _rotate_page(key, form), 422
    try:
        new_key = keys.rotate(
            g.connection,
            credential_id,
            by=pages.actor(),
            now=pages.now(),
            grace=keys.GRACES[form.grace.data],
            expires_at=form.expires.instant,
        )
    except keys.NotActive:
        return _cannot_rotate()
    pages.commit()
    return _key_page(new_key, "The new key")


@blueprint.get("/connections/<credential_id>/revoke", provide_automatic_options=False)
def ask_to_revoke(credential_id: str) -> Any:
    key = _own_key(credential_id)
    grants.require_manage(g.member.permissions)
    return render_template("settings/revoke.html", key=key)


@blueprint.post("/connections/<credential_id>/revoke", provide_automatic_options=False)
def revoke(credential_id: str) -> Any:
    key = _own_key(credential_id)
    grants.require_manage(g.member.permissions)
    keys.revoke(g.connection, credential_id, by=pages.actor(), now=pages.now())
    pages.commit()
    flash(f"The key {key.name or key.hint} is revoked. It no longer opens anything.")
    return redirect(url_for("connections.show"))


def _own_key(credential_id: str) -> keys.Key:
    """A key of the member's shop; another shop's is as unknown as one that does not exist."""
    try:
        key = keys.find(g.connection, credential_id)
    except keys.UnknownKey:
        raise not_found() from None
    if key.shop_key != g.member.shop_key:
        raise not_found()
    return key


def _credential_id(once: str) -> str:
    """The same for the same form in the same sign-in, and nobody's choice."""
    digest = sha256(f"{g.member.token} {once}".encode()).hexdigest()
    return f"cred_{digest[:24]}"


def _mint_page(form: MintForm) -> str:
    reasons = {scope: grants.reason_against(g.member.permissions, scope) for scope in SCOPES}
    return render_template("settings/mint.html", form=form, reasons=reasons)


def _rotate_page(key: keys.Key, form: RotateForm) -> str:
    return render_template("settings/rotate.html", key=key, form=form, grace_labels=GRACE_LABELS)


def _key_page(key: str, title: str) -> str:
    base = PUBLIC_URL.get() or request.host_url.rstrip("/")
    return render_template("settings/key.html", key=key, title=title, base=base)


def _cannot_rotate() -> Any:
    flash("This key is not active any more, or was rotated already.", "problem")
    return redirect(url_for("connections.show"))
