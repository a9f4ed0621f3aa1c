"""Safe retries: a request with an `Idempotency-Key` creates its form once, however often it is sent.

The key is kept with the form, in one transaction: a request that is refused, or that fails, uses
nothing up. Of two at once the second waits for the first, and is answered like it.
"""

import re
from hashlib import sha256
from typing import Final

from flask import request
from sqlalchemy import Connection, select, text

from warehouse.days import MICROS_PER_SECOND
from warehouse.schema import form_creation
from warehouse.vocabulary import IDEMPOTENCY_HOURS
from web.errors import Refusal, malformed
from web.parameters import RequestHeader

_KEPT: Final = IDEMPOTENCY_HOURS * 3600 * MICROS_PER_SECOND
# Printable, without the comma that a header given twice is joined by.
_KEY: Final = re.compile(r"[ -+\--~]{1,255}")

IDEMPOTENCY_KEY: Final = RequestHeader(
    "Idempotency-Key",
    "Any text, of which each form has its own, has a request that is sent again within 24 hours answered "
    "like the first, without another form: printable ASCII without commas.",
    {"type": "string", "pattern": f"^{_KEY.pattern}$"},
    {400: "invalid_idempotency_key", 422: "idempotency_key_reused"},
)

# Inserts the key; or takes over one that has had its time. PostgreSQL waits here for another
# transaction that is inserting it, SQLite has waited when the transaction began.
_TAKE: Final = text(
    "INSERT INTO form_creation (credential_id, idempotency_key, content, form_id, created_at) "
    "VALUES (:credential_id, :key, :content, :form_id, :now) "
    "ON CONFLICT (credential_id, idempotency_key) DO UPDATE SET content = excluded.content, "
    "form_id = excluded.form_id, created_at = excluded.created_at "
    "WHERE form_creation.created_at <= :forgotten RETURNING form_id"
)


def idempotency_key() -> str | None:
    """The key of the request at hand. Raises the 400 where it is malformed."""
    if "Idempotency-Key" not in request.headers:
        return None
    key: str = request.headers["Idempotency-Key"]
    if not _KEY.fullmatch(key):
        raise malformed(
            "invalid_idempotency_key",
            "`Idempotency-Key` is given once, and has 1 to 255 printable ASCII characters but commas.",
        )
    return key


def first_creation(
    connection: Connection,
    credential_id: str,
    key: str,
    asked: tuple[str, str],
    form_id: str,
    now: int,
) -> tuple[str, int]:
    """Id and instant of the form that was created when this credential first sent this key: the
    `form_id` and `now` at hand where this is the first time in 24 hours, and it is to be created.

    `asked`: name and schema. Raises the 422 where the key came with others.
    """
    content = sha256("\0".join(asked).encode()).hexdigest()
    taken = {
        "credential_id": credential_id,
        "key": key,
        "content": content,
        "form_id": form_id,
        "now": now,
        "forgotten": now - _KEPT,
    }
    if connection.execute(_TAKE, taken).first() is not None:
        return form_id, now
    first = connection.execute(
        select(form_creation).where(
            form_creation.c.credential_id == credential_id,
            form_creation.c.idempotency_key == key,
        )
    ).one()
    if first.content != content:
        raise Refusal(
            422,
            "idempotency_key_reused",
            "This `Idempotency-Key` came with another body before. A new form needs a new key.",
        )
    return first.form_id, first.created_at
