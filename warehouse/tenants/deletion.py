"""Deleting a shop with all that it has.

`close_shop` makes it unusable in one transaction: its row goes, and so do its keys and members. From then
on nobody finds it: its keys open nothing, an import refuses its rows, a rollup leaves it out. Then
`delete_rows` deletes everything else in chunks, while others work. If that is interrupted,
`finish_deletions` goes on, which the nightly `purge` calls. `deleted_shop` names the shop for a day: a
request or an import that began before may still leave a row.

Every table of the metadata with the column `shop_key` or `shop_id` is emptied of the shop, and every table
that an edition owns: a new table needs no line here.
"""

import re
from typing import Final

from sqlalchemy import Connection, Table, delete, insert, select, update

from warehouse import command
from warehouse.connections.arrow import ArrowConnection
from warehouse.connections.chunks import delete_in_chunks
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.editions import editions
from warehouse.editions.editions import RETIRED
from warehouse.editions.pending_batches import sql_list
from warehouse.tables import (
    api_key,
    audit_event,
    deleted_shop,
    edition,
    form_creation,
    invitation,
    member,
    membership,
    one_time_link,
    pull,
    raw_event,
    raw_order,
    reject,
    shop,
    sign_in,
    write_key,
)
from warehouse.tables.base import metadata

# Tables of a shop that let somebody or something in. They are small.
_CREDENTIALS: Final = (api_key, write_key, sign_in, one_time_link, invitation, membership, pull)
DELETED: Final = "shop_deleted"
"""The action in the audit trail, which is of no shop: it stays."""

# A request or an import that began before may leave rows of a deleted shop for so long.
_AFTERMATH: Final = MICROS_PER_DAY
_EDITIONS_LEFT: Final = "SELECT edition FROM edition WHERE shop_key = $1 ORDER BY edition"


class UnknownShop(LookupError):
    """There is no shop of this id, and none of it is being deleted."""

    def __init__(self, shop_id: str) -> None:
        super().__init__(
            f"there is no shop {shop_id!r}; `{command('web shops list')}` shows all of them"
        )


def require_shop(connection: Connection, shop_id: str) -> None:
    """Raise UnknownShop, unless the shop is there or being deleted."""
    for table in (shop, deleted_shop):
        if connection.scalar(select(table.c.shop_key).where(table.c.shop_id == shop_id).limit(1)):
            return
    raise UnknownShop(shop_id)


def close_shop(connection: Connection, shop_id: str, now: int, actor: str, source_ip: str) -> bool:
    """Make a shop unusable, and record who did it; False where that was done before. The caller commits.

    Waits for a transaction that writes figures or raw rows of the shop. Raises UnknownShop, unless a shop of
    this id is being deleted: then there is nothing left to do here.
    """
    require_shop(connection, shop_id)
    shop_key = connection.scalar(select(shop.c.shop_key).where(shop.c.shop_id == shop_id))
    if shop_key is None:
        return False
    # Editions first, as whoever publishes one does: nobody waits in a circle.
    own = edition.c.shop_key == shop_key
    connection.execute(
        select(edition.c.edition).where(own).order_by(edition.c.edition).with_for_update()
    )
    connection.execute(
        update(edition).where(own).values(state=RETIRED, lease_owner="", lease_until=0)
    )
    connection.execute(delete(shop).where(shop.c.shop_key == shop_key))
    connection.execute(
        insert(deleted_shop), {"shop_key": shop_key, "shop_id": shop_id, "deleted_at": now}
    )
    _delete_credentials(connection, shop_key)
    event = {"shop_key": 0, "at": now, "actor": actor, "source_ip": source_ip}
    connection.execute(insert(audit_event), event | {"action": DELETED, "detail": shop_id})
    return True


def _delete_credentials(connection: Connection, shop_key: int) -> None:
    """Delete what lets somebody in to a shop, and the members that belong to no other shop, but for those who
    may add shops."""
    keys = select(api_key.c.credential_id).where(api_key.c.shop_key == shop_key)
    connection.execute(delete(form_creation).where(form_creation.c.credential_id.in_(keys)))
    own = select(membership.c.member_key).where(membership.c.shop_key == shop_key)
    members = connection.scalars(own).all()
    for table in _CREDENTIALS:
        connection.execute(delete(table).where(table.c.shop_key == shop_key))
    elsewhere = select(membership.c.member_key).union(
        select(member.c.member_key).where(member.c.adds_shops == 1)
    )
    for table in (one_time_link, member):
        only_here = table.c.member_key.in_(members) & table.c.member_key.not_in(elsewhere)
        connection.execute(delete(table).where(only_here))


def is_left(connection: ArrowConnection, shop_id: str) -> bool:
    """Whether anything is left of the deleted shops that had this id. Commits."""
    own = "IN (SELECT shop_key FROM deleted_shop WHERE shop_id = $1)"
    found = any(
        connection.value(f"SELECT 1 FROM {table.name} WHERE shop_key {own} LIMIT 1", shop_id)
        for table in (edition, *tables_of_a_shop())
    )
    connection.commit()
    return found


def delete_rows(connection: ArrowConnection, shop_id: str) -> None:
    """Delete what is left of the deleted shops that had this id. Commits after every chunk.

    Rows that only name the id are left to a shop that was added under it again.
    """
    keys = connection.table(
        "SELECT shop_key FROM deleted_shop WHERE shop_id = $1 ORDER BY shop_key", shop_id
    )
    connection.commit()
    for shop_key in keys.column(0).to_pylist():
        # An edition that a rollup created at the same time is retired, too: its next write fails.
        connection.lock_rows("edition", "edition", "shop_key = $1", shop_key)
        connection.execute(
            "UPDATE edition SET state = $2, lease_owner = '', lease_until = 0 WHERE shop_key = $1",
            shop_key,
            RETIRED,
        )
        connection.commit()
        numbers = connection.table(_EDITIONS_LEFT, shop_key).column(0).to_pylist()
        connection.commit()
        editions.drop(connection, numbers)
        for table in tables_of_a_shop():
            delete_in_chunks(connection, table, f"shop_key = {shop_key}")
    is_added_again = connection.value("SELECT shop_key FROM shop WHERE shop_id = $1", shop_id)
    connection.commit()
    if not is_added_again:
        for table in metadata.sorted_tables:
            if "shop_id" in table.c and "shop_key" not in table.c:
                delete_in_chunks(connection, table, "shop_id = $1", shop_id)
        # Rejects of no certain shop name this one where it was not imported yet.
        delete_in_chunks(
            connection,
            reject,
            "shop_key = 0 AND (shop_id = $1 OR text LIKE $2 ESCAPE '!')",
            shop_id,
            f'%"{_escaped(shop_id)}"%',
        )
        # The records of runs that have ended and name the shop.
        runs = connection.table(
            "SELECT run_id, arguments, error FROM job_run WHERE ended_at > 0 "
            "AND (arguments LIKE $1 ESCAPE '!' OR error LIKE $1 ESCAPE '!')",
            f"%{_escaped(shop_id)}%",
        ).to_pylist()
        connection.commit()
        # Its id may be a part of another shop's.
        is_named = re.compile(rf"(?<![\w.-]){re.escape(shop_id)}(?![\w-]|\.\w)")
        numbers = [
            run["run_id"] for run in runs if is_named.search(f"{run['arguments']} {run['error']}")
        ]
        connection.execute(f"DELETE FROM job_run WHERE run_id IN ({sql_list(numbers)})")
        connection.commit()


def finish_deletions(connection: ArrowConnection, now: int) -> None:
    """Go on with every deletion, and forget the shops that were deleted a day ago. Commits."""
    ids = connection.table("SELECT DISTINCT shop_id FROM deleted_shop ORDER BY shop_id")
    connection.commit()
    for shop_id in ids.column(0).to_pylist():
        delete_rows(connection, shop_id)
    connection.execute("DELETE FROM deleted_shop WHERE deleted_at < $1", now - _AFTERMATH)
    connection.commit()


def tables_of_a_shop() -> list[Table]:
    """The tables with rows of a shop, but for those of the shop itself and of its editions. Raw rows come
    first: a batch is there for as long as its rows."""
    others = {shop, deleted_shop, edition, raw_event, raw_order}
    rest = [table for table in metadata.sorted_tables if "shop_key" in table.c]
    return [raw_event, raw_order, *(table for table in rest if table not in others)]


def _escaped(text: str) -> str:
    """Escape the wildcards of LIKE (`ESCAPE '!'`)."""
    return re.sub("([!%_])", r"!\1", text)
