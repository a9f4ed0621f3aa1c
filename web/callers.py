"""Who calls: the key of a request, looked up on every request, and the shop that it opens.

Nothing about a key is remembered between requests, so that a revoked or expired one stops at once,
in every worker. The shop comes from the key alone, never from the request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import and_, bindparam, select

from warehouse.schema import api_key, edition, form, shop
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

    timezone: str
    key: int
    shop_id: str
    currency: str
    edition: int
    data_version: int
    moved_at: int


@dataclass(frozen=True, slots=True)
class Caller:
    """A valid key. `last_used_at` is what the warehouse has recorded so far; it makes no other caller."""

    credential_id: str
    scopes: frozenset[str]
    last_used_at: int = field(compare=False)
    shop: Shop


def bearer(header: str | None) -> str:
    """The key in an `Authorization` header. Raises the 401 where there is none."""
    scheme, _, key = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not is_well_formed(key):
        raise unauthorized()
    return key


def looked_up(key: str, form_id: str) -> dict[str, str]:
    """The parameters of LOOK_UP for a key, and the form id of an address ("" where it has none)."""
    form_id = form_id.lower() if form_id and UUID_TEXT.fullmatch(form_id) else ""
    return {"key_hash": key_hash(key), "form_id": form_id}


def found(row: Sequence[Any] | None, now: int) -> tuple[Caller, bool]:
    """The caller whom a row of LOOK_UP tells of, at the instant `now`; and whether the form id is that
    of a form of the caller's shop. Raises the 401."""
    if row is None:
        raise unauthorized()
    credential_id, scopes, expires_at, revoked_at, last_used_at, *of_shop, form_id = row
    if expires_at <= now or revoked_at <= now:
        raise unauthorized()
    caller = Caller(credential_id, _scopes(scopes), last_used_at, _shop(*of_shop))
    return caller, form_id is not None


def require_scope(caller: Caller, scope: str | None) -> None:
    """Raises the 403. An endpoint without a scope is open to every valid key."""
    if scope is not None and scope not in caller.scopes:
        raise Refusal(403, "insufficient_scope", f"The key lacks the scope `{scope}`.")


@lru_cache(maxsize=1024)
def _scopes(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _shop(edition_timezone: str | None, timezone: str, *columns: Any) -> Shop:
    return Shop(edition_timezone or timezone or "UTC", *columns)


# A key, its shop, and a form of the shop: one look-up tells all that a request is admitted by.
LOOK_UP: Final = (
    select(
        api_key.c.credential_id,
        api_key.c.scopes,
        api_key.c.expires_at,
        api_key.c.revoked_at,
        api_key.c.last_used_at,
        edition.c.timezone.label("edition_timezone"),
        shop.c.timezone,
        shop.c.shop_key,
        shop.c.shop_id,
        shop.c.currency,
        shop.c.edition,
        shop.c.data_version,
        shop.c.moved_at,
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
