"""Sign in, and set a password with a link: the pages for those who are not signed in."""

import re
from contextlib import closing
from typing import Any, Final

from flask import current_app, flash, g, make_response, redirect, render_template, request, url_for
from flask_login import current_user

from web.audit import Actor, record
from web.errors import Refusal
from web.members import accounts, links, passwords, sign_ins, signing_in
from web.settings import pages
from web.settings.forms import PasswordForm, SignInForm

blueprint: Final = pages.public("entrance", __name__)

# Where a sign-in may lead: a page of ours, and nothing that a browser could read as another site.
_PAGE: Final = re.compile(r"/settings(/[A-Za-z0-9_-]+)*")

_NO_LINK: Final = (
    "This link was used already, or has expired, or is not complete. "
    "Ask whoever runs the service for a new one."
)


@blueprint.get("", provide_automatic_options=False)
def front() -> Any:
    return redirect(url_for("connections.show"))


@blueprint.get("/sign-in", provide_automatic_options=False)
def sign_in() -> Any:
    with closing(_database().read()) as g.connection:
        if current_user.is_authenticated:
            return redirect(_next())
    return render_template("settings/sign_in.html", form=SignInForm(), failure="")


@blueprint.post("/sign-in", provide_automatic_options=False)
def try_to_sign_in() -> Any:
    form = SignInForm()
    if not form.validate():
        return render_template("settings/sign_in.html", form=form, failure=""), 422
    write = _database().write
    try:
        token = signing_in.sign_in(
            write, form.email.data, form.password.data, pages.address(), pages.now()
        )
    except signing_in.Refused:
        return render_template("settings/sign_in.html", form=form, failure=signing_in.REFUSED), 403
    except signing_in.Throttled as refused:
        minutes = -(-refused.seconds // 60)
        failure = f"Too many attempts. Try again in {minutes} minute{'s' if minutes > 1 else ''}."
        body = render_template("settings/sign_in.html", form=form, failure=failure)
        return make_response(body, 429, {"Retry-After": str(refused.seconds)})
    g.connection = _database().read()
    pages.begin(token)
    return redirect(_next())


@blueprint.get("/password/<token>", provide_automatic_options=False)
def password(token: str) -> Any:
    with closing(_database().read()) as connection:
        _, email = _owner(connection, token)
    return render_template("settings/password.html", form=PasswordForm(), email=email)


@blueprint.post("/password/<token>", provide_automatic_options=False)
def set_password(token: str) -> Any:
    now = pages.now()
    with closing(_database().read()) as connection:
        member_key, email = _owner(connection, token)
    form = PasswordForm()
    form.email = email
    if not form.validate():
        return render_template("settings/password.html", form=form, email=email), 422
    password_hash = passwords.hashed(form.password.data)
    by = Actor(email, pages.address())
    g.connection = _database().write()
    shops = sign_ins.shops(g.connection, member_key)
    if not links.use_up(g.connection, token, now) or not shops:
        raise _no_link()
    accounts.set_password(g.connection, member_key, password_hash, by=by, now=now)
    sign_in_token = sign_ins.start(g.connection, member_key, shops[0][0], now)
    record(g.connection, shops[0][0], by, "signed_in", "with a new password", now)
    pages.commit()
    pages.begin(sign_in_token)
    flash("Your password is set, and you are signed in.")
    return redirect(url_for("connections.show"))


def _owner(connection: Any, token: str) -> tuple[int, str]:
    """Whose link it is; a member without a shop has nowhere to go with it. Raises the 404."""
    owner = links.owner(connection, token, pages.now())
    if owner is None or not sign_ins.shops(connection, owner[0]):
        raise _no_link()
    return owner


def _no_link() -> Refusal:
    return Refusal(404, "not_found", _NO_LINK)


def _next() -> str:
    wanted = request.args.get("next", "")
    return wanted if _PAGE.fullmatch(wanted) else url_for("connections.show")


def _database() -> Any:
    return current_app.extensions["database"]
