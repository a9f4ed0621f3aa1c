"""The rules on what a member may do. Every refusal is raised by `require`, whatever a page offered.

A page names its need once (`needs` in `web/pages/page_request.py`); the page, and links to it, ask for it.
"""

from collections.abc import Collection, Iterable
from typing import Final

from warehouse.domain.vocabulary import SCOPE_NEEDS, SCOPES

EDIT_FORMS: Final = "forms:edit"
VIEW_DISCOUNTS: Final = "discounts:view"
MANAGE_CONNECTIONS: Final = "connections:manage"
VIEW_CUSTOMERS: Final = "customers:view"
# The right of an operator (`operators.py`). It is no permission: no shop can give it.
ADD_SHOPS: Final = "shops:add"

# Permissions as people read them.
PERMISSION_NAMES: Final = {
    EDIT_FORMS: "Form editing",
    VIEW_DISCOUNTS: "Discounts view",
    MANAGE_CONNECTIONS: "Connections",
    VIEW_CUSTOMERS: "Orders view",
}

PERMISSION_DESCRIPTIONS: Final = {
    EDIT_FORMS: "Says how forms and codes are counted, writes notes, and gives keys that create forms.",
    VIEW_DISCOUNTS: "Sees discounts and their live codes.",
    MANAGE_CONNECTIONS: "Makes keys and lines, sees how data come in, invites and changes members.",
    VIEW_CUSTOMERS: "Sees orders one by one.",
}

SCOPE_DESCRIPTIONS: Final = {
    "analytics:read": "Reads totals: funnels, answers, attribution, campaigns and ad spend.",
    "customers:read": "Reads orders one by one, and the lifetime value of customers by form and by answer.",
    "forms:write": "Creates forms and replaces their drafts; writes notes on days.",
    "discounts:read": "Reads discounts: their live codes, and the orders and revenue that they brought.",
}
# The ability of a member who has the permission that a scope needs (`SCOPE_NEEDS`).
SCOPE_OPENS: Final = {"forms:write": "edit forms", "discounts:read": "see live codes"}


class NotAllowed(Exception):
    """The member lacks a permission; the message is a sentence that names it."""


def require(rights: Collection[str], needed: str, doing: str) -> None:
    """Raise NotAllowed where a member with these rights lacks the one that is needed for `doing`, as in
    "see live codes". Rights are permissions and ADD_SHOPS."""
    if needed in rights:
        return
    if needed == ADD_SHOPS:
        raise NotAllowed(f"Only operators can {doing}. Ask the person who runs this service.")
    raise NotAllowed(f"Only a member with the {PERMISSION_NAMES[needed]} permission can {doing}.")


def require_given(own: Collection[str], given: Iterable[str]) -> None:
    """Raise NotAllowed where a member with these permissions gives, or takes, one that they do not have."""
    for permission in given:
        if permission not in own:
            name = PERMISSION_NAMES[permission]
            raise NotAllowed(
                f"You do not have the {name} permission, so you cannot give or take it."
            )


def grant_refusal(permissions: Collection[str], scope: str) -> str:
    """The reason why a member with these permissions cannot grant a scope; "" where they can."""
    try:
        if scope in SCOPE_NEEDS:
            require(permissions, SCOPE_NEEDS[scope], "grant it")
    except NotAllowed as error:
        return str(error)
    return ""


def can_grant(permissions: Collection[str], scopes: Iterable[str]) -> bool:
    """Whether a member with these permissions can make a key with these scopes."""
    return not any(grant_refusal(permissions, scope) for scope in scopes)


def require_grant(permissions: Collection[str], scopes: Iterable[str]) -> None:
    """Raise NotAllowed where a member with these permissions cannot make a key with these scopes."""
    for scope in scopes:
        if scope not in SCOPES:
            raise NotAllowed(f"There is no scope {scope}.")
        if refusal := grant_refusal(permissions, scope):
            raise NotAllowed(f"You cannot grant {scope}. {refusal}")
