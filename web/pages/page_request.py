"""START HERE: what happens around every page: CSRF check, sign-in, limits, permission, transaction.

A form passes the check of its type (415), its CSRF check (400), the check of the sign-in (redirect to the
sign-in page), the limits of its shop (429), what its page needs (403), then its view. One view shows a form
(GET) and takes it (POST).

A view has two phases. In the first it reads, from a snapshot that cannot write, and checks the form: that
may take long, and keeps nobody waiting. In the second, `change()`, it writes: on SQLite all writes of all
shops wait meanwhile. The member is found again there, in the same transaction as the change, so a member
who is disabled in between cannot complete it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Final, TypeVar

from flask import Blueprint, current_app, flash, g, redirect, request, session, url_for
from flask_wtf import FlaskForm
from flask_wtf.csrf import CSRFError, CSRFProtect
from sqlalchemy import Connection, Row
from werkzeug.wrappers import Response

from web.auth import passwords, permissions, sessions
from web.auth.audit import Actor, Change, OperatorError
from web.auth.permissions import NotAllowed
from web.auth.sessions import SignedIn
from web.db.database import Database
from web.http.admission import UPLOADS
from web.http.api_key_auth import find_shop, open_snapshot
from web.http.current_request import Shop, current_request, is_static_file
from web.http.errors import (
    CODES,
    MESSAGES,
    RETRY_SOON,
    SETTINGS,
    Refusal,
    asks_for_page,
    not_found,
)
from web.http.request_bodies import MAX_FORM_BYTES
from web.http.services import services
from web.pages import browser_cookie
from web.pages.rendering import add_headers
from web.pages.session_cookie import TOKEN

_FORM_TYPE: Final = "application/x-www-form-urlencoded"
# The methods of a view that shows a form and takes it.
FORM: Final = ("GET", "POST")

# A page that the browser loads again by itself is no sign of its member: a sign-in must end without one.
_RELOADS_ITSELF: Final = ("setup.show", "seen_forms.listed", "dashboard.file")

csrf: Final = CSRFProtect()
# The key of a session under which the library keeps it.
_CSRF_TOKEN: Final = "csrf_token"

View = TypeVar("View", bound=Callable[..., Any])
Form = TypeVar("Form", bound=FlaskForm)

# The need of each view: a right, and what for, as `permissions.require` takes them.
_NEEDS: Final[dict[Callable[..., Any], tuple[str, str]]] = {}


@dataclass(frozen=True, slots=True)
class MemberRequest:
    """A request of a signed-in member at the instant `now` (microseconds). `connection` can write
    within `change()` alone. `shops` are (shop_key, shop_id) of the shops that the member can enter."""

    connection: Connection
    member: SignedIn
    shops: list[tuple[int, str]]
    now: int

    @property
    def change(self) -> Change:
        """A change that the member makes, within `change()`."""
        return Change(self.connection, Actor(self.member.email, client_address()), self.now)

    def record(self, action: str, detail: str = "", shop_key: int | None = None) -> None:
        """Write to the audit trail of the member's shop, or of another one."""
        self.change.record(shop_key or self.member.shop_key, action, detail)


class SignInEnded(Exception):
    """The sign-in of a request has ended while its form was checked."""


def public_blueprint(name: str, import_name: str) -> Blueprint:
    """A blueprint of pages that need no sign-in."""
    blueprint = Blueprint(
        name, import_name, url_prefix=SETTINGS, static_folder="static", template_folder="templates"
    )
    return _with_checks(blueprint)


def members_blueprint(
    name: str, import_name: str, prefix: str | None = SETTINGS, **folders: Any
) -> Blueprint:
    """A blueprint of pages for signed-in members; `member_request()` describes the request."""
    blueprint = _with_checks(Blueprint(name, import_name, url_prefix=prefix, **folders))
    blueprint.before_request(_require_member)
    return blueprint


def needs(right: str, doing: str) -> Callable[[View], View]:
    """Declare that a view of a members' blueprint is for members with a right (a permission, or
    `permissions.ADD_SHOPS`); `doing` says what for, as in "see live codes". The others get the 403."""

    def declare(view: View) -> View:
        _NEEDS[view] = right, doing
        return view

    return declare


def may_open(endpoint: str) -> bool:
    """Whether the member of the request at hand may open a page. Every link to it asks."""
    right, _ = _NEEDS.get(current_app.view_functions[endpoint], ("", ""))
    return not right or right in member_request().member.rights


def read_form(form: type[Form], **initial: str) -> Form:
    """A form as it was sent; where it is shown first, with these values."""
    # Values beside a form that was sent would take the place of fields that it lacks.
    return form(data=None if request.method == "POST" else initial)


def form_id(form: Any) -> str:
    """Hexadecimal digits that are the same each time one rendered form is sent: sent twice, it creates one
    key. The token of the sign-in in it keeps others from choosing them."""
    return sha256(f"{member_request().member.token} {form.once.data}".encode()).hexdigest()


def own_key(find: Callable[[Connection, str], Row], identifier: str) -> Row:
    """A key of the member's shop. Raises the same 404 for an unknown one and another shop's."""
    page = member_request()
    try:
        key = find(page.connection, identifier)
    except OperatorError:
        raise not_found() from None
    if key.shop_key != page.member.shop_key:
        raise not_found()
    return key


def member_request() -> MemberRequest:
    current: MemberRequest = g.member_request
    return current


@contextmanager
def change() -> Iterator[MemberRequest]:
    """The request at hand with a connection that can write; its transaction is committed at the end of the
    block. Raises NotAllowed where the member's rights are not those with which the form was checked."""
    checked = member_request()
    connection = open_connection(write=True)
    member = sessions.find(connection, checked.member.token, checked.now)
    if member is None:
        raise SignInEnded
    if replace(member, seen_at=checked.member.seen_at) != checked.member:
        raise NotAllowed("Your permissions or your shop changed meanwhile. Reload the page.")
    shops = sessions.list_shops(connection, member.member_key)
    g.member_request = MemberRequest(connection, member, shops, checked.now)
    yield g.member_request
    connection.commit()


def read_figures(*, at_primary: bool) -> tuple[MemberRequest, Shop]:
    """The request at hand and its shop, in the snapshot from which the page reads: that of the read replica,
    where there is one, unless the page shows what its members write."""
    current = member_request()
    shop_key, shop_id = current.member.shop_key, current.member.shop_id
    if at_primary or not database().has_replica:
        return current, find_shop(current.connection, shop_key)
    shop = open_snapshot(database(), shop_key, shop_id)
    connection = current_request().connection
    assert connection is not None
    g.member_request = replace(current, connection=connection)
    return member_request(), shop


def open_connection(*, write: bool) -> Connection:
    """The connection of a request to a page, in place of the one that it had. It is closed after the
    request; changes that were not committed are rolled back."""
    release_connection()
    connection = database().write() if write else database().read()
    current_request().connection = connection
    return connection


def release_connection() -> None:
    """Give back the connection of a request that takes long, and reads nothing meanwhile."""
    previous, current_request().connection = current_request().connection, None
    if previous is not None:
        database().release(previous)


def now() -> int:
    """The present instant, in microseconds."""
    return services().clock()


def database() -> Database:
    return services().database


def client_address() -> str:
    """The client's address, as a trusted proxy says it, where there is one."""
    return request.remote_addr or ""


def signed_in(connection: Connection) -> SignedIn | None:
    """The member who is signed in in the browser of the request at hand."""
    token = session.get(TOKEN)
    return sessions.find(connection, token, now()) if token else None


def start_session(token: str) -> None:
    """Store a sign-in's token in the browser's cookie, and remember the browser from now on. The previous
    content of the cookie is dropped: another person may have planted it. That of a persistent sign-in
    outlives the browser's window."""
    member = sessions.find(open_connection(write=False), token, now())
    session.clear()
    if member is not None:
        session[TOKEN] = token
        session.permanent = member.is_persistent
        browser_cookie.remember(member.email, now())


def _with_checks(blueprint: Blueprint) -> Blueprint:
    blueprint.before_request(_check_form)
    blueprint.after_request(add_headers)
    blueprint.register_error_handler(NotAllowed, _refuse)
    blueprint.register_error_handler(passwords.Busy, _refuse)
    blueprint.register_error_handler(SignInEnded, lambda _error: _redirect_to_sign_in())
    return blueprint


def _redirect_to_sign_in() -> Response:
    if not asks_for_page():
        raise not_found()
    page = request.full_path.rstrip("?") if request.method == "GET" else None
    if TOKEN in session:
        # Several requests may find the end at once, and the answer to one may come last, when the page to
        # sign in is there already: its form stays valid.
        csrf_token = session.get(_CSRF_TOKEN)
        session.clear()
        if csrf_token is not None:
            session[_CSRF_TOKEN] = csrf_token
        flash("You were signed out. Sign in again to continue.", "note")
    return redirect(url_for("sign_in.sign_in", next=page))


def check_csrf() -> None:
    """Raise the 400 for a form that did not come from these pages, and the 503 where nobody can tell."""
    if request.method == "POST" and not current_app.secret_key:
        # The warehouse, which keeps it, did not answer when the cookie was to be read.
        raise Refusal(503, CODES[503], MESSAGES[503], RETRY_SOON)
    try:
        csrf.protect()
    except CSRFError as error:
        raise Refusal(
            400,
            "invalid_form",
            "This form is out of date, or it did not come from this site. Go back, reload the page and send "
            f"the form again. ({error.description})",
        ) from None


def _check_form() -> None:
    if request.method == "POST" and request.endpoint in UPLOADS:
        # An upload is read later, and checked as it arrives; its sender is checked first.
        services().admission.admit_read(current_request())
        return
    # Nothing else comes from these pages, and the libraries fail on some of what could.
    if request.method == "POST" and request.mimetype not in ("", _FORM_TYPE):
        raise Refusal(415, CODES[415], f"A form of this site comes as `{_FORM_TYPE}`.")
    request.max_content_length = MAX_FORM_BYTES
    check_csrf()
    if request.method == "POST":
        services().admission.admit_write(current_request())


def _require_member() -> Response | None:
    if is_static_file():
        return None
    connection = open_connection(write=False)
    member = signed_in(connection)
    if member is None:
        services().admission.forget(current_request().credential)
        if request.method == "POST":
            services().rate_limits.count_failure(now())
        return _redirect_to_sign_in()
    services().admission.remember(current_request().credential, member.shop_key)
    services().rate_limits.count_page(member.shop_key, now())
    shops = sessions.list_shops(connection, member.member_key)
    g.member_request = MemberRequest(connection, member, shops, now())
    is_use = request.endpoint not in _RELOADS_ITSELF
    if is_use and now() - member.seen_at >= sessions.SEEN_INTERVAL:
        use = partial(sessions.record_use, token=member.token, now=now())
        services().background_writes.write(use)
    if need := _NEEDS.get(current_app.view_functions[request.endpoint or ""]):
        permissions.require(member.rights, *need)
    return None


def _refuse(error: NotAllowed | passwords.Busy) -> Any:
    refusal = Refusal(403, "not_allowed", str(error))
    if isinstance(error, passwords.Busy):
        message = "Too many people are signing in at once. Go back, and try again in a few seconds."
        refusal = Refusal(503, CODES[503], message, {"Retry-After": "2"})
    return current_app.handle_user_exception(refusal)
