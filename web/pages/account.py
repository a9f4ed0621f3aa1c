"""The Account page: a member changes their password, sees and ends their other sign-ins, switches to
another shop, signs out."""

from typing import Any, Final

from flask import flash, make_response, redirect, render_template, request, url_for

from web.auth import passwords, sessions
from web.auth.password_change import change_password as auth_change_password
from web.auth.sign_in import SignInRefused, TooManyAttempts
from web.http.errors import not_found
from web.pages import browser_cookie, page_request
from web.pages.forms import ChangePasswordForm
from web.pages.page_request import MemberRequest, change, member_request, members_blueprint
from web.pages.return_address import same_view
from web.services import services

blueprint: Final = members_blueprint("account", __name__)


@blueprint.get("/account", provide_automatic_options=False)
def show() -> Any:
    return _page(member_request(), ChangePasswordForm())


@blueprint.post("/account", provide_automatic_options=False)
def change_password() -> Any:
    page = member_request()
    form = ChangePasswordForm()
    if not form.validate():
        return _page(page, form), 422
    try:
        token = auth_change_password(
            page_request.database().write,
            services().known_refusals,
            page.member,
            form.old.data,
            form.password.data,
            words=[page.member.email, *(shop_id for _, shop_id in page.shops)],
            by=page.actor,
            browser=browser_cookie.name(),
            now=page.now,
        )
    except TooManyAttempts as error:
        form.old.errors = [str(error)]
        headers = {"Retry-After": str(error.retry_after)}
        return make_response(_page(page, form), 429, headers)
    except passwords.Weak as error:
        form.password.errors = [str(error)]
        return _page(page, form), 422
    except SignInRefused:
        form.old.errors = ["This is not your present password."]
        return _page(page, form), 422
    page_request.start_session(page_request.open_connection(write=False), token)
    flash("Your password is changed. You are signed out everywhere else.")
    return redirect(url_for("account.show"))


@blueprint.post("/account/sign-ins/<sign_in_id>/end", provide_automatic_options=False)
def end_sign_in(sign_in_id: str) -> Any:
    return _end_others(sign_in_id)


@blueprint.post("/account/sign-ins/end", provide_automatic_options=False)
def end_other_sign_ins() -> Any:
    return _end_others()


@blueprint.post("/shop", provide_automatic_options=False)
def switch_shop() -> Any:
    """Continue in another shop of the member, on the same page over the same days."""
    wanted = request.form.get("shop", "")
    _key_among(member_request().shops, wanted)
    with change() as page:
        shop_key = _key_among(page.shops, wanted)
        sessions.switch_shop(page.connection, page.member.token, shop_key)
        # The trail is the new shop's, whose members may not know the old one.
        page.record("signed_in", "from another shop", shop_key)
    return redirect(same_view(request.form.get("next", "")))


@blueprint.post("/sign-out", provide_automatic_options=False)
def sign_out() -> Any:
    with change() as page:
        sessions.end(page.connection, page.member.token)
        page.record("signed_out")
    page_request.end_session()
    flash("You are signed out.")
    return redirect(url_for("sign_in.sign_in_form"))


def _key_among(shops: list[tuple[int, str]], wanted: str) -> int:
    """Raises the 404."""
    for shop_key, shop_id in shops:
        if shop_id == wanted:
            return shop_key
    raise not_found()


def _end_others(sign_in_id: str | None = None) -> Any:
    """End one of the member's other sign-ins, or all. One that has ended by itself is no error."""
    with change() as page:
        ended = sessions.end_others(page.connection, page.member, sign_in_id)
        number = "1 sign-in" if ended == 1 else f"{ended} sign-ins"
        if ended:
            page.record("sign_ins_ended", number)
    flash(f"Ended {number}.")
    return redirect(url_for("account.show"))


def _page(page: MemberRequest, form: ChangePasswordForm) -> str:
    sign_ins = sessions.list_open(page.connection, page.member.member_key, page.now)
    here = page.member.sign_in_id
    return render_template(
        "account.html",
        form=form,
        here=[one for one in sign_ins if one.sign_in_id == here],
        others=[one for one in sign_ins if one.sign_in_id != here],
    )
