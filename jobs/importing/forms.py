"""Forms: one row per shop and `form_id`, the version with the latest `updated_at`."""

from collections.abc import Callable
from typing import Final

from jobs.importing import cells
from jobs.importing.rows import Field, Row
from jobs.importing.upserts import Upsert
from warehouse.tables import form

FIELDS: Final = (
    Field("shop_id", cells.identifier),
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


def way(now: int) -> Upsert:
    """How forms are replaced by an import at this instant."""
    return Upsert(form, _COLUMNS, keys=2, settle=_settle(now))


def with_draft(row: Row) -> Row:
    """A row of `FIELDS` as one of the table: the draft of an imported version is its schema."""
    *head, schema, created_at, updated_at = row
    return (*head, schema, schema, created_at, updated_at)


def _settle(now: int) -> Callable[[Row | None, Row | None, Row], Row]:
    def settle(stored: Row | None, standing: Row | None, row: Row) -> Row:
        *content, created_at, updated_at = row
        if standing is None:
            created_at = next((at for at in (created_at, updated_at) if at is not None), now)
            return (*content, created_at, created_at if updated_at is None else updated_at)
        *_, draft, created_then, updated_then = standing
        created_at = created_then if created_at is None else created_at
        if (now if updated_at is None else updated_at) < updated_then:
            return standing
        if updated_at is None:
            if stored and row[_CONTENT] == stored[_CONTENT]:
                # An earlier row of the same portion is taken back: nothing happened to the form.
                standing = stored
            *_, draft, _, updated_then = standing
            updated_at = updated_then if row[_CONTENT] == standing[_CONTENT] else now
        if row[_CONTENT] == standing[_CONTENT] and updated_at == standing[-1]:
            # The same version: a draft that is being edited stays.
            return (*standing[:-2], created_at, updated_at)
        return (*content, created_at, updated_at)

    return settle
