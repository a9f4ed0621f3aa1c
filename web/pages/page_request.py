"""START HERE: what happens around every page: CSRF check, sign-in, limits, transaction.

A form passes the check of its type (415), its CSRF check (400), the check of the sign-in (redirect to the
sign-in page), the limits of its shop (429), then its view, which asks `web/auth/permissions.py` (403).

A view has two phases. In the first it reads, from a snapshot that cannot write, and checks the form: that
may take long, and keeps nobody waiting. In the second, `change()`, it writes: on SQLite all writes of all
shops wait meanwhile. The member is found again there, in the same transaction as the change, so a member
who is disabled in between cannot complete it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Final, TypeVar

from flask import Blueprint, current_app, flash, g, redirect, request, session, url_for
from flask_login import LoginManager, UserMixin, current_user, login_user, logout_user
from flask_wtf.csrf import CSRFError, CSRFProtect
from sqlalchemy import Connection
from werkzeug.wrappers import Response

from web.auth import passwords, sessions
from web.auth.api_keys import ApiKey, KeyNotFound
from web.auth.audit import Actor, record
from web.auth.permissions import NotAllowed
from web.auth.sessions import SignedIn
from web.auth.write_keys import WriteKey, WriteKeyNotFound
from web.db.database import Database
from web.http.api_key_auth import Shop, find_shop, open_snapshot
from web.http.current_request import current_request
from web.http.errors import CODES, SETTINGS, Refusal, asks_for_page, not_found
from web.http.request_bodies import MAX_FORM_BYTES
from web.pages import browser_cookie
from web.pages.rendering import add_headers
from web.services import services

Key = TypeVar("Key", ApiKey, WriteKey)

_FORM_TYPE: Final = "application/x-www-form-urlencoded"

# A page that the browser loads again by itself is no sign of its member: a sign-in must end without one.
_RELOADS_ITSELF: Final = ("setup.show",)

csrf: Final = CSRFProtect()
login: Final = LoginManager()
# The cookie's token is looked up on each request. The library's own check of address and browser adds
# nothing to that, and signs members out when they change networks.
login.session_protection = None


@dataclass(frozen=True, slots=True)
class MemberRequest:
    """A request of a signed-in member at the instant `now` (microseconds). `connection` can write
    within `change()` alone. `shops` are (shop_key, shop_id) of the shops that the member can enter."""

    connection: Connection
    member: SignedIn
    shops: list[tuple[int, str]]
    now: int

    @property
    def actor(self) -> Actor:
        """The member, for the audit trail."""
        return Actor(self.member.email, client_address())

    def record(self, action: str, detail: str = "", shop_key: int | None = None) -> None:
        """Write to the audit trail of the member's shop, or of another one."""
        record(
            self.connection, shop_key or self.member.shop_key, self.actor, action, detail, self.now
        )


class SignInEnded(Exception):
    """The sign-in of a request has ended while its form was checked."""


class User(UserMixin):
    """A sign-in in the form that Flask-Login needs; its id is the token."""

    def __init__(self, member: SignedIn) -> None:
        self.member = member

    def get_id(self) -> str:
        return self.member.token


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


def digest_of_once(once: str) -> str:
    """The same digits each time one form is sent in one sign-in. The token in it keeps others from
    choosing them."""
    return sha256(f"{member_request().member.token} {once}".encode()).hexdigest()


def own_key(page: MemberRequest, find: Callable[[Connection, str], Key], identifier: str) -> Key:
    """A key of the member's shop. Raises the same 404 for an unknown one and another shop's."""
    with suppress(KeyNotFound, WriteKeyNotFound):
        key = find(page.connection, identifier)
        if key.shop_key == page.member.shop_key:
            return key
    raise not_found()


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
    previous, current_request().connection = current_request().connection, None
    if previous is not None:
        database().release(previous)
    connection = database().write() if write else database().read()
    current_request().connection = connection
    return connection


def now() -> int:
    """The present instant, in microseconds."""
    return services().clock()


def database() -> Database:
    return services().database


def client_address() -> str:
    """The client's address, as a trusted proxy says it, where there is one."""
    return request.remote_addr or ""


def start_session(connection: Connection, token: str) -> None:
    """Store a sign-in's token in the browser's cookie, and have the browser known from now on. The
    previous content of the cookie is dropped: another person may have planted it."""
    member = sessions.find(connection, token, now())
    session.clear()
    if member is not None:
        login_user(User(member))
        browser_cookie.remember(member.email, now())


def end_session() -> None:
    logout_user()
    session.clear()


def _with_checks(blueprint: Blueprint) -> Blueprint:
    blueprint.before_request(_check_form)
    blueprint.after_request(add_headers)
    blueprint.register_error_handler(NotAllowed, _refuse)
    blueprint.register_error_handler(passwords.Busy, _refuse_for_now)
    blueprint.register_error_handler(SignInEnded, lambda _error: _redirect_to_sign_in())
    return blueprint


@login.user_loader
def _load_user(token: str) -> User | None:
    connection = current_request().connection
    member = sessions.find(connection, token, now()) if connection else None
    return None if member is None else User(member)


@login.unauthorized_handler
def _redirect_to_sign_in() -> Response:
    if not asks_for_page():
        raise not_found()
    page = request.full_path.rstrip("?") if request.method == "GET" else None
    if "_user_id" in session:
        session.clear()
        flash("You were signed out. Sign in again to continue.", "note")
    return redirect(url_for("sign_in.sign_in_form", next=page))


def _check_form() -> None:
    # Nothing else comes from these pages, and the libraries fail on some of what could.
    if request.method == "POST" and request.mimetype not in ("", _FORM_TYPE):
        raise Refusal(415, CODES[415], f"A form of this site comes as `{_FORM_TYPE}`.")
    request.max_content_length = MAX_FORM_BYTES
    try:
        csrf.protect()
    except CSRFError:
        raise Refusal(
            400,
            "invalid_form",
            "This form is out of date, or it did not come from this site. "
            "Go back, reload the page and send the form again.",
        ) from None


def _require_member() -> Any:
    connection = open_connection(write=False)
    if not current_user.is_authenticated:
        return login.unauthorized()
    member: SignedIn = current_user.member
    services().rate_limits.count_page(member.shop_key, now())
    services().admission.remember(member.shop_key)
    shops = sessions.list_shops(connection, member.member_key)
    g.member_request = MemberRequest(connection, member, shops, now())
    is_use = request.endpoint not in _RELOADS_ITSELF
    if is_use and now() - member.seen_at >= sessions.SEEN_INTERVAL:
        use = partial(sessions.record_use, token=member.token, now=now())
        services().background_writes.write(use)
    return None


def _refuse(error: NotAllowed) -> Any:
    return current_app.handle_user_exception(Refusal(403, "not_allowed", str(error)))


def _refuse_for_now(_error: passwords.Busy) -> Any:
    message = "Too many people are signing in at once. Go back, and try again in a few seconds."
    busy = Refusal(503, CODES[503], message, {"Retry-After": "2"})
    return current_app.handle_user_exception(busy)
