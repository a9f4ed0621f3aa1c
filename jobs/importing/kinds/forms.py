"""Forms: one row per shop and `form_id`, the version with the latest `updated_at`."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from jobs.importing import cells
from jobs.importing.rows import Field, names_of
from jobs.importing.standing import Standing
from jobs.importing.upserts import Row, Settle, Upsert
from jobs.pipeline import now_micros
from warehouse.tables import form

_FIELDS: Final = (
    Field("form_id", cells.uuid),
    Field("name", cells.name),
    Field("status", cells.identifier, "draft"),
    Field("schema", cells.json_object, "{}"),
    Field("created_at", cells.instant, None),
    Field("updated_at", cells.instant, None),
)

_COLUMNS: Final = (
    "shop_key", "form_id", "name", "status", "schema", "draft_schema", "created_at", "updated_at",
)
_CONTENT: Final = slice(_COLUMNS.index("name"), _COLUMNS.index("draft_schema"))
_CREATED: Final = _COLUMNS.index("created_at")
_UPDATED: Final = _COLUMNS.index("updated_at")


class Forms(Standing):
    """Never overwrites a version with a later `updated_at`."""

    name = "forms"
    reads = _FIELDS
    fields: ClassVar = ("shop_id", *names_of(_FIELDS))

    def way(self) -> Upsert:
        return Upsert(form, _COLUMNS, keys=2, settle=_settle(now_micros()))

    def arrange(self, columns: list[Any]) -> Sequence[Any]:
        # The draft of an imported version is its schema.
        schema = _COLUMNS.index("schema")
        return [*columns[: schema + 1], *columns[schema:]]


def _settle(now: int) -> Settle:
    def settle(stored: Row | None, standing: Row | None, row: Row) -> Row:
        *content, created_at, updated_at = row
        if standing is None:
            created_at = next((at for at in (created_at, updated_at) if at is not None), now)
            return (*content, created_at, created_at if updated_at is None else updated_at)
        if (now if updated_at is None else updated_at) < standing[_UPDATED]:
            return standing
        if updated_at is None and stored and row[_CONTENT] == stored[_CONTENT]:
            # Another row of this portion is taken back: nothing has happened to the form.
            standing = stored
        same = row[_CONTENT] == standing[_CONTENT]
        if created_at is None:
            created_at = standing[_CREATED]
        if updated_at is None:
            updated_at = standing[_UPDATED] if same else now
        if same and updated_at == standing[_UPDATED]:
            # The same version: a draft that is being edited stays.
            return (*standing[:_CREATED], created_at, updated_at)
        return (*content, created_at, updated_at)

    return settle
