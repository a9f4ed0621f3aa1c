"""Authentication by API key: the caller of a request, and the shop that the key opens.

The key is looked up with every request, also where the answer is known (`known_answers.py`), so that a
revoked or expired key stops at once, in every worker. The shop comes from the key alone, never from the
request. The snapshot in which the key was found is the one that the whole request reads from. Where there is
a read replica, the key is looked up at the primary by itself, and the endpoint opens its snapshot later
(`open_snapshot`).
"""

from collections import namedtuple
from collections.abc import Collection
from typing import Any, Final

from flask import request
from sqlalchemy import Column, Connection, FromClause, Select, and_, bindparam, case, or_, select

from warehouse.catalogue import LOGIC_VERSION
from warehouse.connections.look_ups import read_rows
from warehouse.editions.editions import FROZEN
from warehouse.forms.form_rules import is_counted
from warehouse.tables import api_key, edition, form, shop
from web.auth.api_key_format import is_well_formed, key_hash
from web.db.database import Database, ReplicaBehind
from web.http.current_request import Caller, CurrentRequest, Shop, current_request
from web.http.errors import Refusal, unauthorized
from web.http.parameters import UUID_TEXT


def sent_key() -> str:
    """The key in the `Authorization` of the request at hand; "" where it has no text of a key."""
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    return key if scheme.lower() == "bearer" and is_well_formed(key) else ""


def authenticate(database: Database, current: CurrentRequest) -> Caller:
    """Find the caller of the request at hand, and whether the form in its address is the caller's: into
    `current`, with the snapshot in which they were found, unless there is a read replica. Raises the 401."""
    if not current.key:
        raise unauthorized()
    values = {
        "key_hash": key_hash(current.key),
        "form_id": _form_id((request.view_args or {}).get("form_id", "")),
    }
    if database.has_replica:
        row: Any = database.find(LOOK_UP, values)
    else:
        current.connection = database.read()
        row = next(map(_Found._make, read_rows(current.connection, LOOK_UP, values)), None)
    if row is None or row.expires_at <= current.now or row.revoked_at <= current.now:
        raise unauthorized()
    scopes, shop = frozenset(row.scopes.split()), _shop(row)
    current.looked_up = values, row
    current.caller = Caller(row.credential_id, scopes, row.last_used_at, shop)
    current.form_exists = row.form_id is not None
    return current.caller


def find_form(database: Database, current: CurrentRequest, form_id: str) -> None:
    """Find whether a form that the address does not name is the caller's: into `current`."""
    assert current.caller is not None
    values = {"shop_key": current.caller.shop.key, "form_id": _form_id(form_id)}
    if current.connection is None:
        row: Any = database.find(_SHOP, values)
    else:
        row = current.connection.execute(_SHOP, values).one_or_none()
    current.form_exists = row is not None and row.form_id is not None


def require_scope(caller: Caller, scope: str | None) -> None:
    """Raise the 403 for a key without the scope. An endpoint without a scope is open to every valid key."""
    if scope is not None and scope not in caller.scopes:
        raise Refusal(403, "insufficient_scope", f"The key lacks the scope `{scope}`.")


def _form_id(text: str) -> str:
    """A form id as it is stored, "" where the text is none."""
    return text.lower() if UUID_TEXT.fullmatch(text) else ""


def find_shop(connection: Connection, shop_key: int) -> Shop:
    """The shop that a member is signed in to, in the snapshot of this connection."""
    return _shop(connection.execute(_SHOP, {"shop_key": shop_key, "form_id": ""}).one())


def find_shops(connection: Connection, shop_keys: Collection[int]) -> list[Shop]:
    """The shops among these that the snapshot of this connection has, by shop_id."""
    values = {"shop_keys": list(shop_keys), "form_id": ""}
    return [_shop(row) for row in connection.execute(_SHOPS, values)]


def open_snapshot(
    database: Database, shop_key: int, shop_id: str, form_id: str = "", *, at_primary: bool = False
) -> Shop:
    """Open the snapshot that the request at hand reads from: of the read replica, or `at_primary`. It takes
    the place of an earlier one. Returns the shop as it is there. Raises ReplicaBehind where the replica does
    not have the shop yet, or the form that is asked about."""
    current = current_request()
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
        recomputing_since=row.recomputing_since or 0,
    )


_IS_OUTDATED: Final = or_(
    edition.c.state == FROZEN,
    edition.c.timezone != shop.c.timezone,
    edition.c.form_rules != shop.c.form_rules,
    edition.c.logic_version != LOGIC_VERSION,
)
_SHOP_COLUMNS: Final = (
    # A shop can have the settings of its edition again.
    case((_IS_OUTDATED, edition.c.outdated_at), else_=0).label("recomputing_since"),
    edition.c.timezone.label("edition_timezone"),
    shop.c.timezone,
    shop.c.shop_key,
    shop.c.shop_id,
    shop.c.currency,
    shop.c.edition,
    shop.c.data_version,
    shop.c.data_changed_at,
    edition.c.window_days,
    form.c.form_id,
)


def _with_form(shops: FromClause, *columns: Column[Any]) -> Select[Any]:
    """Shops with their edition, and a form of each."""
    is_form = and_(
        form.c.shop_key == shop.c.shop_key, form.c.form_id == bindparam("form_id"), is_counted()
    )
    joined = shops.outerjoin(edition, edition.c.edition == shop.c.edition).outerjoin(form, is_form)
    return select(*columns, *_SHOP_COLUMNS).select_from(joined)


_SHOP: Final = _with_form(shop).where(shop.c.shop_key == bindparam("shop_key"))
_SHOPS: Final = (
    _with_form(shop)
    .where(shop.c.shop_key.in_(bindparam("shop_keys", expanding=True)))
    .order_by(shop.c.shop_id)
)
# A key, its shop, and a form of the shop, in one statement. All but the first column decides about answers.
LOOK_UP: Final = _with_form(
    api_key.join(shop, shop.c.shop_key == api_key.c.shop_key),
    api_key.c.last_used_at,
    api_key.c.credential_id,
    api_key.c.scopes,
    api_key.c.expires_at,
    api_key.c.revoked_at,
).where(api_key.c.key_hash == bindparam("key_hash"))
_Found: Final[Any] = namedtuple("_Found", LOOK_UP.selected_columns.keys())  # type: ignore[misc]
