"""Providers whose data is not all there: failed or stale pulls, missing exchange rates."""

from functools import cache
from typing import Any, Final

from sqlalchemy import Select, bindparam, select

from warehouse.days import MICROS_PER_SECOND, NEVER, iso_millis
from warehouse.schema import ad_account
from web.questions import Question
from web.shapes.ads import Reason, UnavailableProvider

# The status of an account whose last pull failed.
FAILED: Final = "error"
STALE_AFTER: Final = 48 * 3600 * MICROS_PER_SECOND


def unavailable_providers(question: Question, without_rate: set[str]) -> list[UnavailableProvider]:
    """`{provider, reason, lastSyncedAt}`, one entry per provider and reason, in their order.

    A pull is stale that is older than the end of the range or, if that is in the future, than 48
    hours; a failed one is not also stale. `lastSyncedAt` is the earliest of the affected accounts,
    null for a provider (in `without_rate`) without accounts.
    """
    deadline = _deadline(question)
    affected: dict[tuple[str, Reason], list[int]] = {
        (provider, "no_exchange_rate"): [] for provider in without_rate
    }
    accounts = question.connection.execute(_accounts(), {"shop_key": question.shop.key})
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


def staleness(question: Question) -> tuple[int, int]:
    """How many accounts are stale, and the first instant at which more may be. Of one data version
    they only grow more, so the number says which, and changes exactly when the answer does."""
    accounts = question.connection.execute(_accounts(), {"shop_key": question.shop.key})
    pulls = [synced_at for _, status, synced_at in accounts if status != FAILED]
    deadline = _deadline(question)
    stale = sum(synced_at < deadline for synced_at in pulls)
    if deadline == question.window.end:
        return stale, NEVER
    fresh = [synced_at + STALE_AFTER + 1 for synced_at in pulls if synced_at >= deadline]
    return stale, min([question.window.end, *fresh])


def _deadline(question: Question) -> int:
    """The instant from which on a pull is fresh."""
    end = question.window.end
    return end if end <= question.now else question.now - STALE_AFTER


@cache
def _accounts() -> Select[Any]:
    return select(ad_account.c.provider, ad_account.c.status, ad_account.c.synced_at).where(
        ad_account.c.shop_key == bindparam("shop_key")
    )
