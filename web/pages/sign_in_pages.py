"""Sign in with a password or a link, and set a password with a link."""

from contextlib import closing
from functools import partial
from typing import Any, Final, TypeVar

from flask import flash, make_response, redirect, render_template, request, url_for
from sqlalchemy import Connection, Row

from web.auth import invitations, members, one_time_links, operators, passwords, sessions
from web.auth import sign_in as auth
from web.auth.audit import Actor, Change
from web.auth.sign_in_limits import Attempt, SignInRefused, TooManyAttempts, counted
from web.http.errors import CODES, Refusal
from web.http.services import services
from web.limits.gcra import client_network
from web.pages import browser_cookie, page_request
from web.pages.forms import FirstMemberForm, FirstShopForm, PasswordForm, SignInForm, SignInLinkForm
from web.pages.page_request import FORM, client_address, database, now, open_connection
from web.pages.rendering import form_page, own_page_or
from web.pages.setup import SHOP_WORDS

blueprint: Final = page_request.public_blueprint("sign_in", __name__)

Found = TypeVar("Found")


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
        failure, headers = "The e-mail address or the password is wrong.", {}
        if is_later := isinstance(error, TooManyAttempts):
            failure, headers = str(error), {"Retry-After": str(error.retry_after)}
        body = render_template("sign_in.html", form=form, failure=failure)
        return make_response(body, 429 if is_later else 403, headers)
    page_request.start_session(token)
    return redirect(next_page)


@blueprint.route("/sign-in/<token>", methods=FORM)
def follow_link(token: str) -> Any:
    """Sign the link's member in, in place of whoever is signed in in this browser.

    Asks with a button. Programs look at links ahead of people, and a link works once; and by a link that a
    stranger sends, people would look at, and work on, another account without noticing."""
    connection = open_connection(write=False)
    link = _alive(one_time_links.find(connection, "sign-in", token, now()))
    present = page_request.signed_in(connection)
    form = SignInLinkForm()
    if request.method != "POST":
        is_other = present is not None and present.member_key != link.member_key
        other = present if is_other else None
        return render_template("sign_in_link.html", form=form, link=link, other=other)
    with database().write() as connection:
        change = _change(connection, link.email)
        browser, stay = browser_cookie.name(), form.stay.data
        session_token = _alive(auth.follow_link(change, token, link, browser, is_persistent=stay))
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
        _alive(one_time_links.is_first(connection, token, now()) or None)
    form = FirstMemberForm()
    if not form.validate_on_submit():
        return form_page("first_member.html", form)
    connection = open_connection(write=True)
    _alive(one_time_links.is_first(connection, token, now()) or None)
    password_token = operators.add(_change(connection, str(form.email.data)), str(form.email.data))
    connection.commit()
    return redirect(url_for("sign_in.set_password", token=password_token))


@blueprint.route("/password/<token>", methods=FORM)
def set_password(token: str) -> Any:
    """Set a password; for an operator without a shop, also add the first one."""
    with closing(database().read()) as connection:
        link = _alive(one_time_links.find(connection, "password", token, now()))
        shops = sessions.list_shops(connection, link.member_key)
    form = PasswordForm() if shops else FirstShopForm()
    if not form.validate_on_submit():
        return _password_page(form, link)
    attempt = Attempt(link.email, client_address(), f"of {sessions.token_hash(token)}")
    try:
        with counted(database().write, services().known_refusals, attempt, now()):
            pass
    except TooManyAttempts as error:
        headers = {"Retry-After": str(error.retry_after)}
        raise Refusal(429, CODES[429], str(error), headers) from None
    password_hash = _hashed(form, link.email, *(shop_id for _, shop_id in shops))
    if not password_hash:
        return _password_page(form, link)
    connection = open_connection(write=True)
    # Their shops and rights may have changed since they were read.
    _alive(one_time_links.find(connection, "password", token, now()))
    change = _change(connection, link.email)
    _alive(one_time_links.use_up(connection, "password", token, change.now) or None)
    if isinstance(form, FirstShopForm):
        try:
            shop_key = operators.add_shop(change, form.settings(), link.email)
        except operators.ShopTaken:
            form.refuse_taken()
            return _password_page(form, link)
    else:
        shops = _alive(sessions.list_shops(connection, link.member_key) or None)
        shop_key, _ = shops[0]
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
        found = _alive(invitations.find(connection, token, now()))
        present = page_request.signed_in(connection)
    is_own = present is not None and present.email == found.email
    form = SignInLinkForm() if found.has_account else PasswordForm()
    is_sent = (is_own or not found.has_account) and form.validate_on_submit()
    password_hash = ""
    if is_sent and isinstance(form, PasswordForm):
        password_hash = _hashed(form, found.email, found.shop_id)
    if not is_sent or not (password_hash or found.has_account):
        return form_page("join.html", form, found=found, is_own=is_own, present=present)
    connection = open_connection(write=True)
    # An account may have been made since: then it is its owner's, and so is its password.
    still = _alive(invitations.find(connection, token, now()))
    if still.has_account != found.has_account:
        return redirect(url_for("sign_in.invited", token=token))
    change = _change(connection, found.email)
    joined = invitations.accept(change, token, is_new=bool(password_hash))
    member_key, shop_key = _alive(joined)
    if password_hash:
        members.set_password(change, member_key, password_hash)
        session_token = sessions.start(change, member_key, shop_key, browser_cookie.name())
        if present:
            sessions.end(connection, present.token)
            _change(connection, present.email).record(present.shop_key, "signed_out")
    else:
        own = page_request.signed_in(connection)
        session_token = _alive(own.token if own and own.member_key == member_key else None)
        sessions.switch_shop(connection, session_token, shop_key)
    change.record(shop_key, "signed_in", "with an invitation")
    connection.commit()
    if password_hash:
        page_request.start_session(session_token)
    flash(f"You are a member of {found.shop_id}.")
    return redirect(url_for("dashboard.overview"))


def _change(connection: Connection, email: str) -> Change:
    """A change that a person makes who is not signed in yet."""
    return Change(connection, Actor(email, client_address()), now())


def _hashed(form: PasswordForm, *words: str) -> str:
    """The hash of the form's password; "" where it is easy to guess, as the form says then. Scoring and
    hashing take long, so no transaction may be open that writes: it would keep others waiting."""
    try:
        passwords.require_strong(form.password.data, words)
    except passwords.Weak as error:
        form.password.errors = [str(error)]
        return ""
    with passwords.place_to_hash(client_network(client_address())):
        return passwords.hash_password(form.password.data)


def _password_page(form: PasswordForm, link: Row) -> tuple[str, int]:
    if isinstance(form, FirstShopForm):
        return form_page("first_shop.html", form, email=link.email, **SHOP_WORDS)
    return form_page("set_password.html", form, email=link.email)


def _alive(found: Found | None) -> Found:
    """The thing that a link stands for. Raises the 404 where the link works no more: then it is None."""
    if found is None:
        raise Refusal(
            404,
            "not_found",
            "This link is incomplete, has expired or was used before. "
            "Ask the person who runs this service for a new one.",
        )
    return found
