"""Sign in with a password or a link, and set a password with a link."""

from contextlib import closing
from functools import partial
from typing import Any, Final

from flask import flash, make_response, redirect, render_template, url_for
from flask_login import current_user
from sqlalchemy import Connection

from web.auth import (
    audit,
    members,
    operators,
    password_links,
    passwords,
    sessions,
    sign_in_limits,
    sign_in_links,
)
from web.auth import sign_in as auth
from web.auth.gcra import client_network
from web.auth.sign_in_limits import Attempt
from web.auth.sign_in_links import SignInLink
from web.http.errors import CODES, Refusal
from web.pages import browser_cookie, page_request
from web.pages.forms import PasswordForm, SignInForm
from web.pages.return_address import own_page_or
from web.pages.setup import shop_page
from web.pages.setup_forms import FirstShopForm
from web.services import services

blueprint: Final = page_request.public_blueprint("sign_in", __name__)


@blueprint.get("", provide_automatic_options=False)
def front() -> Any:
    return redirect(url_for("account.show"))


@blueprint.get("/sign-in", provide_automatic_options=False)
def sign_in_form() -> Any:
    page_request.open_connection(write=False)
    if current_user.is_authenticated:
        return redirect(_next_page())
    return _sign_in_page(SignInForm())


@blueprint.post("/sign-in", provide_automatic_options=False)
def sign_in() -> Any:
    form = SignInForm()
    if not form.validate():
        return _sign_in_page(form), 422
    email, now = form.email.data, page_request.now()
    known_browser = browser_cookie.recognise(email, now)
    attempt = Attempt(email, page_request.client_address(), known_browser)
    try:
        token = auth.sign_in(
            page_request.database().write,
            services().known_refusals,
            attempt,
            form.password.data,
            browser_cookie.name(),
            now,
        )
    except auth.SignInRefused as error:
        # Written later: only an account that exists has a trail, and the answer must not take longer.
        refusal = partial(auth.record_refusal, attempt=attempt, now=now)
        services().background_writes.write(refusal)
        if not isinstance(error, auth.TooManyAttempts):
            return _sign_in_page(form, "The e-mail address or the password is wrong."), 403
        headers = {"Retry-After": str(error.retry_after)}
        return make_response(_sign_in_page(form, str(error)), 429, headers)
    page_request.start_session(page_request.open_connection(write=False), token)
    return redirect(_next_page())


@blueprint.get("/sign-in/<token>", provide_automatic_options=False)
def show_link(token: str) -> Any:
    """Asks with a button. Programs look at links ahead of people, and a link works once; and a link that a
    stranger sends would have people look at, and work on, another account without noticing."""
    link = _find_link(token)
    present = current_user.member if current_user.is_authenticated else None
    is_other = present is not None and present.member_key != link.member_key
    return render_template("sign_in_link.html", link=link, other=present if is_other else None)


@blueprint.post("/sign-in/<token>", provide_automatic_options=False)
def follow_link(token: str) -> Any:
    """Sign the link's member in, in place of whoever is signed in in this browser."""
    link = _find_link(token)
    now, address = page_request.now(), page_request.client_address()
    present = current_user.member if current_user.is_authenticated else None
    with page_request.database().write() as connection:
        session_token = sign_in_links.follow(connection, link, address, browser_cookie.name(), now)
        if session_token is None:
            raise _dead_link()
        if present:
            sessions.end(connection, present.token)
            by = audit.Actor(present.email, address)
            audit.record(connection, present.shop_key, by, "signed_out", "", now)
        connection.commit()
    page_request.start_session(page_request.open_connection(write=False), session_token)
    return redirect(url_for("dashboard.overview"))


@blueprint.get("/password/<token>", provide_automatic_options=False)
def password_form(token: str) -> Any:
    with closing(page_request.database().read()) as connection:
        member_key, email = _link_owner(connection, token)
        shops = sessions.list_shops(connection, member_key)
    return _password_page(PasswordForm() if shops else FirstShopForm(), email)


@blueprint.post("/password/<token>", provide_automatic_options=False)
def set_password(token: str) -> Any:
    now = page_request.now()
    with closing(page_request.database().read()) as connection:
        member_key, email = _link_owner(connection, token)
        shops = sessions.list_shops(connection, member_key)
    form = PasswordForm() if shops else FirstShopForm()
    if not form.validate():
        return _password_page(form, email), 422
    _count_attempt(token, email, now)
    # Scoring and hashing take long, and a transaction that writes keeps others waiting.
    try:
        passwords.require_strong(form.password.data, [email, *(shop_id for _, shop_id in shops)])
    except passwords.Weak as error:
        form.password.errors = [str(error)]
        return _password_page(form, email), 422
    with passwords.place_to_hash(client_network(page_request.client_address())):
        password_hash = passwords.hash_password(form.password.data)
    by = audit.Actor(email, page_request.client_address())
    connection = page_request.open_connection(write=True)
    # Their shops and rights may have changed since they were read.
    _link_owner(connection, token)
    if not password_links.use_up(connection, token, now):
        raise _dead_link()
    if isinstance(form, FirstShopForm):
        try:
            shop_key = operators.add_shop(connection, form.settings(), email, by=by, now=now)
        except operators.ShopTaken:
            form.refuse_taken()
            return _password_page(form, email), 422
    elif shops := sessions.list_shops(connection, member_key):
        shop_key, _ = shops[0]
    else:
        raise _dead_link()
    members.set_password(connection, member_key, password_hash, by=by, now=now)
    session_token = sessions.start(
        connection, member_key, shop_key, by.source_ip, browser_cookie.name(), now
    )
    audit.record(connection, shop_key, by, "signed_in", "with a new password", now)
    connection.commit()
    page_request.start_session(page_request.open_connection(write=False), session_token)
    flash("Your password is set, and you are signed in.")
    is_first = isinstance(form, FirstShopForm)
    return redirect(url_for("setup.show" if is_first else "dashboard.overview"))


def _count_attempt(token: str, email: str, now: int) -> None:
    """Count an attempt to set a password by a link. Raises the 429."""
    known = services().known_refusals
    attempt = Attempt(email, page_request.client_address(), f"of {sessions.token_hash(token)}")
    retry_after = known.retry_after(attempt, now)
    if not retry_after:
        with page_request.database().write() as connection:
            retry_after = sign_in_limits.count(connection, known, attempt, now)
            connection.commit()
    if retry_after:
        headers = {"Retry-After": str(retry_after)}
        raise Refusal(429, CODES[429], str(auth.TooManyAttempts(retry_after)), headers)


def _password_page(form: PasswordForm, email: str) -> str:
    """The page of a link to set a password; for an operator without a shop, also to add the first one."""
    if isinstance(form, FirstShopForm):
        return shop_page("first_shop.html", form, email=email)
    return render_template("set_password.html", form=form, email=email)


def _sign_in_page(form: SignInForm, failure: str = "") -> str:
    return render_template("sign_in.html", form=form, failure=failure)


def _find_link(token: str) -> SignInLink:
    """Raises the 404."""
    connection = page_request.open_connection(write=False)
    link = sign_in_links.find(connection, token, page_request.now())
    if link is None:
        raise _dead_link()
    return link


def _link_owner(connection: Connection, token: str) -> tuple[int, str]:
    """(member_key, e-mail address) of a valid link. Raises the 404, also for a member who has no shop
    to sign in to, and may add none."""
    owner = password_links.owner(connection, token, page_request.now())
    if owner is None:
        raise _dead_link()
    if not sessions.list_shops(connection, owner[0]) and not operators.is_operator(
        connection, owner[0]
    ):
        raise _dead_link()
    return owner


def _dead_link() -> Refusal:
    return Refusal(
        404,
        "not_found",
        "This link is incomplete, has expired or was used before. "
        "Ask the person who runs this service for a new one.",
    )


def _next_page() -> str:
    return own_page_or(url_for("dashboard.overview"))
