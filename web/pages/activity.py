"""The Activity page: a shop's audit trail. Members who do not manage connections see their own part of it."""

from typing import Any, Final

from flask import render_template, request

from web.auth import audit, permissions
from web.http.errors import not_found
from web.pages.page_request import member_request, members_blueprint

blueprint: Final = members_blueprint("activity", __name__)

_PAGE_SIZE: Final = 50


@blueprint.get("/activity")
def show() -> Any:
    """One page of the trail, newest first; the parameter `before` is the audit_id that ended the
    previous page."""
    before = request.args.get("before", "")
    if before and not (before.isascii() and before.isdigit() and len(before) < 19):
        raise not_found()
    page = member_request()
    sees_all = permissions.MANAGE_CONNECTIONS in page.member.rights
    # One more than a page shows whether there is another page.
    events = audit.list_events(
        page.connection,
        page.member.shop_id,
        own_of="" if sees_all else page.member.email,
        before=int(before) if before else None,
        limit=_PAGE_SIZE + 1,
    )
    shown, more = events[:_PAGE_SIZE], events[_PAGE_SIZE:]
    older = shown[-1].audit_id if more else None
    return render_template("activity.html", events=shown, older=older, sees_all=sees_all)
