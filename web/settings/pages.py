"""What happens around every page: CSRF, who is signed in, the transaction, the headers.

A form passes, in this order: its CSRF token (400), the sign-in (else to the sign-in form), then its
view, which asks `members/grants.py` (403). What a page changes, and the look at who may change it, are
one transaction: a member who is disabled meanwhile is not let through by an older look.
"""

from typing import Any, Final

from flask import Blueprint, Response, current_app, flash, g, redirect, request, session, url_for
from flask_login import LoginManager, UserMixin, current_user, login_user, logout_user
from flask_wtf.csrf import CSRFError, CSRFProtect
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from web.addresses import PAGES
from web.audit import Actor
from web.errors import Refusal
from web.members import sign_ins
from web.members.grants import NotAllowed
from web.members.sign_ins import SignedIn

csrf: Final = CSRFProtect()
login: Final = LoginManager()
# A cookie is a token, looked up on each request; the library's own hash of address and browser adds
# nothing to that, and signs out who changes networks.
login.session_protection = None

LARGEST_FORM: Final = 64 * 1024

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`: behind HTTPS, the CSRF check wants to see that a form came from here.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class User(UserMixin):
    """Flask-Login's view of a sign-in: its id is the token."""

    def __init__(self, member: SignedIn) -> None:
        self.member = member

    def get_id(self) -> str:
        return self.member.token


@login.user_loader
def _load(token: str) -> User | None:
    member = sign_ins.find(g.connection, token, now())
    return None if member is None else User(member)


@login.unauthorized_handler
def _to_sign_in() -> BaseResponse:
    where = request.path if request.method == "GET" else None
    if "_user_id" in session:
        session.clear()
        flash("You were signed out. Sign in to go on.")
    return redirect(url_for("entrance.sign_in", next=where))


def now() -> int:
    """The present instant, in microseconds."""
    return int(current_app.extensions["clock"]())


def public(name: str, import_name: str) -> Blueprint:
    """A blueprint of pages for everyone."""
    blueprint = Blueprint(
        name, import_name, url_prefix=PAGES, static_folder="static", template_folder="templates"
    )
    blueprint.before_request(_check_form)
    blueprint.after_request(add_headers)
    blueprint.register_error_handler(NotAllowed, _not_allowed)
    return blueprint


def members_only(name: str, import_name: str) -> Blueprint:
    """A blueprint of pages for those who are signed in: `g.member`."""
    blueprint = Blueprint(name, import_name, url_prefix=PAGES)
    blueprint.before_request(_check_form)
    blueprint.before_request(_require_member)
    blueprint.after_request(add_headers)
    blueprint.register_error_handler(NotAllowed, _not_allowed)
    return blueprint


def actor() -> Actor:
    """The member who acts, for the audit trail."""
    return Actor(g.member.email, address())


def address() -> str:
    """The client's address, as far as proxies are trusted (web/proxies.py)."""
    return request.remote_addr or ""


def commit() -> None:
    """Keep what the request has changed; without it, nothing is."""
    g.connection.commit()


def begin(token: str) -> None:
    """Have this browser signed in. Nothing of the cookie of before is kept, so that nobody who put
    it there knows the one that counts."""
    member = sign_ins.find(g.connection, token, now())
    session.clear()
    if member is not None:
        login_user(User(member))


def current(section: str) -> Markup:
    """Marks the link of the section that is being looked at."""
    here = request.blueprint == section
    return Markup('aria-current="page"') if here else Markup("")


def finish() -> None:
    logout_user()
    session.clear()


def add_headers(response: Response) -> Response:
    for name, value in HEADERS.items():
        if name == "Cache-Control" and request.endpoint == "entrance.static":
            continue
        response.headers[name] = value
    return response


def _check_form() -> None:
    request.max_content_length = LARGEST_FORM
    try:
        csrf.protect()
    except CSRFError:
        raise Refusal(
            400,
            "invalid_form",
            "This form is out of date, or did not come from this site. "
            "Go back, load the page again, and send it once more.",
        ) from None


def _require_member() -> Any:
    database = current_app.extensions["database"]
    g.connection = database.write() if request.method == "POST" else database.read()
    if not current_user.is_authenticated:
        return login.unauthorized()
    member: SignedIn = current_user.member
    g.member = member
    g.shops = sign_ins.shops(g.connection, member.member_key)
    if now() - member.seen_at >= sign_ins.SEEN_EVERY:
        current_app.extensions["later"].write(sign_ins.seen(member.token, now()))
    return None


def _not_allowed(error: NotAllowed) -> Any:
    return current_app.handle_user_exception(Refusal(403, "not_allowed", str(error)))
