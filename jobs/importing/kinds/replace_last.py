"""Kinds whose rows stand until a later import replaces them: all but events and orders.

An import keeps what it says as versions, an undo deletes its versions, and both end in `settle`: of each key
the version that was written last stands. Version 0 of a key is what stood before the imports that are known;
a row that no known import has changed has none.
A kind can say that what stands was taken back by a later statement (`Upsert.withdrawn`): then no row stands.

An import that says what stands already is only noted in that version (`repeated_by`), which passes to it once
the import that wrote it is undone: a pull that fetches the same history each day adds no rows.

All happens in one transaction, under a lock that keeps out other imports of the kind (not readers), so that
the counts are exact. The database compares: unchanged rows are not read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Table

from jobs.importing.kinds.base import Kind, Written
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.fields import Field
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names, schema_of
from warehouse.domain.time import now_micros
from warehouse.editions.editions import next_version
from warehouse.intake.imports import NO_IMPORT
from warehouse.tables.base import key_names

STAGED: Final = "staged_rows"
_LATER: Final = (
    "(n.written_at > v.written_at OR n.written_at = v.written_at AND n.import_id > v.import_id)"
)
_CHANGED: Final = "RETURNING 1 AS changed"


class TakenBack(NamedTuple):
    """The effect of undoing an import: rows that go, rows of which an earlier version stands again, rows that
    stay as they are."""

    gone: int = 0
    restored: int = 0
    stay: int = 0


def same_key(key: tuple[str, ...], one: str, other: str) -> str:
    """The SQL condition that two rows have the same key."""
    return " AND ".join(f'{one}."{name}" = {other}."{name}"' for name in key)


def differing(upsert: "Upsert", one: str, other: str) -> str:
    """The SQL condition that two rows with the same key differ."""
    return " OR ".join(f'{one}."{name}" <> {other}."{name}"' for name in upsert.values)


@dataclass(frozen=True)
class Upsert:
    """The replacement of rows of one table."""

    table: Table
    # The columns of the rows, the first `keys` of them the key.
    columns: tuple[str, ...]
    keys: int
    # The shops whose answers the staged rows change, as a condition on `shop`.
    touched: str = f"shop_key IN (SELECT shop_key FROM {STAGED})"
    # An SQL condition that no version of the key of a version `v` stands.
    withdrawn: str = "false"

    @property
    def key(self) -> tuple[str, ...]:
        return self.columns[: self.keys]

    @property
    def values(self) -> tuple[str, ...]:
        return self.columns[self.keys :]

    @property
    def schema(self) -> pa.Schema:
        return schema_of(self.table, self.columns)

    @property
    def joined(self) -> str:
        """The staged rows `k` with the stored rows `t` of the same key."""
        same = same_key(self.key, "t", "k")
        return f"FROM {STAGED} k CROSS JOIN {self.table.name} t WHERE {same}"

    @property
    def version(self) -> str:
        return f"{self.table.name}_version"

    def standing(self) -> str:
        """SQL for the versions of the staged keys that stand."""
        return (
            f"(SELECT v.* FROM {self.version} v JOIN {STAGED} k ON {same_key(self.key, 'k', 'v')} WHERE NOT "
            f"EXISTS (SELECT 1 FROM {self.version} n WHERE {same_key(self.key, 'n', 'v')} AND {_LATER}) "
            f"AND NOT ({self.withdrawn}))"
        )

    def is_gone(self) -> str:
        """The SQL condition that no version of a stored row's key stands."""
        return (
            f"NOT EXISTS (SELECT 1 FROM {self.version} v "
            f"WHERE {same_key(self.key, 'v', self.table.name)} AND NOT ({self.withdrawn}))"
        )


class ReplaceLast(Kind):
    """A kind whose rows are replaced by later imports of the same key.

    Its fields but `shop_id` are the upsert's columns, in their order. If the rows belong to a shop
    (`needs_shop`), the shop's key is the first column.
    """

    upsert: ClassVar[Upsert]
    needs_shop: ClassVar[bool] = True

    def check(self, columns: ChunkColumns, shops: ImportedShops) -> pa.Table:
        """The columns of the upsert's rows."""
        fields: Sequence[Field] = self.fields
        if self.needs_shop:
            fields = [shops.key_field(), *(field for field in fields if field is not SHOP_ID)]
        return pa.table([columns.read(field) for field in fields], self.upsert.schema)

    def write(self, connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
        """Store the rows. The last of those that share a key stands; the others count as duplicates."""
        return write(connection, self.upsert, rows, import_id)

    def take_back(self, connection: ArrowConnection, import_id: int) -> TakenBack:
        """Store the rows that would stand if an import had never come. The caller commits."""
        return take_back(connection, self.upsert, import_id)

    def forget(self, connection: ArrowConnection, expired: str) -> None:
        """Keep the rows of expired imports (a subquery) for good, without their imports. The caller
        commits."""
        connection.lock_table(self.upsert.table.name)
        forget(connection, self.upsert, expired)


def write(
    connection: ArrowConnection,
    upsert: Upsert,
    rows: pa.Table,
    import_id: int,
    *,
    notes_all: bool = False,
) -> Written:
    """Write rows as `ReplaceLast.write` does. `notes_all`: record for each row that the import has it, also
    where no known import had it before."""
    connection.lock_table(upsert.table.name)  # one at a time compares and writes
    version, table, key = upsert.version, upsert.table.name, upsert.key
    columns, values, note = names(upsert.columns), upsert.values, f",{import_id},"
    staged = last_of_each_key(rows, key)
    connection.stage(STAGED, staged)
    if notes_all:
        keep_stored(connection, upsert)
    is_last = f"NOT EXISTS (SELECT 1 FROM {version} n WHERE {same_key(key, 'n', 'v')} AND {_LATER})"
    # The version that stands may differ from the stored row: a shop keeps the currency of its money.
    same = connection.table(
        f"SELECT k.place FROM {STAGED} k JOIN {table} t ON {same_key(upsert.columns, 't', 'k')} "
        f"LEFT JOIN {version} v ON {same_key(key, 'v', 'k')} AND {is_last} "
        f"WHERE v.import_id IS NULL OR {same_key(values, 'v', 'k')}"
    )["place"]
    if len(same):
        connection.execute(
            f"UPDATE {version} AS v SET repeated_by = CASE WHEN {last_note('v')} < {import_id} "
            f"THEN v.repeated_by || '{note}' ELSE '{note}' || v.repeated_by END FROM {STAGED} k "
            f"WHERE {same_key(upsert.columns, 'v', 'k')} AND {is_last} "
            f"AND v.import_id <> {import_id} AND v.repeated_by NOT LIKE '%{note}%'"
        )
        if len(same) == staged.num_rows:
            return Written(duplicate=rows.num_rows)
        is_same = pc.is_in(staged["place"], same.combine_chunks().cast(pa.int64()))
        connection.stage(STAGED, staged.filter(pc.invert(is_same)))
    keep_stored(connection, upsert)
    _forget_note(
        connection, version, note, f"AND ({names(key)}) IN (SELECT {names(key)} FROM {STAGED})"
    )
    # A retry of rejects of an import that has ended writes at its end: what came later stands.
    ended = connection.value("SELECT ended_at FROM import_file WHERE import_id = $1", import_id)
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in (*values, "written_at"))
    connection.execute(
        f"INSERT INTO {version} (import_id, written_at, {columns}) "
        f"SELECT $1, $2, {columns} FROM {STAGED} WHERE true "
        f"ON CONFLICT ({names(key)}, import_id) DO UPDATE SET {changes}",
        import_id,
        ended or connection.now_micros(),
    )
    new, replaced, _ = settle(connection, upsert, may_go=False)
    return Written(new, rows.num_rows - new - replaced, replaced)


def last_of_each_key(rows: pa.Table, key: Sequence[str]) -> pa.Table:
    placed = rows.append_column("place", pa.array(np.arange(rows.num_rows)))
    places = placed.group_by(list(key)).aggregate([("place", "max")])["place_max"]
    return placed if len(places) == rows.num_rows else placed.take(np.sort(places.to_numpy()))


def keep_stored(connection: ArrowConnection, upsert: Upsert) -> None:
    """Keep the stored rows of the staged keys as version 0, where they have none."""
    connection.execute(
        f"INSERT INTO {upsert.version} (import_id, written_at, {names(upsert.columns)}) "
        f"SELECT {NO_IMPORT}, 0, {names(upsert.columns, 't.')} {upsert.joined} "
        f"AND NOT EXISTS (SELECT 1 FROM {upsert.version} v WHERE {same_key(upsert.key, 'v', 't')})"
    )


def last_note(version: str) -> str:
    """The SQL of the last import that has a version. For `,7,,9,` it is 9, for none 0."""
    notes = f"RTRIM({version}.repeated_by, ',')"
    return f"CAST('0' || SUBSTR({notes}, LENGTH(RTRIM({notes}, '0123456789')) + 1) AS BIGINT)"


def _forget_note(connection: ArrowConnection, version: str, note: str, which: str = "") -> None:
    connection.execute(
        f"UPDATE {version} SET repeated_by = REPLACE(repeated_by, '{note}', '') "
        f"WHERE repeated_by LIKE '%{note}%' {which}"
    )


def settle(
    connection: ArrowConnection, upsert: Upsert, *, may_go: bool = True, may_stand: str = "true"
) -> tuple[int, int, int]:
    """Store the last version of each staged key. Returns how many rows are new, are replaced, and go.

    `may_go`: whether a row of which no version stands is deleted. `may_stand`: an SQL condition that a
    version `v` can stand in place of the stored row `s`.
    """
    connection.lock_rows("shop", "shop_key", upsert.touched)
    table, key = upsert.table.name, names(upsert.key)
    is_stored = same_key(upsert.key, "s", "v")
    differs = differing(upsert, "s", "v")
    values = ", ".join(f'"{name}" = v."{name}"' for name in upsert.values)
    standing = upsert.standing()
    replaced = connection.changed(
        f"UPDATE {table} AS s SET {values} FROM {standing} v WHERE {is_stored} AND ({differs}) "
        f"AND {may_stand} {_CHANGED}"
    )
    new = connection.changed(
        f"INSERT INTO {table} ({names(upsert.columns)}) SELECT {names(upsert.columns, 'v.')} "
        f"FROM {standing} v WHERE NOT EXISTS (SELECT 1 FROM {table} s WHERE {is_stored}) {_CHANGED}"
    )
    gone = 0
    if may_go:
        gone = connection.changed(
            f"DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {STAGED}) "
            f"AND {upsert.is_gone()} {_CHANGED}"
        )
    if new or replaced or gone:
        connection.execute(f"UPDATE shop SET {next_version(now_micros())} WHERE {upsert.touched}")
    return new, replaced, gone


def take_back(
    connection: ArrowConnection,
    upsert: Upsert,
    import_id: int,
    *,
    may_go: bool = True,
    may_stand: str = "true",
    others: pa.Table | None = None,
) -> TakenBack:
    """Store the versions that would stand if an import had never come. `others`: further keys of which other
    versions may stand then. The other parameters are those of `settle`. The caller commits."""
    connection.lock_table(upsert.table.name)
    version, note = tables.VERSIONS[upsert.table], f",{import_id},"
    own = connection.rows_of(
        version, f"SELECT * FROM {version.name} WHERE import_id = $1", import_id
    )
    key = list(upsert.key)
    repeated = connection.rows_of(
        upsert.table,
        f"SELECT {names(key)} FROM {version.name} WHERE repeated_by LIKE '%{note}%'",
    )
    _forget_note(connection, version.name, note)
    changed = [own.select(key), *([] if others is None else [repeated, others])]
    keys = pa.concat_tables(changed).group_by(key).aggregate([])
    if not keys.num_rows:
        return TakenBack(stay=repeated.num_rows)
    connection.execute(f"DELETE FROM {version.name} WHERE import_id = $1", import_id)
    left = own.filter(pc.not_equal(own["repeated_by"], ""))
    if left.num_rows:
        # The first import that said the same has the version from now on.
        notes = [note.strip(",").split(",,") for note in left["repeated_by"].to_pylist()]
        others_of = ["".join(f",{id}," for id in note[1:]) for note in notes]
        changed_to = {
            "import_id": pa.array([int(note[0]) for note in notes], pa.int64()),
            "repeated_by": pa.array(others_of, pa.string()),
        }
        passed_on = pa.table(
            [changed_to.get(name, left[name]) for name in left.column_names], left.schema
        )
        # An import that said so later in its file has an older version of its own: the later one stands.
        of_version = key_names(version)
        staged = connection.stage("staged_passed_on", passed_on.select(list(of_version)))
        connection.execute(
            f"DELETE FROM {version.name} AS v WHERE EXISTS "
            f"(SELECT 1 FROM {staged} s WHERE {same_key(of_version, 's', 'v')})"
        )
        connection.append(version.name, passed_on)
    connection.stage(STAGED, keys)
    back, restored, gone = settle(connection, upsert, may_go=may_go, may_stand=may_stand)
    return TakenBack(gone, back + restored, own.num_rows + repeated.num_rows - gone - restored)


def forget(
    connection: ArrowConnection, upsert: Upsert, expired: str, needed: str = "false"
) -> None:
    """Merge the versions of expired imports (a subquery) into version 0. `needed`: an SQL condition that a
    version 0 `v` is needed beside the stored row. The caller commits."""
    version, key = tables.VERSIONS[upsert.table], upsert.key
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
        f"(SELECT 1 FROM {version.name} n WHERE {same} AND n.import_id <> {NO_IMPORT}) "
        f"AND NOT ({needed})"
    )
