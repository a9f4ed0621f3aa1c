"""Editions: complete sets of figures.

An edition is one complete set of facts and daily rows of one shop, built under recorded settings: the
shop's timezone, whose rules have a version (`zone_rules.py`), and its rules on forms, the attribution window,
the version of the logic. Answers are
read from the edition that `shop.edition` names. When a setting changes, or everything is rebuilt, a
second edition is filled and takes the first one's place in one step: readers never see a day half done.
Raw rows only leave a shop (an undo, a forget) whose edition is frozen: it answers as before, and is written
to no more, until the next edition, which is filled from the rows that are left, takes its place.

The batches that an edition has applied are recorded in the transaction that stores their figures
(`pending_batches.py`): a batch is applied exactly once or not at all. Only the holder of an edition's
lease writes to it (`leases.py`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from warehouse.connections import chunks
from warehouse.connections.arrow import ArrowConnection, Cell
from warehouse.connections.chunks import delete_in_chunks
from warehouse.domain.time import ZONES_VERSION
from warehouse.editions import pending_batches, zone_rules
from warehouse.editions.pending_batches import sql_list
from warehouse.editions.removals import ROWS_ARE_TO_GO
from warehouse.tables import OWNED, difference, edition_batch
from warehouse.tables import edition as edition_table

# Being filled; read by answers; the same, and written to no more; no longer read, to be dropped; filled only
# to be compared.
BUILDING: Final = "building"
CURRENT: Final = "current"
FROZEN: Final = "frozen"
RETIRED: Final = "retired"
SCRATCH: Final = "scratch"

# Session ids are unique over all editions: the edition in the upper bits, a serial number below.
SESSION_BITS: Final = 40


@dataclass(frozen=True)
class Edition:
    """One edition, as jobs see it."""

    edition: int
    shop_key: int
    shop_id: str
    timezone: str
    zone_version: str
    window_days: int
    state: str


_IS_OF_SETTINGS: Final = (
    "e.timezone = s.timezone AND e.form_rules = s.form_rules "
    f"AND e.zone_version = '{ZONES_VERSION}' AND e.window_days = $1 AND e.logic_version = $2"
)
"""The SQL condition that an edition (`e`) was built under today's settings of its shop (`s`)."""

_IS_OUTDATED: Final = f"e.state = '{FROZEN}' OR NOT ({_IS_OF_SETTINGS})"

_EDITIONS = """
SELECT e.edition, e.shop_key, s.shop_id, e.timezone, e.zone_version, e.window_days, e.state
FROM edition e JOIN shop s ON s.shop_key = e.shop_key
"""


def list_editions(
    connection: ArrowConnection, state: str, shop: str | None = None
) -> list[Edition]:
    """The editions in a state, of all shops or one, the oldest first."""
    condition, values = "e.state = $1", [state]
    if shop is not None:
        condition, values = f"{condition} AND s.shop_id = $2", [state, shop]
    return _editions(connection, condition, *values)


def editions_numbered(connection: ArrowConnection, numbers: list[int]) -> list[Edition]:
    """The editions with these numbers that are being built or that answers read."""
    condition = f"e.edition IN ({sql_list(numbers)}) AND e.state IN ($1, $2)"
    return _editions(connection, condition, BUILDING, CURRENT)


def rolled_up_since(connection: ArrowConnection, numbers: list[int], since: int) -> set[int]:
    """The shops of those of these editions that were written to since then."""
    rows = connection.table(
        f"SELECT shop_key FROM edition WHERE edition IN ({sql_list(numbers)}) AND rolled_up_at >= $1",
        since,
    )
    return set(rows.column(0).to_pylist())


def editions_of(connection: ArrowConnection, shops: Iterable[int]) -> list[Edition]:
    """The editions of these shops that are being built or that answers read."""
    condition = f"e.shop_key IN ({sql_list(shops)}) AND e.state IN ($1, $2)"
    return _editions(connection, condition, BUILDING, CURRENT)


def editions_of_other_rules(connection: ArrowConnection) -> list[Edition]:
    """The editions, being built or read by answers, whose days other rules of time zones made than ours."""
    condition = "e.zone_version <> $1 AND e.state IN ($2, $3)"
    return _editions(connection, condition, ZONES_VERSION, BUILDING, CURRENT)


def adopt(connection: ArrowConnection, numbers: list[int]) -> None:
    """Record that our rules of time zones make the days of these editions from now on: they make the same of
    all instants that there are. Commits."""
    condition = f"edition IN ({sql_list(numbers)})"
    connection.lock_rows("edition", "edition", condition)
    connection.execute(f"UPDATE edition SET zone_version = $1 WHERE {condition}", ZONES_VERSION)
    connection.commit()


def _editions(connection: ArrowConnection, condition: str, *values: Cell) -> list[Edition]:
    sql = f"{_EDITIONS} WHERE {condition} ORDER BY e.edition"
    return [Edition(**row) for row in connection.table(sql, *values).to_pylist()]


def create(
    connection: ArrowConnection, shops: list[int], window_days: int, logic_version: int
) -> None:
    """Create empty editions under the shops' present settings. A shop gets none if one is being built, if
    raw rows of it are to go first, or if it was deleted meanwhile. Raises OlderRules (`zone_rules.py`).
    Commits."""
    zone_rules.record(connection, shops)
    # A request to forget or to undo locks the shop's row, too. So either it is seen here, or it sees this
    # edition.
    connection.lock_rows("shop", "shop_key", f"shop_key IN ({sql_list(shops)})")
    connection.execute(
        "INSERT INTO edition (shop_key, timezone, form_rules, zone_version, window_days, logic_version, "
        "state) SELECT shop_key, timezone, form_rules, $1, $2, $3, $4 "
        f"FROM shop WHERE shop_key IN ({sql_list(shops)}) AND NOT ({ROWS_ARE_TO_GO}) ORDER BY shop_key "
        "ON CONFLICT DO NOTHING",
        *(ZONES_VERSION, window_days, logic_version, BUILDING),
    )
    connection.commit()


def create_scratch(
    connection: ArrowConnection, like: Sequence[Edition], lease: tuple[str, int]
) -> None:
    """Create empty editions under the settings of others, with this lease (owner, end). Commits."""
    shops = sql_list(edition.shop_key for edition in like)
    connection.lock_rows("shop", "shop_key", f"shop_key IN ({shops})")
    connection.execute(
        "INSERT INTO edition (shop_key, timezone, form_rules, zone_version, window_days, logic_version, "
        "state, lease_owner, lease_until) SELECT shop_key, timezone, form_rules, zone_version, "
        "window_days, logic_version, $1, $2, $3 FROM edition "
        f"WHERE edition IN ({sql_list(edition.edition for edition in like)}) ORDER BY shop_key",
        *(SCRATCH, *lease),
    )
    connection.commit()


def retire_outdated(
    connection: ArrowConnection, shops: list[int], window_days: int, logic_version: int, now: int
) -> None:
    """Retire the shops' editions that are being built under other settings than today's, and record since
    when those that answers read have others, if they have. Commits."""
    own = f"shop_key IN ({sql_list(shops)})"
    is_of_settings = (
        "edition IN (SELECT e.edition FROM edition e JOIN shop s ON s.shop_key = e.shop_key "
        f"WHERE {_IS_OF_SETTINGS})"
    )
    values = window_days, logic_version
    connection.lock_rows("edition", "edition", own)
    retired = connection.table(
        f"UPDATE edition SET state = '{RETIRED}' "
        f"WHERE {own} AND state = '{BUILDING}' AND NOT {is_of_settings} RETURNING shop_key",
        *values,
    )
    # A build under former settings was begun: they have changed since.
    is_new = f"outdated_at = 0 OR shop_key IN ({sql_list(retired.column(0).to_pylist())})"
    outdated = connection.table(
        f"UPDATE edition SET outdated_at = {now} WHERE {own} AND state = '{CURRENT}' "
        f"AND NOT {is_of_settings} AND ({is_new}) RETURNING shop_key",
        *values,
    )
    if outdated.num_rows:
        keys = sql_list(outdated.column(0).to_pylist())
        _change_data_version(connection, f"shop_key IN ({keys})", now)
    connection.commit()


def outdated_shops(
    connection: ArrowConnection, window_days: int, logic_version: int, shop: str | None = None
) -> list[int]:
    """Shops without an edition to answer from, or whose edition was built under other settings or from raw
    rows that have gone."""
    sql = (
        "SELECT s.shop_key FROM shop s LEFT JOIN edition e ON e.edition = s.edition "
        f"WHERE (e.edition IS NULL OR {_IS_OUTDATED})"
    )
    values: list[int | str] = [window_days, logic_version]
    if shop is not None:
        sql += " AND s.shop_id = $3"
        values.append(shop)
    return connection.table(f"{sql} ORDER BY s.shop_key", *values).column(0).to_pylist()


def building_shops(
    connection: ArrowConnection, window_days: int, logic_version: int
) -> dict[int, bool]:
    """The shops with an edition that is being built, and whether it is built under today's settings."""
    rows = connection.table(
        f"SELECT e.shop_key, CASE WHEN {_IS_OF_SETTINGS} THEN 1 ELSE 0 END AS is_up_to_date "
        "FROM edition e JOIN shop s ON s.shop_key = e.shop_key WHERE e.state = $3",
        window_days,
        logic_version,
        BUILDING,
    ).to_pylist()
    return {row["shop_key"]: bool(row["is_up_to_date"]) for row in rows}


def mark_rolled_up(connection: ArrowConnection, numbers: list[int], now: int) -> None:
    """Record, in the transaction that writes them, that these editions' figures have changed, and
    with them the answers of the shops that read them."""
    editions = sql_list(numbers)
    connection.execute(
        f"UPDATE edition SET rolled_up_at = $1, deaths = 0 WHERE edition IN ({editions})", now
    )
    _change_data_version(
        connection,
        f"edition IN ({editions}) "
        f"AND shop_key IN (SELECT shop_key FROM edition WHERE edition IN ({editions}))",
        now,
    )


def mark_verified(
    connection: ArrowConnection,
    numbers: list[int],
    found: Mapping[tuple[int, str, int], int],
    covered: Mapping[int, Iterable[int]] | None,
    now: int,
) -> None:
    """Record that editions were compared with what the raw rows give. Commits.

    `found`: how many rows differ, by edition, table and day (NO_DAY for rows that belong to none); `covered`:
    the days of each edition that were compared, None if all that they have was. An earlier finding
    stays, unless this comparison covers it.
    """
    own = f"edition IN ({sql_list(numbers)})"
    earlier = f"DELETE FROM difference WHERE {own}"
    if covered is not None:
        pairs = [(number, day) for number, days in covered.items() for day in days]
        columns = np.array(pairs, np.int64).reshape(-1, 2).T
        staged = pa.table(dict(zip(("edition", "day"), columns, strict=True)))
        name = connection.stage("staged_days", staged)
        connection.commit()
        earlier += f" AND (edition, day) IN (SELECT edition, day FROM {name})"
    connection.execute(earlier)
    for (number, table, day), rows in found.items():
        connection.execute(
            # Its shop may have been deleted meanwhile.
            "INSERT INTO difference (edition, table_name, day, rows) SELECT edition, CAST($2 AS TEXT), "
            "CAST($3 AS BIGINT), CAST($4 AS BIGINT) FROM edition WHERE edition = $1 "
            "ON CONFLICT (edition, table_name, day) DO UPDATE SET rows = excluded.rows",
            *(number, table, day, rows),
        )
    connection.execute(
        "UPDATE edition SET verified_at = $1, differing_rows = (SELECT COALESCE(SUM(d.rows), 0) "
        f"FROM difference d WHERE d.edition = edition.edition) WHERE {own}",
        now,
    )
    connection.commit()


def publish(connection: ArrowConnection, finished: list[Edition], now: int) -> list[Edition]:
    """Let answers read these editions, and retire those that they read before. The editions have been fenced
    just before. Commits.

    An edition is left out if the shop's current one has applied a batch that it lacks. Returns those
    that were published.
    """
    shops = sql_list(edition.shop_key for edition in finished)
    # With their rows locked, no batch can be applied to the current ones.
    are_read = f"state IN ('{CURRENT}', '{FROZEN}')"
    connection.lock_rows("edition", "edition", f"{are_read} AND shop_key IN ({shops})")
    behind = pending_batches.behind(connection, [edition.edition for edition in finished])
    ready = [edition for edition in finished if edition.edition not in behind]
    shops = sql_list(edition.shop_key for edition in ready)
    numbers = sql_list(edition.edition for edition in ready)
    connection.execute(
        f"UPDATE edition SET state = CASE WHEN edition IN ({numbers}) THEN $1 ELSE $2 END "
        f"WHERE edition IN ({numbers}) OR (shop_key IN ({shops}) AND {are_read})",
        CURRENT,
        RETIRED,
    )
    own = f"SELECT e.edition FROM edition e WHERE e.shop_key = shop.shop_key AND e.state = '{CURRENT}'"
    _change_data_version(connection, f"shop_key IN ({shops})", now, f"edition = ({own}), ")
    connection.commit()
    return ready


def freeze(connection: ArrowConnection, shops: list[int], now: int) -> None:
    """Let answers about shops stay as they are until the next edition is published, and retire all other
    editions. The caller holds the leases of those that are read or being built, and commits."""
    own = f"shop_key IN ({sql_list(shops)})"
    _change_data_version(connection, own, now)
    connection.execute(
        f"UPDATE edition SET state = CASE WHEN state IN ('{CURRENT}', '{FROZEN}') THEN '{FROZEN}' "
        f"ELSE '{RETIRED}' END, outdated_at = CASE WHEN outdated_at = 0 THEN {now} ELSE outdated_at END "
        f"WHERE {own}"
    )


def next_version(now: int | str) -> str:
    """The assignments of an `UPDATE shop` that change its data version at the instant `now`, a number or a
    parameter (`:now`). It never goes back, whatever the clocks of several machines say.

    Two answers with the same version are the same: ETags and the cache of answers rely on it. So everything
    that changes what an answer can show changes the version in the same transaction: a rollup, a backfill, a
    new edition, an import of what answers read directly, a form that is created or edited.
    """
    later = f"CASE WHEN data_changed_at < {now} THEN {now} ELSE data_changed_at END"
    return f"data_version = data_version + 1, data_changed_at = {later}"


def _change_data_version(
    connection: ArrowConnection, condition: str, now: int, assignments: str = ""
) -> None:
    # Imports lock the rows of shops in the same order.
    connection.lock_rows("shop", "shop_key", condition)
    connection.execute(f"UPDATE shop SET {assignments}{next_version(now)} WHERE {condition}")


def drop(connection: ArrowConnection, numbers: list[int]) -> None:
    """Delete editions that answers no longer read, table by table. Commits after every chunk of at
    most `chunks.MAX_DELETED_ROWS` rows; a drop that was interrupted goes on when it is repeated."""
    if not numbers:
        return
    for table in (*OWNED[::-1], difference, edition_batch):
        counts = connection.table(
            f"SELECT edition, COUNT(*) FROM {table.name} "
            f"WHERE edition IN ({sql_list(numbers)}) GROUP BY edition ORDER BY edition"
        )
        connection.commit()
        sizes = zip(*(column.to_pylist() for column in counts.columns), strict=True)
        group: list[int]
        for group in chunks.chunks(sizes, chunks.MAX_DELETED_ROWS):
            condition = f"edition IN ({sql_list(group)})"
            if len(group) == 1:
                delete_in_chunks(connection, table, condition)
            else:
                # Without a range, SQLite would read the rows of all editions for those of several.
                within = f"edition BETWEEN {group[0]} AND {group[-1]}"
                connection.execute(f"DELETE FROM {table.name} WHERE {within} AND {condition}")
                connection.commit()
    delete_in_chunks(connection, edition_table, f"edition IN ({sql_list(numbers)})")
