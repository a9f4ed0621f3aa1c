"""Tracking calls, and how they are sent to a collector that runs."""

import http.client
import json
from datetime import UTC, datetime
from typing import Any

from tests.support.import_files import FORM
from tests.support.waiting import PATIENCE_SECONDS

NOW = datetime.now(UTC).isoformat()


def call(event: str, session: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "track",
        "event": event,
        "messageId": f"{event} {session}",
        "anonymousId": f"visitor of {session}",
        "timestamp": NOW,
        "properties": {"form_id": FORM, "form_session_id": session, **properties},
    }


def send(port: int, key: str, calls: list[dict[str, Any]]) -> int:
    """The status of the answer. Raises OSError and HTTPException where there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        body = json.dumps({"batch": calls, "writeKey": key, "sentAt": NOW})
        connection.request("POST", "/v1/b", body, {"Content-Type": "text/plain"})
        return connection.getresponse().status
    finally:
        connection.close()
