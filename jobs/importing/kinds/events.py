"""Events: what happened on a form."""

from typing import Any, ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.files.chunk import HIDDEN
from jobs.importing.kinds.append_only import insert_wanted
from jobs.importing.kinds.base import Kind, Written
from jobs.importing.kinds.seen_forms import (
    FORM_ID,
    FORM_NAME,
    ON_OWN_PAGE,
    SOURCE,
    events_of,
    read_form_ids,
    see_events,
)
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values import answers
from jobs.importing.values.columns import ChunkColumns, Flags
from jobs.importing.values.errors import InvalidValue
from jobs.importing.values.fields import (
    CODE,
    EMAIL,
    EMAIL_SHA256,
    ID,
    INSTANT,
    NAME,
    PAGE_PATH,
    SENT_ID,
    SHORT_TEXT,
    WHOLE,
    Field,
    FieldType,
)
from jobs.importing.values.texts import word_of
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.email_hash import EmailHasher, keyed_of
from warehouse.domain.vocabulary import (
    AGGREGATABLE_FIELD_TYPES,
    ANSWER,
    DEVICES,
    EVENT_TYPES,
    MOST_QUESTIONS,
    OTHER_DEVICE,
    STEP_COMPLETE,
    STEP_VIEW,
    UTM_FIELDS,
)

_DEVICES: Final = {name: code for code, name in enumerate(DEVICES)}
_TYPES: Final = {name: code for code, name in enumerate(EVENT_TYPES) if name}


TYPE: Final = FieldType(f"one of {', '.join(_TYPES)}", word_of(_TYPES), 0, pa.int16())
DEVICE: Final = FieldType(
    f"one of {', '.join(DEVICES[1:])}",
    lambda value: _DEVICES.get(str(value).lower(), OTHER_DEVICE),
    0,
    pa.int16(),
)
VALUE: Final = FieldType("text, number, boolean or list of them", answers.answer_json)

UTM_FIELD_LIST: Final = tuple(Field(name, SHORT_TEXT, "campaign parameter") for name in UTM_FIELDS)
BUYER_FIELDS: Final = (
    Field("customer_id", SENT_ID, "the customer, if known"),
    Field("email", EMAIL, "the person's address, if known"),
    Field(
        "email_sha256", EMAIL_SHA256, "its SHA-256, trimmed and in lower case, in place of `email`"
    ),
)


class EventsKind(Kind):
    name = "events"
    fields: ClassVar = (
        Field(
            "event_id", SENT_ID, "unique in the shop; a repeated one is a duplicate", required=True
        ),
        SHOP_ID,
        FORM_ID,
        SOURCE,
        FORM_NAME,
        ON_OWN_PAGE,
        Field("form_session_id", SENT_ID, "one showing of the form to one visitor", required=True),
        Field("visitor_id", SENT_ID, "the browser or device", required=True),
        Field("type", TYPE, "what happened", required=True),
        Field("occurred_at", INSTANT, "when it happened", required=True),
        Field("device_type", DEVICE, "in any case; anything else counts as other"),
        Field("step_id", ID, "the step", required_for="step_*"),
        Field("step_index", WHOLE, "the step's position, from 0", required_for="step_*"),
        Field("step_name", NAME, "the step's name"),
        Field("field_id", ID, "the question", required_for="answer"),
        Field(
            "field_type",
            ID,
            f"{', '.join(AGGREGATABLE_FIELD_TYPES)}: the value is kept; other types: only that the "
            "question was answered",
            required_for="answer",
        ),
        Field("value", VALUE, "the answer", required_for="answer"),
        *BUYER_FIELDS,
        Field("discount_id", ID, "the discount that the session was issued"),
        Field("discount_code", CODE, "the code that the session was issued"),
        Field("variant", SHORT_TEXT, "the arm of an experiment, by which answers can be filtered"),
        Field("page_path", PAGE_PATH, "the page's; Set up can split a form by it"),
        *UTM_FIELD_LIST,
    )

    def check(self, columns: ChunkColumns, shops: ImportedShops) -> pa.Table:
        """The columns of raw_event but batch_id, and those of `read_form_ids`."""
        own = [field for field in self.fields if field.name not in _READ_TOGETHER]
        of_steps = [field for field in own if field.name in _OF_STEP]
        read = {"shop_key": columns.read(shops.key_field())} | read_form_ids(columns)
        read |= columns.read_all(field for field in own if field not in of_steps)
        read["device"] = read.pop("device_type")
        read["email_sha256"] = keyed_hashes(read_emails(columns), columns.hasher)
        types = read["type"].to_numpy()
        of_step = (types == STEP_VIEW) | (types == STEP_COMPLETE)
        for field in of_steps:
            read[field.name] = columns.read(field, needed=of_step)
            columns.refuse_missing(of_step & columns.missing(field.name), field.name)
        events = pa.table(read | self._answer(columns, types == ANSWER))
        _refuse_many_questions(columns, events)
        return events

    def _answer(self, columns: ChunkColumns, is_answer: Flags) -> dict[str, Any]:
        """Field, type and value of the answers; empty for all other events, of which nobody looks at them."""
        for name in _OF_ANSWER:
            columns.refuse_missing(is_answer & columns.missing(name), name)
        field_ids, field_types = (
            columns.read(field, only=is_answer, needed=is_answer)
            for field in self.fields
            if field.name in _OF_ANSWER[:2]
        )
        rows = np.flatnonzero(is_answer)
        types = field_types.take(pa.array(rows)).dictionary_encode()
        cells, places = columns.distinct("value")
        # Each value of each type of field once.
        pairs, of_rows = np.unique(
            types.indices.to_numpy() * np.int64(len(cells)) + places[rows], return_inverse=True
        )
        type_names = types.dictionary.to_pylist()
        stored = [
            answers.stored_answer(
                type_names[pair // len(cells)],
                cells[pair % len(cells)],
                columns.hasher.text,
                textual=columns.chunk.textual,
            )
            for pair in pairs.tolist()
        ]
        is_refused = np.array([isinstance(text, InvalidValue) for text in stored], bool)[of_rows]
        for row, pair in zip(rows[is_refused], of_rows[is_refused], strict=True):
            columns.refuse([row], "value", str(stored[pair]))
        # Behind all others the "" of the rows without an answer.
        texts = pa.array([*(text if isinstance(text, str) else None for text in stored), ""])
        places = np.full(len(is_answer), len(stored))
        places[rows] = of_rows
        values = texts.take(pa.array(places))
        columns.count_hashes(texts, pa.array(places))
        answered = pc.and_(pa.array(is_answer), values.is_valid())
        return {
            "field_id": pc.if_else(answered, field_ids, ""),
            "field_type": pc.if_else(answered, field_types, ""),
            "value": values.fill_null(""),
        }

    def write(self, connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
        """Add the events whose id is new, and the forms that those with a source name."""
        events = events_of(rows)
        inserted = insert_wanted(connection, self.name, tables.raw_event, events, import_id)
        see_events(connection, rows, inserted, import_id)
        new = inserted.new
        return Written(new, inserted.rows.num_rows - new, more=inserted.counts)

    def conceal(self, row: dict[str, Any]) -> dict[str, Any]:
        """A rejected event without free text: a retry needs only to know that there was some."""
        is_kept = row.get("field_type") in AGGREGATABLE_FIELD_TYPES
        # An empty list says the same in a table, where it is a text.
        value = answers.typed(row.get("value"), "")
        return row if is_kept or not answers.is_answer(value) else row | {"value": HIDDEN}


def _refuse_many_questions(columns: ChunkColumns, events: pa.Table) -> None:
    """Refuse the answers to questions beyond the first MOST_QUESTIONS of a form session in this chunk, by
    code point. Figures have none of them, in whichever chunks they come (`jobs/facts/answers.py`)."""
    is_answer = pc.not_equal(events["field_id"], "").combine_chunks()
    rows = np.flatnonzero(is_answer.to_numpy(zero_copy_only=False) & columns.accepted())
    answers = events.select([*_SESSION, "field_id"]).take(pa.array(rows))
    counts = answers["form_session_id"].value_counts()
    large = counts.filter(pc.greater(counts.field("counts"), MOST_QUESTIONS)).field("values")
    if not len(large):
        return
    is_large = pc.is_in(answers["form_session_id"], large).to_numpy()
    questions: dict[tuple[Any, ...], dict[str, list[int]]] = {}
    for row, answer in zip(rows[is_large], answers.filter(is_large).to_pylist(), strict=True):
        *session, question = answer.values()
        questions.setdefault(tuple(session), {}).setdefault(question, []).append(row)
    for of_session in questions.values():
        for question in sorted(of_session)[MOST_QUESTIONS:]:
            reason = f"beyond the first {MOST_QUESTIONS} questions of its form session"
            columns.refuse(of_session[question], "field_id", reason)


_OF_STEP: Final = ("step_id", "step_index")
_SESSION: Final = ("shop_key", "form_id", "form_session_id")
_OF_ANSWER: Final = ("field_id", "field_type", "value")
_READ_TOGETHER: Final = {
    *(SHOP_ID.name, FORM_ID.name, SOURCE.name, FORM_NAME.name, ON_OWN_PAGE.name),
    *(*_OF_ANSWER, "email", "email_sha256"),
}


def read_emails(columns: ChunkColumns) -> pa.DictionaryArray:
    """The plain hash of `email`, or else `email_sha256`; where only the keyed one is known, its mark."""
    email, sha256 = BUYER_FIELDS[1:]
    hashed = columns.read(email)
    absent = pc.equal(hashed, "")
    stated = columns.read(sha256, only=absent.to_numpy(zero_copy_only=False))
    return pc.if_else(absent, stated, hashed).dictionary_encode()


def keyed_hashes(emails: pa.DictionaryArray, hasher: EmailHasher) -> pa.Array:
    """The keyed hashes of `read_emails`."""
    keyed = [keyed_of(text) or hasher.keyed(text) for text in emails.dictionary.to_pylist()]
    return pa.array(keyed, pa.string()).take(emails.indices)
