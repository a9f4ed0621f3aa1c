"""Settings → Activity: the audit trail; and what a member does with their own sign-in."""

from typing import Any, Final

from flask import flash, g, redirect, render_template, request, url_for

from web import audit
from web.errors import not_found
from web.members import sign_ins
from web.settings import pages

blueprint: Final = pages.members_only("activity", __name__)

_PAGE: Final = 50


@blueprint.get("/activity", provide_automatic_options=False)
def show() -> Any:
    """Newest first; `before` is the number of the last entry of the page before."""
    before = request.args.get("before", "")
    if before and not (before.isascii() and before.isdigit() and len(before) < 19):
        raise not_found()
    found = audit.entries(
        g.connection,
        g.member.shop_id,
        before=int(before) if before else None,
        limit=_PAGE + 1,
    )
    older = found[_PAGE - 1].number if len(found) > _PAGE else None
    return render_template("settings/activity.html", entries=found[:_PAGE], older=older)


@blueprint.post("/sign-out", provide_automatic_options=False)
def sign_out() -> Any:
    sign_ins.end(g.connection, g.member.token)
    audit.record(g.connection, g.member.shop_key, pages.actor(), "signed_out", "", pages.now())
    pages.commit()
    pages.finish()
    flash("You are signed out.")
    return redirect(url_for("entrance.sign_in"))


@blueprint.post("/shop", provide_automatic_options=False)
def enter_shop() -> Any:
    """Go on in another shop of the member's."""
    wanted = request.form.get("shop", "")
    for shop_key, shop_id in g.shops:
        if shop_id == wanted:
            sign_ins.enter(g.connection, g.member.token, shop_key)
            text = f"from the shop {g.member.shop_id}"
            audit.record(g.connection, shop_key, pages.actor(), "signed_in", text, pages.now())
            pages.commit()
            return redirect(url_for("connections.show"))
    raise not_found()
