"""Who calls: the key of a request, looked up on every request, and the shop that it opens.

Nothing about a key is remembered between requests, so that a revoked or expired one stops at once,
in every worker. The shop comes from the key alone, never from the request.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, bindparam, select

from warehouse.tables import api_key, edition, form, shop
from web.errors import Refusal, unauthorized
from web.key_text import is_well_formed, key_hash
from web.parameters import UUID_TEXT


@dataclass(frozen=True, slots=True)
class Shop:
    """The tenant of a request.

    `edition` is the one that answers are read from, 0 before the first rollup: then no daily row
    matches. `timezone` is the one in whose days those rows are kept. `data_version` moves with
    everything that can change an answer; `moved_at` is the instant at which it last did.
    """

    key: int
    shop_id: str
    currency: str
    timezone: str
    edition: int
    data_version: int
    moved_at: int


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


def find_caller(connection: Connection, key: str, form_id: str, now: int) -> tuple[Caller, bool]:
    """The caller with this key at the instant `now`; and whether `form_id`, of the address, is that
    of a form of the caller's shop: one look-up tells both. Raises the 401."""
    form_id = form_id.lower() if UUID_TEXT.fullmatch(form_id) else ""
    values = {"key_hash": key_hash(key), "form_id": form_id}
    row = connection.execute(_statement(), values).one_or_none()
    if row is None or row.expires_at <= now or row.revoked_at <= now:
        raise unauthorized()
    caller = Caller(
        credential_id=row.credential_id,
        scopes=frozenset(row.scopes.split()),
        last_used_at=row.last_used_at,
        shop=_shop(row),
    )
    return caller, row.form_id is not None


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
        data_version=row.data_version,
        moved_at=row.moved_at,
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
            shop.c.data_version,
            shop.c.moved_at,
            edition.c.timezone.label("edition_timezone"),
            form.c.form_id,
        )
        .join_from(api_key, shop, shop.c.shop_key == api_key.c.shop_key)
        .outerjoin(edition, edition.c.edition == shop.c.edition)
        .outerjoin(
            form,
            and_(form.c.shop_key == shop.c.shop_key, form.c.form_id == bindparam("form_id")),
        )
        .where(api_key.c.key_hash == bindparam("key_hash"))
    )
