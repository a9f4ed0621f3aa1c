"""Authentication by API key: the caller of a request, and the shop that the key opens.

The key is looked up with every request, and nothing about it is remembered, so that a revoked or expired
key stops at once, in every worker. The shop comes from the key alone, never from the request. The snapshot
in which the key was found is the one that the whole request reads from. Where there is a read replica, the
key is looked up at the primary by itself, and the endpoint opens its snapshot later (`open_snapshot`).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from flask import request
from sqlalchemy import Connection, and_, bindparam, select

from warehouse.tables import api_key, edition, form, shop
from web.auth.api_key_format import is_well_formed, key_hash
from web.db.database import ReplicaBehind
from web.http.errors import Refusal, unauthorized
from web.http.parameters import UUID_TEXT
from web.http.state import services, state


@dataclass(frozen=True, slots=True)
class Shop:
    """The tenant of a request.

    `edition` is the one that answers are read from, 0 before the first rollup: then no daily row
    matches. `timezone` is the one in whose days those rows are kept. `data_version` moves with
    everything that can change an answer; `data_changed_at` is the instant at which it last did.
    `window_days` is how long after a submission an order is credited to it; None before the first rollup.
    """

    timezone: str
    key: int
    shop_id: str
    currency: str
    edition: int
    data_version: int
    data_changed_at: int
    window_days: int | None


@dataclass(frozen=True, slots=True)
class Caller:
    """A valid key. `last_used_at` is what the warehouse has recorded so far."""

    credential_id: str
    scopes: frozenset[str]
    last_used_at: int
    shop: Shop


def authenticate() -> Caller:
    """Find the caller of the request at hand, and whether the form in its address is the caller's: into
    `state()`, with the snapshot in which they were found, unless there is a read replica. Raises the 401."""
    values = {
        "key_hash": key_hash(_bearer(request.headers.get("Authorization"))),
        "form_id": _form_id((request.view_args or {}).get("form_id", "")),
    }
    current, database = state(), services().database
    if database.has_replica:
        row: Any = database.find(_LOOKUP, values)
    else:
        current.connection = database.read()
        row = current.connection.execute(_LOOKUP, values).one_or_none()
    if row is None or row.expires_at <= current.now or row.revoked_at <= current.now:
        raise unauthorized()
    current.caller = _caller(row)
    current.form_exists = row.form_id is not None
    return current.caller


def require_scope(caller: Caller, scope: str | None) -> None:
    """Raises the 403. An endpoint without a scope is open to every valid key."""
    if scope is not None and scope not in caller.scopes:
        raise Refusal(403, "insufficient_scope", f"The key lacks the scope `{scope}`.")


def _bearer(header: str | None) -> str:
    """The key in an `Authorization` header. Raises the 401 where there is none."""
    scheme, _, key = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not is_well_formed(key):
        raise unauthorized()
    return key


def _form_id(text: str) -> str:
    """A form id as it is stored, "" where the text is none."""
    return text.lower() if UUID_TEXT.fullmatch(text) else ""


def find_shop(connection: Connection, shop_key: int) -> Shop:
    """The shop that a member is signed in to, in the snapshot of this connection."""
    return _shop(connection.execute(_SHOP, {"shop_key": shop_key, "form_id": ""}).one())


def open_snapshot(
    shop_key: int, shop_id: str, form_id: str = "", *, at_primary: bool = False
) -> Shop:
    """Open the snapshot that the request at hand reads from: of the read replica, or `at_primary`. It takes
    the place of an earlier one. Returns the shop as it is there. Raises ReplicaBehind where the replica does
    not have the shop yet, or the form that is asked about."""
    current, database = state(), services().database
    earlier, current.connection = current.connection, None
    if earlier is not None:
        database.release(earlier)
    connection = current.connection = database.read() if at_primary else database.read_figures()
    values = {"shop_key": shop_key, "form_id": form_id}
    row = connection.execute(_SHOP, values).one_or_none()
    # The id is compared too: under this number, another warehouse would have another shop.
    if row is None or row.shop_id != shop_id:
        raise ReplicaBehind("The read replica does not have this shop yet. Try again in a moment.")
    if form_id and row.form_id is None:
        raise ReplicaBehind("The read replica does not have this form yet. Try again in a moment.")
    return _shop(row)


def _caller(row: Any) -> Caller:
    return Caller(row.credential_id, _scopes(row.scopes), row.last_used_at, _shop(row))


def _shop(row: Any) -> Shop:
    return Shop(
        timezone=row.edition_timezone or row.timezone or "UTC",
        key=row.shop_key,
        shop_id=row.shop_id,
        currency=row.currency,
        edition=row.edition,
        data_version=row.data_version,
        data_changed_at=row.data_changed_at,
        window_days=row.window_days,
    )


@lru_cache(maxsize=1024)
def _scopes(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHOP_COLUMNS: Final = (
    edition.c.timezone.label("edition_timezone"),
    shop.c.timezone,
    shop.c.shop_key,
    shop.c.shop_id,
    shop.c.currency,
    shop.c.edition,
    shop.c.data_version,
    shop.c.data_changed_at,
    edition.c.window_days,
)
_FORM_OF_SHOP: Final = and_(
    form.c.shop_key == shop.c.shop_key, form.c.form_id == bindparam("form_id")
)
# A shop, and a form of it.
_SHOP: Final = (
    select(*_SHOP_COLUMNS, form.c.form_id)
    .join_from(shop, edition, edition.c.edition == shop.c.edition, isouter=True)
    .outerjoin(form, _FORM_OF_SHOP)
    .where(shop.c.shop_key == bindparam("shop_key"))
)
# A key, its shop, and a form of the shop, in one statement.
_LOOKUP: Final = (
    select(
        api_key.c.credential_id,
        api_key.c.scopes,
        api_key.c.expires_at,
        api_key.c.revoked_at,
        api_key.c.last_used_at,
        *_SHOP_COLUMNS,
        form.c.form_id,
    )
    .join_from(api_key, shop, shop.c.shop_key == api_key.c.shop_key)
    .outerjoin(edition, edition.c.edition == shop.c.edition)
    .outerjoin(form, _FORM_OF_SHOP)
    .where(api_key.c.key_hash == bindparam("key_hash"))
)
