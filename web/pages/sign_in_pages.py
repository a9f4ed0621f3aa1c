"""Sign in with a password or a link, and set a password with a link."""

from contextlib import closing
from functools import partial
from typing import Any, Final

from flask import flash, make_response, redirect, render_template, request, url_for
from sqlalchemy import Connection, Row

from web.auth import invitations, members, one_time_links, operators, passwords, sessions
from web.auth import sign_in as auth
from web.auth.audit import Actor, Change
from web.auth.one_time_links import Purpose
from web.auth.sign_in_limits import Attempt, SignInRefused, TooManyAttempts, counted
from web.http.errors import CODES, Refusal
from web.http.services import services
from web.limits.gcra import client_network
from web.pages import browser_cookie, page_request
from web.pages.forms import FirstMemberForm, FirstShopForm, PasswordForm, SignInForm, SignInLinkForm
from web.pages.page_request import FORM, client_address, database, now, open_connection
from web.pages.rendering import form_page
from web.pages.return_address import own_page_or
from web.pages.setup import shop_page

blueprint: Final = page_request.public_blueprint("sign_in", __name__)


@blueprint.get("")
def front() -> Any:
    return redirect(url_for("account.show"))


@blueprint.route("/sign-in", methods=FORM)
def sign_in() -> Any:
    next_page = own_page_or(url_for("dashboard.overview"))
    if request.method != "POST" and page_request.signed_in(open_connection(write=False)):
        return redirect(next_page)
    form = SignInForm()
    if not form.validate_on_submit():
        return form_page("sign_in.html", form)
    email, at = form.email.data, now()
    attempt = Attempt(email, client_address(), browser_cookie.recognise(email, at))
    try:
        token = auth.sign_in(
            database().write,
            services().known_refusals,
            attempt,
            form.password.data,
            browser_cookie.name(),
            at,
            is_persistent=form.stay.data,
        )
    except SignInRefused as error:
        # Written later: only an account that exists has a trail, and the answer must not take longer.
        refusal = partial(auth.record_refusal, attempt=attempt, now=at)
        services().background_writes.write(refusal)
        if not isinstance(error, TooManyAttempts):
            return _refused(form, "The e-mail address or the password is wrong."), 403
        headers = {"Retry-After": str(error.retry_after)}
        return make_response(_refused(form, str(error)), 429, headers)
    page_request.start_session(token)
    return redirect(next_page)


@blueprint.route("/sign-in/<token>", methods=FORM)
def follow_link(token: str) -> Any:
    """Sign the link's member in, in place of whoever is signed in in this browser.

    Asks with a button. Programs look at links ahead of people, and a link works once; and by a link that a
    stranger sends, people would look at, and work on, another account without noticing."""
    connection = open_connection(write=False)
    link = _find_link(connection, "sign-in", token)
    present = page_request.signed_in(connection)
    form = SignInLinkForm()
    if request.method != "POST":
        is_other = present is not None and present.member_key != link.member_key
        other = present if is_other else None
        return render_template("sign_in_link.html", form=form, link=link, other=other)
    with database().write() as connection:
        change = _change(connection, link.email)
        session_token = auth.follow_link(
            change, token, link, browser_cookie.name(), is_persistent=form.stay.data
        )
        if session_token is None:
            raise _dead_link()
        if present:
            sessions.end(connection, present.token)
            _change(connection, present.email).record(present.shop_key, "signed_out")
        connection.commit()
    page_request.start_session(session_token)
    return redirect(url_for("dashboard.overview"))


@blueprint.route("/first/<token>", methods=FORM)
def begin(token: str) -> Any:
    """Ask the first member who they are, and go on to their password and shop."""
    with closing(database().read()) as connection:
        if not one_time_links.is_first(connection, token, now()):
            raise _dead_link()
    form = FirstMemberForm()
    if not form.validate_on_submit():
        return form_page("first_member.html", form)
    connection = open_connection(write=True)
    if not one_time_links.is_first(connection, token, now()):
        raise _dead_link()
    password_token = operators.add(_change(connection, str(form.email.data)), str(form.email.data))
    connection.commit()
    return redirect(url_for("sign_in.set_password", token=password_token))


@blueprint.route("/password/<token>", methods=FORM)
def set_password(token: str) -> Any:
    """Set a password; for an operator without a shop, also add the first one."""
    with closing(database().read()) as connection:
        link = _find_link(connection, "password", token)
        shops = sessions.list_shops(connection, link.member_key)
    form = PasswordForm() if shops else FirstShopForm()
    if not form.validate_on_submit():
        return _password_page(form, link)
    _count_attempt(token, link)
    # Scoring and hashing take long, and a transaction that writes keeps others waiting.
    try:
        words = [link.email, *(shop_id for _, shop_id in shops)]
        passwords.require_strong(form.password.data, words)
    except passwords.Weak as error:
        form.password.errors = [str(error)]
        return _password_page(form, link)
    with passwords.place_to_hash(client_network(client_address())):
        password_hash = passwords.hash_password(form.password.data)
    connection = open_connection(write=True)
    # Their shops and rights may have changed since they were read.
    _find_link(connection, "password", token)
    change = _change(connection, link.email)
    if not one_time_links.use_up(connection, "password", token, change.now):
        raise _dead_link()
    if isinstance(form, FirstShopForm):
        try:
            shop_key = operators.add_shop(change, form.settings(), link.email)
        except operators.ShopTaken:
            form.refuse_taken()
            return _password_page(form, link)
    elif shops := sessions.list_shops(connection, link.member_key):
        shop_key, _ = shops[0]
    else:
        raise _dead_link()
    members.set_password(change, link.member_key, password_hash)
    session_token = sessions.start(change, link.member_key, shop_key, browser_cookie.name())
    change.record(shop_key, "signed_in", "with a new password")
    connection.commit()
    page_request.start_session(session_token)
    flash("Your password is set, and you are signed in.")
    is_first = isinstance(form, FirstShopForm)
    return redirect(url_for("setup.show" if is_first else "dashboard.overview"))


@blueprint.route("/join/<token>", methods=FORM)
def invited(token: str) -> Any:
    """Join the shop of an invitation: with the account of its address, or, where there is none, with a new
    password."""
    with closing(database().read()) as connection:
        found = _find_invitation(connection, token)
        present = page_request.signed_in(connection)
    is_own = present is not None and present.email == found.email
    form = SignInLinkForm() if found.has_account else PasswordForm()
    if (found.has_account and not is_own) or not form.validate_on_submit():
        return form_page("join.html", form, found=found, is_own=is_own, present=present)
    password_hash = ""
    if isinstance(form, PasswordForm):
        try:
            passwords.require_strong(form.password.data, [found.email, found.shop_id])
        except passwords.Weak as error:
            form.password.errors = [str(error)]
            return form_page("join.html", form, found=found, is_own=False, present=present)
        with passwords.place_to_hash(client_network(client_address())):
            password_hash = passwords.hash_password(form.password.data)
    connection = open_connection(write=True)
    # An account may have been made since: then it is its owner's, and so is its password.
    still = _find_invitation(connection, token)
    if still.has_account != found.has_account:
        return redirect(url_for("sign_in.invited", token=token))
    change = _change(connection, found.email)
    joined = invitations.accept(change, token, is_new=bool(password_hash))
    if joined is None:
        raise _dead_link()
    member_key, shop_key = joined
    if password_hash:
        members.set_password(change, member_key, password_hash)
        session_token = sessions.start(change, member_key, shop_key, browser_cookie.name())
        if present:
            sessions.end(connection, present.token)
            _change(connection, present.email).record(present.shop_key, "signed_out")
    else:
        own = page_request.signed_in(connection)
        if own is None or own.member_key != member_key:
            raise _dead_link()
        session_token = own.token
        sessions.switch_shop(connection, session_token, shop_key)
    change.record(shop_key, "signed_in", "with an invitation")
    connection.commit()
    if password_hash:
        page_request.start_session(session_token)
    flash(f"You are a member of {found.shop_id}.")
    return redirect(url_for("dashboard.overview"))


def _find_invitation(connection: Connection, token: str) -> Row:
    """Find the invitation of a link. Raises the 404."""
    found = invitations.find(connection, token, now())
    if found is None:
        raise _dead_link()
    return found


def _change(connection: Connection, email: str) -> Change:
    """A change that a person makes who is not signed in yet."""
    return Change(connection, Actor(email, client_address()), now())


def _refused(form: SignInForm, failure: str) -> str:
    return render_template("sign_in.html", form=form, failure=failure)


def _count_attempt(token: str, link: Row) -> None:
    """Count an attempt to set a password by a link. Raises the 429."""
    attempt = Attempt(link.email, client_address(), f"of {sessions.token_hash(token)}")
    try:
        with counted(database().write, services().known_refusals, attempt, now()):
            pass
    except TooManyAttempts as error:
        headers = {"Retry-After": str(error.retry_after)}
        raise Refusal(429, CODES[429], str(error), headers) from None


def _password_page(form: PasswordForm, link: Row) -> tuple[str, int]:
    if isinstance(form, FirstShopForm):
        return shop_page("first_shop.html", form, email=link.email)
    return form_page("set_password.html", form, email=link.email)


def _find_link(connection: Connection, purpose: Purpose, token: str) -> Row:
    """Find a link. Raises the 404."""
    link = one_time_links.find(connection, purpose, token, now())
    if link is None:
        raise _dead_link()
    return link


def _dead_link() -> Refusal:
    return Refusal(
        404,
        "not_found",
        "This link is incomplete, has expired or was used before. "
        "Ask the person who runs this service for a new one.",
    )
