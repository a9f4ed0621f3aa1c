"""The Account page: a member changes their password, sees and ends their other sign-ins, switches to
another shop, signs out."""

from typing import Any, Final

from flask import make_response, redirect, request, session

from web.auth import passwords, sessions
from web.auth import sign_in as auth
from web.auth.sign_in_limits import SignInRefused, TooManyAttempts
from web.http.errors import not_found
from web.http.services import services
from web.pages import browser_cookie, page_request
from web.pages.forms import ChangePasswordForm
from web.pages.page_request import FORM, change, member_request, members_blueprint
from web.pages.rendering import form_page, redirect_with, same_view

blueprint: Final = members_blueprint("account", __name__)


@blueprint.route("/account", methods=FORM)
def show() -> Any:
    page = member_request()
    form = ChangePasswordForm()
    if not form.validate_on_submit():
        return _page(form)
    try:
        token = auth.change_password(
            page_request.database().write,
            services().known_refusals,
            page.member,
            form.old.data,
            form.password.data,
            words=[page.member.email, *(shop_id for _, shop_id in page.shops)],
            by=page.change.by,
            browser=browser_cookie.name(),
            now=page.now,
        )
    except TooManyAttempts as error:
        form.old.errors = [str(error)]
        return make_response(_page(form)[0], 429, {"Retry-After": str(error.retry_after)})
    except passwords.Weak as error:
        form.password.errors = [str(error)]
        return _page(form)
    except SignInRefused:
        form.old.errors = ["This is not your current password."]
        return _page(form)
    page_request.start_session(token)
    return redirect_with(
        "Your password is changed. You are signed out everywhere else.", "account.show"
    )


@blueprint.post("/account/sign-ins/<sign_in_id>/end")
@blueprint.post("/account/sign-ins/end", endpoint="end_other_sign_ins")
def end_sign_in(sign_in_id: str | None = None) -> Any:
    """End one of the member's other sign-ins, or all. One that has ended by itself is no error."""
    with change() as page:
        ended = sessions.end_others(page.connection, page.member, sign_in_id)
        number = "1 sign-in" if ended == 1 else f"{ended} sign-ins"
        if ended:
            page.record("sign_ins_ended", number)
    return redirect_with(f"Ended {number}.", "account.show")


@blueprint.post("/shop")
def switch_shop() -> Any:
    """Continue in another shop of the member, on the same page over the same days."""
    wanted = request.form.get("shop", "")
    if _key_among(member_request().shops, wanted) != member_request().member.shop_key:
        with change() as page:
            shop_key = _key_among(page.shops, wanted)
            sessions.switch_shop(page.connection, page.member.token, shop_key)
            # The trail is the new shop's, whose members may not know the old one.
            page.change.record_repeated(shop_key, "signed_in", "from another shop")
    return redirect(same_view(request.form.get("next", "")))


@blueprint.post("/sign-out")
def sign_out() -> Any:
    with change() as page:
        sessions.end(page.connection, page.member.token)
        page.record("signed_out")
    session.clear()
    return redirect_with("You are signed out.", "sign_in.sign_in")


def _key_among(shops: list[tuple[int, str]], wanted: str) -> int:
    """The key of the shop that is wanted. Raises the 404."""
    for shop_key, shop_id in shops:
        if shop_id == wanted:
            return shop_key
    raise not_found()


def _page(form: ChangePasswordForm) -> tuple[str, int]:
    page = member_request()
    sign_ins = sessions.list_open(page.connection, page.member.member_key, page.now)
    here = page.member.sign_in_id
    return form_page(
        "account.html",
        form,
        here=[one for one in sign_ins if one.sign_in_id == here],
        others=[one for one in sign_ins if one.sign_in_id != here],
    )
