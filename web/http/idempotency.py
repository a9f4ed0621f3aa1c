"""Safe retries: a request with an `Idempotency-Key` creates its form once, however often it is sent.

The key is stored with the form in one transaction, so a request that fails does not use the key up. If two
requests with one key arrive at once, the second waits for the first and gets the same answer.

A key is stored as its keyed hash alone. Clients make keys of what they have, such as a visitor's id, and
nobody would look for a person here.
"""

import re
from hashlib import sha256
from typing import Final

from flask import request
from sqlalchemy import Connection, text

from warehouse.domain.hash_ids import SEPARATOR
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.domain.vocabulary import IDEMPOTENCY_HOURS
from warehouse.persons.hash_secret import hasher_of_pages
from web.http.errors import Refusal, malformed
from web.http.parameters import RequestHeader

_LIFETIME: Final = IDEMPOTENCY_HOURS * 3600 * MICROS_PER_SECOND
# Printable, without the comma that a header given twice is joined by.
_KEY: Final = re.compile(r"[ -+\--~]{1,255}")

IDEMPOTENCY_KEY: Final = RequestHeader(
    "Idempotency-Key",
    "A unique value per form or note you create. Repeating the request with the same key within 24 hours "
    "returns the first response and creates nothing. Printable ASCII without commas.",
    {"type": "string", "pattern": f"^{_KEY.pattern}$"},
    {400: "invalid_idempotency_key", 422: "idempotency_key_reused"},
)

# Inserts the key, or replaces an expired one. PostgreSQL waits here for another transaction that is inserting
# the same key; SQLite has waited when the transaction began.
_INSERT: Final = text(
    "INSERT INTO form_creation (credential_id, idempotency_key, content, form_id, created_at) "
    "VALUES (:credential_id, :key, :content, :form_id, :now) "
    "ON CONFLICT (credential_id, idempotency_key) DO UPDATE SET content = excluded.content, "
    "form_id = excluded.form_id, created_at = excluded.created_at "
    "WHERE form_creation.created_at <= :expired RETURNING form_id"
)
_SELECT: Final = text(
    "SELECT content, form_id, created_at FROM form_creation "
    "WHERE credential_id = :credential_id AND idempotency_key = :key"
)


def idempotency_key() -> str | None:
    """The key of the request at hand, None without one. Raises the 400 if it is malformed."""
    if "Idempotency-Key" not in request.headers:
        return None
    key: str = request.headers["Idempotency-Key"]
    if not _KEY.fullmatch(key):
        raise malformed(
            "invalid_idempotency_key",
            "`Idempotency-Key` is malformed or repeated. Send it once, with 1 to 255 printable ASCII "
            "characters and no commas.",
        )
    return key


def first_creation(
    connection: Connection,
    credential_id: str,
    key: str,
    content: tuple[str, str],
    form_id: str,
    now: int,
) -> tuple[str, int]:
    """Id and creation time of the form or note that this credential first created with this key. They are
    `form_id` and `now` if the key is new, or older than 24 hours; the caller must create it then.

    `content` has the texts of the body. Raises the 422 if the key came with other content.
    """
    row = {
        "credential_id": credential_id,
        "key": hasher_of_pages(connection).keyed(f"{IDEMPOTENCY_KEY.name}{SEPARATOR}{key}"),
        "content": sha256("\0".join(content).encode()).hexdigest(),
        "form_id": form_id,
        "now": now,
        "expired": now - _LIFETIME,
    }
    if connection.execute(_INSERT, row).first() is not None:
        return form_id, now
    first = connection.execute(_SELECT, row).one()
    if first.content != row["content"]:
        raise Refusal(
            422,
            "idempotency_key_reused",
            "This `Idempotency-Key` was already used with another body. Use a new key for a new form or "
            "note.",
        )
    return first.form_id, first.created_at
