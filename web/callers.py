"""Who calls: the key of a request, looked up on every request, and the shop that it opens.

Nothing about a key is remembered between requests, so that a revoked or expired one stops at once,
in every worker. The shop comes from the key alone, never from the request.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select

from warehouse.tables import api_key, edition, shop
from web.errors import Refusal, unauthorized
from web.key_text import is_well_formed, key_hash


@dataclass(frozen=True, slots=True)
class Shop:
    """The tenant of a request.

    `edition` is the one that answers are read from, 0 before the first rollup: then no daily row
    matches. `timezone` is the one in whose days those rows are kept.
    """

    key: int
    shop_id: str
    currency: str
    timezone: str
    edition: int


@dataclass(frozen=True, slots=True)
class Caller:
    """A valid key. `last_used_at` is what the warehouse has recorded so far."""

    credential_id: str
    scopes: frozenset[str]
    last_used_at: int
    shop: Shop


def bearer(header: str | None) -> str:
    """The key in an `Authorization` header. Raises the 401 where there is none."""
    scheme, _, key = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not is_well_formed(key):
        raise unauthorized()
    return key


def find_caller(connection: Connection, key: str, now: int) -> Caller:
    """The caller with this key at the instant `now`. Raises the 401."""
    row = connection.execute(_statement(), {"key_hash": key_hash(key)}).one_or_none()
    if row is None or row.expires_at <= now or row.revoked_at <= now:
        raise unauthorized()
    return Caller(
        credential_id=row.credential_id,
        scopes=frozenset(row.scopes.split()),
        last_used_at=row.last_used_at,
        shop=_shop(row),
    )


def require_scope(caller: Caller, scope: str | None) -> None:
    """Raises the 403. An endpoint without a scope is open to every valid key."""
    if scope is not None and scope not in caller.scopes:
        raise Refusal(403, "insufficient_scope", f"The key lacks the scope `{scope}`.")


def _shop(row: Row[Any]) -> Shop:
    return Shop(
        key=row.shop_key,
        shop_id=row.shop_id,
        currency=row.currency,
        timezone=row.edition_timezone or row.timezone or "UTC",
        edition=row.edition,
    )


@cache
def _statement() -> Select[Any]:
    return (
        select(
            api_key.c.credential_id,
            api_key.c.scopes,
            api_key.c.expires_at,
            api_key.c.revoked_at,
            api_key.c.last_used_at,
            shop.c.shop_key,
            shop.c.shop_id,
            shop.c.currency,
            shop.c.timezone,
            shop.c.edition,
            edition.c.timezone.label("edition_timezone"),
        )
        .join_from(api_key, shop, shop.c.shop_key == api_key.c.shop_key)
        .outerjoin(edition, edition.c.edition == shop.c.edition)
        .where(api_key.c.key_hash == bindparam("key_hash"))
    )
