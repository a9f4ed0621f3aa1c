"""Notes on days (28): list, write, take away. They are in no figure, so a `GET` has a state of its own."""

from typing import Any, Final

from warehouse.domain.hash_ids import is_uuid
from warehouse.domain.time import day_date, iso_millis
from warehouse.shops import notes
from warehouse.shops.notes import Note
from web.api.endpoint import VERSION, get, write
from web.api.query import Query
from web.api.rows import Answer, Row, text
from web.http.current_request import uuid7
from web.http.errors import Refusal, not_found
from web.http.etags import State, digest
from web.http.idempotency import IDEMPOTENCY_KEY, first_creation, idempotency_key
from web.http.json_body import read_body
from web.http.services import services

_QUOTA: Final = "quota_exceeded"

# fmt: off
NOTE: Final = Row(
    "Note",
    "A note on a day. Order: date, then as they were written.",
    text("id", "Note", "The note's id.", format="uuid"),
    text("date", "Day", "The day of the shop's calendar that it is on.", format="date"),
    text("text", "Note", "The text, in one line."),
    text("createdAt", "Written", "When it was written.", format="date-time"),
    owner="What was written on these days.",
)
NEW_NOTE: Final = Row(
    "NewNote",
    "A note to write. Unknown fields are ignored.",
    text("date", "", "The day that it is on, from 2000 to 2100.", format="date"),
    text("text", "",
        "The text: 1 to 255 characters. Blanks around it are removed, line ends become blanks.",
        pattern=r"\S"),
)
# fmt: on


def notes_state(query: Query) -> State:
    """The state of the notes on these days, which other data does not change."""
    found = _notes(query)
    latest = max((one.created_at for one in found), default=0)
    return State(digest(*((one.note_id, one.text) for one in found)), latest)


@get("/notes", "analytics:read", NOTE, own_state=notes_state, at_primary=True)
def list_notes(query: Query) -> list[dict[str, Any]]:
    """The notes on the days of the window.

    Members or programs wrote them, such as the start of a campaign. A shop has at most 1,000 notes.
    """
    return [_row(one) for one in _notes(query)]


@write(
    "POST",
    "/notes",
    "forms:write",
    NEW_NOTE,
    NOTE,
    refusals={409: _QUOTA},
    status=201,
    request_headers=(IDEMPOTENCY_KEY,),
    response_headers=("Location",),
)
def write_note(query: Query) -> Answer:
    """Writes a note on a day."""
    body = read_body()
    day, words = body.read("date", notes.day_of), body.read("text", notes.in_one_line)
    key, now = idempotency_key(), query.now
    note_id = first_id = uuid7(now)
    with services().database.write() as connection:
        if key is not None:
            content = day_date(day).isoformat(), words
            first_id, now = first_creation(
                connection, query.credential_id, key, content, note_id, now
            )
        written = Note(first_id, day, words, now)
        try:
            if first_id == note_id:
                notes.add(connection, query.shop.key, written)
        except notes.TooManyNotes as error:
            raise Refusal(409, _QUOTA, str(error)) from None
        connection.commit()
    return Answer(_row(written), {"Location": f"{VERSION}/notes/{first_id}"}, state=_state(written))


@write(
    "DELETE",
    "/notes/{noteId}",
    "forms:write",
    None,
    NOTE,
    exists=lambda connection, shop, note_id: (
        is_uuid(note_id) and notes.find(connection, shop.key, note_id) is not None
    ),
)
def delete_note(query: Query) -> Answer:
    """Takes a note away. The answer is the note as it was."""
    with services().database.write() as connection:
        written = notes.find(connection, query.shop.key, query.item_id)
        if written is None:
            raise not_found()
        notes.remove(connection, query.shop.key, query.item_id)
        connection.commit()
    return Answer(_row(written), state=_state(written))


def _notes(query: Query) -> list[Note]:
    return notes.of_days(query.connection, query.shop.key, query.window.first, query.window.last)


def _state(written: Note) -> State:
    return State(digest(written.note_id, written.text), written.created_at)


def _row(written: Note) -> dict[str, Any]:
    return {
        "id": written.note_id,
        "date": day_date(written.day).isoformat(),
        "text": written.text,
        "createdAt": iso_millis(written.created_at),
    }
