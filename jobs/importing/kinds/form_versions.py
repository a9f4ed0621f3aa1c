"""The versions of forms: what each import said of a form, from which the form that stands is told again.

Unlike other rows, of a form the version with the latest `updated_at` stands, and people edit it here. A form
that was edited since the last import of it is kept as version 0: what imports said before decides no more.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, Final

import pyarrow as pa

from jobs.importing.kinds.replace_last import STAGED
from warehouse.connections.arrow import ArrowConnection, names, schema_of
from warehouse.domain.time import NEVER
from warehouse.editions.pending_batches import sql_list
from warehouse.operations.imports import NO_IMPORT
from warehouse.tables import form_version
from warehouse.tables.base import column_names

Row = tuple[Any, ...]
Key = tuple[int, str]
# (version before the chunk, version that stands, row, instant) to the version that stands then.
Stands = Callable[[Row | None, Row | None, Row, int], Row]

_STAGED: Final = "staged_versions"
_VALUES: Final = ("name", "status", "schema", "draft_schema", "created_at", "updated_at")
_ROW: Final = ("shop_key", "form_id", *_VALUES)
_COLUMNS: Final = (*_ROW, "import_id", "written_at", "stood_at")
_UPDATED: Final = _ROW.index("updated_at")
_CREATED: Final = _ROW.index("created_at")
assert set(_COLUMNS) == set(column_names(form_version))


class FormVersions:
    """The versions of the forms whose keys are staged, by form in the order in which they were written."""

    def __init__(self, connection: ArrowConnection, stands: Stands, now: int) -> None:
        """`stands`: which of two versions stands. The caller has locked the forms."""
        self._connection, self._stands, self._now = connection, stands, now
        columns = names(_COLUMNS, "v.")
        rows = connection.rows_of(
            form_version,
            f"SELECT DISTINCT {columns} FROM {STAGED} k JOIN form_version v "
            "ON v.shop_key = k.shop_key AND v.form_id = k.form_id "
            "ORDER BY v.written_at, v.import_id",
        )
        self._versions: dict[Key, dict[int, dict[str, Any]]] = {}
        for row in rows.to_pylist():
            self._of(_key(row))[row["import_id"]] = row

    def _of(self, key: Key) -> dict[int, dict[str, Any]]:
        return self._versions.setdefault(key, {})

    def keep(
        self,
        import_id: int,
        rows: Iterable[Row],
        known: Mapping[Key, Row],
        stood: Mapping[Key, Row],
    ) -> None:
        """Keep what the rows of an import say. `known`, `stood`: the forms before and after them."""
        changed = {key: row for key, row in known.items() if self._is_edited(key, row)}
        for row in changed.values():
            self._put(NO_IMPORT, row, self._now - 1, row[_UPDATED])
        keys = set()
        for row in rows:
            key = row[0], row[1]
            keys.add(key)
            own = self._of(key).get(import_id)
            if own is None or self._said_at(row) >= self._said_at(_said(own), own["written_at"]):
                self._put(import_id, row, self._now, stood[key][_UPDATED])
        for key in keys:
            self._of(key)[import_id]["stood_at"] = stood[key][_UPDATED]
        self._write({(key, NO_IMPORT) for key in changed} | {(key, import_id) for key in keys})

    def without(self, import_id: int, stored: Mapping[Key, Row]) -> dict[Key, Row | None]:
        """The forms that stand without an import, None where none does; forgets its versions.
        `stored`: those that stand with it, and are more than seen in events."""
        after: dict[Key, Row | None] = {}
        written: set[tuple[Key, int]] = set()
        for key, versions in self._versions.items():
            row = stored.get(key)
            if row is not None and self._is_edited(key, row):
                self._put(NO_IMPORT, row, self._now, row[_UPDATED])
                written.add((key, NO_IMPORT))
            versions.pop(import_id, None)
            after[key] = standing = self._standing(key)
            if standing is not None:
                last = self._last(key)
                versions[last]["stood_at"] = standing[_UPDATED]
                written.add((key, last))
        self._write(written)
        self._connection.execute("DELETE FROM form_version WHERE import_id = $1", import_id)
        return after

    def forget(self, expired: set[int]) -> None:
        """Merge the versions of expired imports into version 0, where there are later ones."""
        written: set[tuple[Key, int]] = set()
        for key, versions in self._versions.items():
            old = {number for number in versions if number in expired or number == NO_IMPORT}
            if later := versions.keys() - old:
                first = min(versions[number]["written_at"] for number in later)
                standing = self._standing(key, old)
                assert standing is not None
                self._put(NO_IMPORT, standing, first - 1, standing[_UPDATED])
                written.add((key, NO_IMPORT))
        self._connection.execute(
            f"DELETE FROM form_version WHERE import_id = {NO_IMPORT} AND EXISTS (SELECT 1 FROM {STAGED} k "
            "WHERE k.shop_key = form_version.shop_key AND k.form_id = form_version.form_id) "
            f"OR import_id IN ({sql_list(expired)})"
        )
        self._write(written)

    def _is_edited(self, key: Key, stored: Row) -> bool:
        """Whether a form is not what its last import left."""
        versions = self._of(key)
        return not versions or versions[self._last(key)]["stood_at"] != stored[_UPDATED]

    def _last(self, key: Key) -> int:
        versions = self._of(key)
        return max(versions, key=lambda number: (versions[number]["written_at"], number))

    def _standing(self, key: Key, among: Set[int] | None = None) -> Row | None:
        """The form that the versions give, or those of some imports."""
        standing: Row | None = None
        versions = sorted(self._of(key).items(), key=lambda item: (item[1]["written_at"], item[0]))
        for import_id, version in versions:
            row = _said(version)
            if among is not None and import_id not in among:
                continue
            if import_id == NO_IMPORT:
                standing = row
            else:
                standing = self._stands(standing, standing, row, version["written_at"])
        return standing

    def _said_at(self, row: Row, written_at: int = 0) -> int:
        updated_at: int | None = row[_UPDATED]
        return (written_at or self._now) if updated_at is None else updated_at

    def _put(self, import_id: int, row: Row, written_at: int, stood_at: int) -> None:
        version = dict(zip(_ROW, row, strict=True))
        for name in ("created_at", "updated_at"):
            version[name] = NEVER if version[name] is None else version[name]
        own = {"import_id": import_id, "written_at": written_at, "stood_at": stood_at}
        self._of((row[0], row[1]))[import_id] = version | own

    def _write(self, which: set[tuple[Key, int]]) -> None:
        if not which:
            return
        rows = [self._versions[key][import_id] for key, import_id in sorted(which)]
        table = pa.Table.from_pylist(rows, schema_of(form_version, _COLUMNS))
        columns = names(_COLUMNS)
        changes = ", ".join(
            f'"{name}" = excluded."{name}"' for name in (*_VALUES, "written_at", "stood_at")
        )
        self._connection.execute(
            f"INSERT INTO form_version ({columns}) SELECT {columns} "
            f"FROM {self._connection.stage(_STAGED, table)} WHERE true "
            f"ON CONFLICT (shop_key, form_id, import_id) DO UPDATE SET {changes}"
        )


def _key(row: dict[str, Any]) -> Key:
    return row["shop_key"], row["form_id"]


def _said(version: dict[str, Any]) -> Row:
    """A version as the row that an import said, in which a time that it did not state is None."""
    return tuple(
        None if name in ("created_at", "updated_at") and version[name] == NEVER else version[name]
        for name in _ROW
    )
