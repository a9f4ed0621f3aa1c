"""The quota of a shop: how many forms it may have, and how many bytes their schemas and drafts together.

Forms that are known from events alone do not count (`jobs/importing/kinds/seen_forms.py`): a stranger's
events could fill the quota.

The shop's row has both counts. A writer of forms locks that row first and brings the counts up to date
in the same transaction, so that two writers at once cannot pass together, and no form is counted again.
An import is the operator's: no quota stops it, and it counts what it writes (jobs/importing/kinds/forms.py).
"""

from typing import Final

from sqlalchemy import Connection, bindparam, select, text

from warehouse.connections.look_ups import read_rows
from warehouse.editions.editions import next_version
from warehouse.settings import FORM_BYTES_PER_SHOP, FORMS_PER_SHOP
from warehouse.tables import shop
from web.http.errors import Refusal, unauthorized

CODE: Final = "quota_exceeded"
_COUNTS: Final = (
    select(shop.c.form_count, shop.c.form_bytes)
    .where(shop.c.shop_key == bindparam("shop_key"))
    .with_for_update()
)
_COUNTED: Final = text(
    f"UPDATE shop SET {next_version(':now')}, form_count = :forms, form_bytes = :bytes "
    "WHERE shop_key = :shop_key"
)


def use(connection: Connection, shop_key: int, now: int, *, forms: int, size: int) -> None:
    """Count so many further forms and bytes of a shop, fewer where `size` is negative, and move its data
    version at the instant `now`. Raises the 409 where that is more than a quota, and not where it is less
    than before; the 401 of `lock`."""
    form_count, form_bytes = lock(connection, shop_key)
    if forms > 0 and form_count + forms > (most := FORMS_PER_SHOP.get()):
        raise _exceeded(f"{most:,} forms")
    if size > 0 and form_bytes + size > (most := FORM_BYTES_PER_SHOP.get()):
        raise _exceeded(f"{most:,} bytes of forms")
    counts = {"forms": form_count + forms, "bytes": form_bytes + size}
    connection.execute(_COUNTED, {"now": now, "shop_key": shop_key, **counts})


def lock(connection: Connection, shop_key: int) -> tuple[int, int]:
    """Keep others from writing forms of a shop until the end of the transaction. Returns its counts of forms
    and bytes. Raises the 401 where the shop was deleted since its key was read."""
    found = read_rows(connection, _COUNTS, {"shop_key": shop_key})
    if not found:
        raise unauthorized()
    form_count, form_bytes = found[0]
    return form_count, form_bytes


def stored_bytes(*texts: str) -> int:
    """The bytes of these texts as the database stores them."""
    return sum(len(one.encode()) for one in texts)


def _exceeded(quota: str) -> Refusal:
    return Refusal(
        409,
        CODE,
        f"The quota of this shop is {quota}, and this request would exceed it. "
        "Ask whoever runs this service for more.",
    )
