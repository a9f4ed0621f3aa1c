"""What a member may do: which scopes they can put on a key, and whether on any.

The one place of these rules: pages ask it what to offer, and every change asks it again, whatever the
page has offered.
"""

from collections.abc import Collection, Iterable
from typing import Final

from warehouse.vocabulary import SCOPE_NEEDS, SCOPES

MANAGE: Final = "connections:manage"

# Permissions as people read them.
PERMISSION_NAMES: Final = {
    "forms:edit": "Form editing",
    "discounts:view": "Discounts view",
    "connections:manage": "Connections",
}

# What a scope opens, in a sentence.
SCOPE_OPENS: Final = {
    "analytics:read": "Reads totals: funnels, answers, attribution, campaigns and ad spend.",
    "customers:read": "Reads the lifetime value of customers, by form and by answer.",
    "forms:write": "Creates forms and replaces their drafts.",
    "discounts:read": "Reads discounts, with their live codes and what they brought.",
}


class NotAllowed(Exception):
    """The member lacks a permission; the message says which, as a sentence."""


def reason_against(permissions: Collection[str], scope: str) -> str:
    """Why a member with these permissions cannot grant a scope; "" where they can."""
    needed = SCOPE_NEEDS.get(scope)
    if needed is None or needed in permissions:
        return ""
    return f"Only a member with the {PERMISSION_NAMES[needed]} permission can grant it."


def require_manage(permissions: Collection[str]) -> None:
    """Raises NotAllowed."""
    if MANAGE not in permissions:
        raise NotAllowed(
            f"Only a member with the {PERMISSION_NAMES[MANAGE]} permission can change keys."
        )


def require_grant(permissions: Collection[str], scopes: Iterable[str]) -> None:
    """May mint at all, and every one of the scopes. Raises NotAllowed."""
    require_manage(permissions)
    for scope in scopes:
        if scope not in SCOPES:
            raise NotAllowed("There is no such scope.")
        reason = reason_against(permissions, scope)
        if reason:
            raise NotAllowed(f"You cannot grant {scope}. {reason}")
