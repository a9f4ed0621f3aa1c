"""The rules on what a member may do: who can change keys, and which scopes they can grant.

Pages ask these functions what to offer, and every change asks them again, whatever a page offered.
"""

from collections.abc import Collection, Iterable
from typing import Final

from warehouse.domain.vocabulary import SCOPE_NEEDS, SCOPES

MANAGE_CONNECTIONS: Final = "connections:manage"
VIEW_DISCOUNTS: Final = "discounts:view"

# Permissions as people read them.
PERMISSION_NAMES: Final = {
    "forms:edit": "Form editing",
    "discounts:view": "Discounts view",
    "connections:manage": "Connections",
}

SCOPE_DESCRIPTIONS: Final = {
    "analytics:read": "Reads totals: funnels, answers, attribution, campaigns and ad spend.",
    "customers:read": "Reads the lifetime value of customers, by form and by answer.",
    "forms:write": "Creates forms and replaces their drafts.",
    "discounts:read": "Reads discounts: their live codes, and the orders and revenue that they brought.",
}


class NotAllowed(Exception):
    """The member lacks a permission; the message is a sentence that names it."""


def grant_refusal(permissions: Collection[str], scope: str) -> str:
    """Why a member with these permissions cannot grant a scope; "" where they can."""
    needed = SCOPE_NEEDS.get(scope)
    if needed is None or needed in permissions:
        return ""
    return f"Only a member with the {PERMISSION_NAMES[needed]} permission can grant it."


def require(permissions: Collection[str], needed: str, doing: str) -> None:
    """Raises NotAllowed where a member with these permissions lacks the one that is needed for `doing`, as
    in "see live codes"."""
    if needed not in permissions:
        raise NotAllowed(
            f"Only a member with the {PERMISSION_NAMES[needed]} permission can {doing}."
        )


def require_manage(permissions: Collection[str]) -> None:
    """Raises NotAllowed where a member with these permissions can neither see nor change keys."""
    if MANAGE_CONNECTIONS not in permissions:
        name = PERMISSION_NAMES[MANAGE_CONNECTIONS]
        raise NotAllowed(f"Only a member with the {name} permission can see and change keys.")


def require_data(permissions: Collection[str]) -> None:
    """Raises NotAllowed where a member with these permissions cannot see how data come in."""
    if MANAGE_CONNECTIONS not in permissions:
        name = PERMISSION_NAMES[MANAGE_CONNECTIONS]
        raise NotAllowed(f"Only a member with the {name} permission can see the Data page.")


def require_set_up(permissions: Collection[str]) -> None:
    """Raises NotAllowed where a member with these permissions cannot set up how data come in."""
    if MANAGE_CONNECTIONS not in permissions:
        name = PERMISSION_NAMES[MANAGE_CONNECTIONS]
        raise NotAllowed(f"Only a member with the {name} permission can set up a shop.")


def require_adding_shops(adds_shops: bool) -> None:
    """Raises NotAllowed for a member who is no operator."""
    if not adds_shops:
        raise NotAllowed(
            "Only a member whom the person who runs this service lets add shops can add one."
        )


def require_discounts(permissions: Collection[str]) -> None:
    """Raises NotAllowed where a member with these permissions cannot see discounts."""
    if VIEW_DISCOUNTS not in permissions:
        name = PERMISSION_NAMES[VIEW_DISCOUNTS]
        raise NotAllowed(f"Only a member with the {name} permission can see live codes.")


def require_grant(permissions: Collection[str], scopes: Iterable[str]) -> None:
    """Raises NotAllowed where a member with these permissions cannot make a key with these scopes."""
    require_manage(permissions)
    for scope in scopes:
        if scope not in SCOPES:
            raise NotAllowed(f"There is no scope {scope}.")
        refusal = grant_refusal(permissions, scope)
        if refusal:
            raise NotAllowed(f"You cannot grant {scope}. {refusal}")
