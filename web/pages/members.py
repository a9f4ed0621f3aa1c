"""The Members page: who may what in the shop, the links that invite somebody, and the page that such a link
opens. All but the last is for members who manage connections.

Nobody gives or takes a permission that they do not have, nor takes away a member who has one, and nobody
changes their own: so a member who manages the shop is always left.
"""

from typing import Any, Final

from flask import render_template, request, url_for
from flask_wtf import FlaskForm
from sqlalchemy import Connection
from wtforms import SelectMultipleField

from warehouse.domain.vocabulary import PERMISSIONS
from web.auth import invitations, members, permissions
from web.auth.audit import OperatorError
from web.auth.members import Member
from web.auth.permissions import MANAGE_CONNECTIONS, require_given
from web.http.errors import not_found
from web.http.host_and_proxy import own_address
from web.pages.forms import FirstMemberForm
from web.pages.page_request import (
    FORM,
    MemberRequest,
    change,
    member_request,
    members_blueprint,
    needs,
)
from web.pages.rendering import form_page, redirect_with

blueprint: Final = members_blueprint("members", __name__)
_manages: Final = needs(MANAGE_CONNECTIONS, "see and change members")


class PermissionsForm(FlaskForm):
    permissions = SelectMultipleField("Permissions", choices=list(PERMISSIONS))


class InvitationForm(FirstMemberForm, PermissionsForm):
    """The person to invite, and what they may do."""


@blueprint.get("/members")
@_manages
def show() -> str:
    page = member_request()
    return render_template(
        "members.html",
        members=_enabled(page.connection, page.member.shop_id),
        own_key=page.member.member_key,
        invitations=invitations.list_open(page.connection, page.member.shop_key, page.now),
    )


@blueprint.route("/members/new", methods=FORM)
@_manages
def invite() -> Any:
    form = InvitationForm()
    if not form.validate_on_submit():
        return form_page("member_new.html", form, closed=_closed())
    email = members.normalize_email(str(form.email.data))
    try:
        with change() as page:
            token = invitations.create(
                page.change,
                page.member.shop_key,
                email,
                form.permissions.data or (),
                page.member.permissions,
            )
    except OperatorError as error:
        form.email.errors = [f"{error}."]
        return form_page("member_new.html", form, closed=_closed())
    base_url = own_address()
    link = f"{base_url}{url_for('sign_in.invited', token=token)}"
    return render_template("member_invited.html", email=email, link=link)


@blueprint.post("/members/withdraw")
@_manages
def withdraw() -> Any:
    email = request.form.get("email", "")
    with change() as page:
        is_ended = invitations.withdraw(page.change, page.member.shop_key, email)
    ended = f"The invitation of {email} is withdrawn." if is_ended else "It has ended."
    return redirect_with(ended, "members.show")


@blueprint.route("/members/<int:member_key>", methods=FORM)
@_manages
def edit(member_key: int) -> Any:
    page = member_request()
    member = _find(page, member_key)
    form = PermissionsForm(data=None if request.method == "POST" else member._asdict())
    if not form.validate_on_submit():
        can_remove = {*member.permissions} <= {*page.member.permissions}
        return form_page(
            "member_change.html", form, member=member, closed=_closed(), can_remove=can_remove
        )
    chosen = form.permissions.data or ()
    with change() as page:
        member = _find(page, member_key)
        # The page does not send permissions that it shows as closed: they stay.
        kept = {one for one in member.permissions if one not in page.member.permissions}
        require_given(page.member.permissions, {*chosen} - {*member.permissions})
        members.set_permissions(page.change, member, {*chosen} | kept)
    return redirect_with(f"The permissions of {member.email} are changed.", "members.show")


@blueprint.post("/members/<int:member_key>/remove")
@_manages
def remove(member_key: int) -> Any:
    with change() as page:
        member = _find(page, member_key)
        require_given(page.member.permissions, member.permissions)
        members.disable(page.change, member)
    return redirect_with(f"{member.email} is no member any more.", "members.show")


def _enabled(connection: Connection, shop_id: str) -> list[Member]:
    found = members.list_members(connection, shop_id)
    return [member for member in found if member.disabled_at is None]


def _find(page: MemberRequest, member_key: int) -> Member:
    """Another member of the shop. Raises the 404, and NotAllowed for oneself."""
    for member in _enabled(page.connection, page.member.shop_id):
        if member.member_key == member_key:
            if member_key == page.member.member_key:
                raise permissions.NotAllowed("Ask another member to change what you may do.")
            return member
    raise not_found()


def _closed() -> dict[str, str]:
    """The reason, by permission, why the member of the page cannot give or take it; "" where they can."""
    own = member_request().member.permissions
    reason = "You do not have it, so you cannot give or take it."
    return {permission: "" if permission in own else reason for permission in PERMISSIONS}
