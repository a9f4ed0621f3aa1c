"""Providers with incomplete data: failed or stale pulls, missing exchange rates."""

from functools import cache
from typing import Any, Final

from sqlalchemy import Select, bindparam, select

from warehouse.domain.time import MICROS_PER_SECOND, NEVER, iso_millis
from warehouse.tables import ad_account
from web.api.query import Query
from web.api.rows import Row, column, text

UNAVAILABLE_PROVIDER: Final = Row(
    "UnavailableProvider",
    "A provider whose figures are incomplete, and the reason.",
    text("provider", "Provider", "The ad provider."),
    column(
        "reason",
        "Reason",
        "`sync_failed`: the last pull of an account failed. `stale`: the last pull of an account is "
        "older than the end of the window, or older than 48 hours if that end is in the future. "
        "`no_exchange_rate`: the day of an order has no rate into the currency of the spend.",
        {"enum": ["no_exchange_rate", "stale", "sync_failed"]},
    ),
    text(
        "lastSyncedAt",
        "Last pull",
        "The last pull of the affected account, the earliest of several; null if there is no account.",
        null=True,
        format="date-time",
    ),
)
# The status of an account whose last pull failed.
FAILED: Final = "error"
STALE_AFTER: Final = 48 * 3600 * MICROS_PER_SECOND


def unavailable_providers(query: Query, without_rate: set[str]) -> list[dict[str, Any]]:
    """One entry per provider and reason, sorted by them.

    A pull is stale if it is older than the end of the window, or older than 48 hours if that end is in the
    future. A failed pull is not also stale. `without_rate` has the providers whose revenue could not be
    converted. `lastSyncedAt` is the earliest of the affected accounts, null without accounts.
    """
    deadline = _deadline(query)
    affected: dict[tuple[str, str], list[int]] = {
        (provider, "no_exchange_rate"): [] for provider in without_rate
    }
    accounts = query.connection.execute(_accounts(), {"shop_key": query.shop.key})
    for provider, status, synced_at in accounts:
        if status == FAILED:
            affected.setdefault((provider, "sync_failed"), []).append(synced_at)
        elif synced_at < deadline:
            affected.setdefault((provider, "stale"), []).append(synced_at)
        if provider in without_rate:
            affected[provider, "no_exchange_rate"].append(synced_at)
    return [
        {
            "provider": provider,
            "reason": reason,
            "lastSyncedAt": iso_millis(min(synced)) if synced else None,
        }
        for (provider, reason), synced in sorted(affected.items())
    ]


def staleness(query: Query) -> tuple[int, int]:
    """The number of stale accounts, and the first instant at which it may be greater.

    While the data stays the same, accounts only become stale. So the number changes exactly when the
    answer does.
    """
    accounts = query.connection.execute(_accounts(), {"shop_key": query.shop.key})
    pulls = [synced_at for _, status, synced_at in accounts if status != FAILED]
    deadline = _deadline(query)
    stale = sum(synced_at < deadline for synced_at in pulls)
    if deadline == query.window.end:
        return stale, NEVER
    fresh = [synced_at + STALE_AFTER + 1 for synced_at in pulls if synced_at >= deadline]
    return stale, min([query.window.end, *fresh])


def _deadline(query: Query) -> int:
    """A pull before this instant is stale."""
    end = query.window.end
    return end if end <= query.now else query.now - STALE_AFTER


@cache
def _accounts() -> Select[Any]:
    return select(ad_account.c.provider, ad_account.c.status, ad_account.c.synced_at).where(
        ad_account.c.shop_key == bindparam("shop_key")
    )
