"""The versions of rows that later imports replace: what each import wrote, so that any of them can be undone.

The version of a key that was written last stands. Version 0 of a key is what stood before the
imports that are known; a row that no known import has touched has none.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

from sqlalchemy import Table

from jobs.run.clock import now_micros
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.editions.data_version import next_version
from warehouse.operations.imports import NO_IMPORT
from warehouse.tables.base import key_names

if TYPE_CHECKING:
    from jobs.importing.kinds.replace_last import Upsert

STAGED: Final = "staged_rows"
_LATER: Final = (
    "(n.written_at > v.written_at OR n.written_at = v.written_at AND n.import_id > v.import_id)"
)


class TakenBack(NamedTuple):
    """The effect of undoing an import: rows that go, rows of which an earlier version stands again, rows that
    stay as they are."""

    gone: int = 0
    restored: int = 0
    stay: int = 0


def same_key(key: tuple[str, ...], one: str, other: str) -> str:
    """The SQL condition that two rows have the same key."""
    return " AND ".join(f'{one}."{name}" = {other}."{name}"' for name in key)


def keep(connection: ArrowConnection, upsert: "Upsert", import_id: int) -> None:
    """Keep the staged rows, one for each key, as the version of an import; before that, the stored rows that
    have none. The caller has locked the table."""
    version = tables.VERSIONS[upsert.table].name
    own, columns = same_key(upsert.key, "v", "t"), names(upsert.columns)
    connection.execute(
        f"INSERT INTO {version} (import_id, written_at, {columns}) "
        f"SELECT DISTINCT {NO_IMPORT}, 0, {names(upsert.columns, 't.')} {upsert.joined} "
        f"AND NOT EXISTS (SELECT 1 FROM {version} v WHERE {own})"
    )
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in (*upsert.values, "written_at"))
    connection.execute(
        f"INSERT INTO {version} (import_id, written_at, {columns}) "
        f"SELECT $1, $2, {columns} FROM {STAGED} WHERE true "
        f"ON CONFLICT ({names(upsert.key)}, import_id) DO UPDATE SET {changes}",
        import_id,
        connection.now_micros(),
    )


def take_back(
    connection: ArrowConnection,
    upsert: "Upsert",
    import_id: int,
    *,
    may_go: bool = True,
    may_stand: str = "true",
) -> TakenBack:
    """Have those versions stand that would if an import had never come. The caller commits.

    `may_go`: whether a row without any other version is deleted. `may_stand`: an SQL condition that a version
    `v` can stand in place of the stored row `s`.
    """
    connection.lock_table(upsert.table.name)
    version, table = tables.VERSIONS[upsert.table].name, upsert.table.name
    key = names(upsert.key)
    rows = connection.rows_of(
        tables.VERSIONS[upsert.table],
        f"SELECT {key} FROM {version} WHERE import_id = $1",
        import_id,
    )
    if not rows.num_rows:
        return TakenBack()
    connection.stage(STAGED, rows)
    connection.lock_rows("shop", "shop_key", upsert.touched)
    connection.execute(f"DELETE FROM {version} WHERE import_id = $1", import_id)
    stored = same_key(upsert.key, "s", "v")
    differs = " OR ".join(f's."{name}" <> v."{name}"' for name in upsert.values)
    values = ", ".join(f'"{name}" = v."{name}"' for name in upsert.values)
    # The version that stands now, of each key that has one.
    standing = (
        f"(SELECT v.* FROM {version} v JOIN {STAGED} k ON {same_key(upsert.key, 'k', 'v')} "
        f"WHERE NOT EXISTS (SELECT 1 FROM {version} n WHERE {same_key(upsert.key, 'n', 'v')} "
        f"AND {_LATER}))"
    )
    restored = connection.changed(
        f"UPDATE {table} AS s SET {values} FROM {standing} v WHERE {stored} AND ({differs}) "
        f"AND {may_stand} RETURNING 1 AS changed"
    )
    gone = 0
    if may_go:
        gone = connection.changed(
            f"DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {STAGED}) AND NOT EXISTS "
            f"(SELECT 1 FROM {version} v WHERE {same_key(upsert.key, 'v', table)}) RETURNING 1 AS changed"
        )
    connection.execute(f"UPDATE shop SET {next_version(now_micros())} WHERE {upsert.touched}")
    return TakenBack(gone, restored, rows.num_rows - gone - restored)


def forget(connection: ArrowConnection, version: Table, expired: str) -> None:
    """Merge the versions of expired imports (a subquery) into version 0. The caller commits."""
    key = tuple(name for name in key_names(version) if name != "import_id")
    old = f"({{}}.import_id = {NO_IMPORT} OR {{}}.import_id IN ({expired}))"
    same = same_key(key, "n", "v")
    connection.execute(
        f"DELETE FROM {version.name} AS v WHERE {old.format('v', 'v')} AND EXISTS "
        f"(SELECT 1 FROM {version.name} n WHERE {same} AND {old.format('n', 'n')} AND {_LATER})"
    )
    connection.execute(
        f"UPDATE {version.name} SET import_id = {NO_IMPORT} WHERE import_id IN ({expired})"
    )
    # The stored rows say the same, until an import writes it.
    connection.execute(
        f"DELETE FROM {version.name} AS v WHERE import_id = {NO_IMPORT} AND NOT EXISTS "
        f"(SELECT 1 FROM {version.name} n WHERE {same} AND n.import_id <> {NO_IMPORT})"
    )
