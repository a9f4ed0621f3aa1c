"""Calls of another system that name forms."""

from typing import Any

from tests.support.import_files import written
from tests.support.warehouse import Warehouse
from warehouse.domain.hash_ids import form_id_of
from warehouse.domain.time import NEVER

SHOP = "a.example"
# 2026-01-02T03:00:00Z in microseconds.
BEGAN = 1767322800_000_000

Call = dict[str, Any]
File = tuple[str, list[Any]]
"""A kind, and rows of it; of kind `events`, calls of Segment."""


def call(form_id: Any, second: int = 0, name: str = "") -> Call:
    """A view of a form, so many seconds after BEGAN."""
    return {
        "type": "track",
        "event": "Form Viewed",
        "messageId": f"{form_id} {second} {name}",
        "anonymousId": "v",
        "timestamp": f"2026-01-02T03:{second // 60:02d}:{second % 60:02d}Z",
        "properties": {"form_id": form_id, "form_session_id": "s", "form_name": name},
    }


def ours(id: str) -> str:
    """Our id of a form."""
    return form_id_of(SHOP, "segment", id)


def load(warehouse: Warehouse, file: File) -> None:
    kind, rows = file
    path = written(warehouse.folder / f"{kind}.ndjson", rows)
    warehouse.take_file(kind, path, SHOP if kind == "events" else None)


def state(warehouse: Warehouse) -> tuple[list[dict[str, Any]], int, int]:
    """The forms, and the counts of them that quotas look at. When a name came with an event differs from one
    warehouse to the other."""
    rows = warehouse.records("SELECT * FROM form ORDER BY form_id")
    for row in rows:
        row["named_at"] = row["named_at"] if row["named_at"] in (0, NEVER) else "then"
    (shop,) = warehouse.records(f"SELECT * FROM shop WHERE shop_id = '{SHOP}'")
    return rows, shop["form_count"], shop["form_bytes"]
