"""Calls of another system that name forms."""

from typing import Any

from warehouse.domain.form_ids import form_id_of

SHOP = "a.example"
# 2026-01-02T03:00:00Z in microseconds.
BEGAN = 1767322800_000_000

Call = dict[str, Any]


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
