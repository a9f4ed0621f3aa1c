"""Forms: the funnel of all of them (endpoint 3); list, create, get, replace the draft (1, 2, 4, 5)."""

from typing import Any, Final

import numpy as np
import orjson

from warehouse.domain.time import iso_millis
from web.api import form_quota, forms_table
from web.api.endpoint import VERSION, for_pages, get, write
from web.api.filters import FILTERS
from web.api.forms_table import FormRow, FormVersion, read_cursor, write_cursor
from web.api.meta import LIST_META
from web.api.query import Query
from web.api.rows import FORM_COLUMNS, Answer, PlainColumn, Row, column, text, zeros
from web.http.current_request import uuid7
from web.http.etags import (
    IF_MATCH,
    State,
    digest,
    is_conditional,
    precondition_failed,
    require_match,
)
from web.http.idempotency import IDEMPOTENCY_KEY, first_creation, idempotency_key
from web.http.json_body import read_body
from web.http.parameters import CURSOR, FORM_IDS, LIMIT
from web.http.services import services

# `web/http/json_body.py` accepts the same: 1 to 255 characters after trimming, and no NUL.
_BLANK: Final = r"\s\u001c-\u001f"
_NAME: Final = rf"^[{_BLANK}]*[^{_BLANK}\u0000]([^\u0000]{{0,253}}[^{_BLANK}\u0000])?[{_BLANK}]*$"


def _object(name: str, words: str, *, null: bool = False) -> PlainColumn:
    """A JSON object that is kept as it was written."""
    kind = {"additionalProperties": True, "type": "object"}
    if null:
        return column(name, "", words, {"anyOf": [kind, {"type": "null"}]})
    return PlainColumn(
        name, "", {"additionalProperties": True, "description": words, "type": "object"}
    )


# fmt: off
_SUMMARY: Final = (
    text("id", "Form", "The form's id.", format="uuid"),
    text("name", "Name", "The form's name."),
    text("status", "Status",
        "`draft` for a form that was created here. An imported form has the status of its platform."),
    text("updatedAt", "Updated", "When the form or its draft last changed.", format="date-time"),
)
SUMMARY: Final = Row("FormSummary", "A form.", *_SUMMARY)
FORM: Final = Row(
    "Form",
    "A form with its schema and its draft.",
    *_SUMMARY,
    _object("schema", "The form's schema, exactly as it was written; null if it has none.", null=True),
    _object("draftSchema", "The form's draft, exactly as it was written; null if it has none.", null=True),
)
NEW_FORM: Final = Row(
    "NewForm",
    "A form to create. Unknown fields are ignored.",
    text("name", "", "The form's name: 1 to 255 characters. Blanks around it are removed.", pattern=_NAME),
    _object("schema",
        "The form's schema: any JSON object. It is kept exactly as written. Pages show the labels in "
        "`fields: [{id, label, options: [{value, label}]}]`, at its top or in each of its `steps`."),
)
DRAFT: Final = Row(
    "DraftReplacement",
    "A form's new draft. Unknown fields are ignored.",
    _object("draft_schema", "The form's new draft: any JSON object. It is kept exactly as written."),
)
ALL_FORMS_ROW: Final = Row(
    "AllFormsRow",
    "One form in the window. Order: views descending, then formId.",
    *FORM_COLUMNS,
    "views subscriptions completions",
    owner="Every form that was shown in these days, also those that the shop's list does not have.",
)
FORM_DAYS: Final = Row(
    "FormDays",
    "The submissions of a form, day by day: for pages.",
    text("formId", "Form", "The form's id."),
    column("submissionsByDay", "Submissions a day",
        "Submissions on each day of the window.",
        {"type": "array", "items": {"type": "integer"}}),
)
# fmt: on


@get("/forms/funnel", "analytics:read", ALL_FORMS_ROW, FORM_IDS, filters=FILTERS)
def all_forms_funnel(query: Query, form_ids: frozenset[str] | None) -> list[dict[str, Any]]:
    """The funnel of every form of the shop, by views descending.

    Without `form_ids`: a row for every form with an event in the window, even if the shop's list of
    forms does not have it. With `form_ids`: a row for each of them that is a form of the shop or has an
    event in the window.
    """
    sums = query.sums("all_forms", by=("form",))
    active = {row["form"]: row for row in sums.rows() if row["events"] > 0}
    texts = query.texts(active)
    forms = {texts[form]: row for form, row in active.items()}
    names = query.form_names(forms if form_ids is None else form_ids)
    if form_ids is not None:
        none = zeros("all_forms")
        forms = {id: forms.get(id, none) for id in form_ids if id in names or id in forms}
    rows = [ALL_FORMS_ROW.filled((id, names.get(id)), row) for id, row in forms.items()]
    return sorted(rows, key=lambda row: (-row["views"], row["formId"]))


@for_pages("submissions by day", FORM_DAYS, parameters=FILTERS, filters=FILTERS)
def submissions_by_day(query: Query) -> list[dict[str, Any]]:
    """The submissions of each form on each day: a page draws two hundred forms at once."""
    window = query.window
    days = query.sums("funnel", by=("form", "day")).columns
    forms, index = np.unique(days["form"], return_inverse=True)
    submissions = np.zeros((len(forms), window.last - window.first + 1), dtype=np.int64)
    submissions[index, days["day"] - window.first] = days["submissions"]
    texts = query.texts(forms.tolist())
    rows = zip(forms.tolist(), submissions.tolist(), strict=True)
    return [{"formId": texts[form], "submissionsByDay": by_day} for form, by_day in rows]


@get(
    "/forms",
    None,
    SUMMARY,
    LIMIT,
    CURSOR,
    ranged=False,
    meta=LIST_META,
    at_primary=True,
    response_headers=("Link",),
)
def list_forms(query: Query, limit: int, cursor: str | None) -> Answer:
    """All forms, page by page.

    Form summaries, newest first. `meta.nextCursor` is null on the last page. The header `Link` has the
    address of the next page, with `rel="next"`.
    """
    after = None
    if cursor is not None:
        after = read_cursor(cursor)
        if after is None or not forms_table.is_position(query.connection, query.shop.key, after):
            return Answer([], meta={"nextCursor": None})
    rows = forms_table.list_forms(query.connection, query.shop.key, limit + 1, after)
    page = rows[:limit]
    last = page[-1] if len(rows) > limit else None
    next_cursor = last and write_cursor((last.created_at, last.form_id))
    return Answer([_summary(row) for row in page], meta={"nextCursor": next_cursor})


@write(
    "POST",
    "/forms",
    "forms:write",
    NEW_FORM,
    SUMMARY,
    refusals={409: form_quota.CODE},
    status=201,
    request_headers=(IDEMPOTENCY_KEY,),
    response_headers=("Location",),
)
def create_form(query: Query) -> Answer:
    """Creates a form.

    The new form has the status `draft`.
    """
    body = read_body()
    name, schema = body.name("name"), body.object_text("schema")
    key, now = idempotency_key(), query.now
    form_id = first_id = uuid7(now)
    with services().database.write() as connection:
        if key is not None:
            first_id, now = first_creation(
                connection, query.credential_id, key, (name, schema), form_id, now
            )
        created = FormRow(first_id, name, "draft", now, now)
        if first_id == form_id:
            forms_table.create_form(connection, query.shop.key, created, schema)
        connection.commit()
    return Answer(
        _summary(created),
        {"Location": f"{VERSION}/forms/{first_id}"},
        state=_state(FormVersion(created, schema, schema)),
    )


def form_state(query: Query) -> State:
    """The state of the form in the path, which other data does not change."""
    return _state(_version(query))


@get("/forms/{id}", None, FORM, single=True, ranged=False, own_state=form_state, at_primary=True)
def get_form(query: Query) -> dict[str, Any]:
    """One form, with its schema and its draft."""
    version = _version(query)
    return {
        **_summary(version.form),
        "schema": _as_written(version.schema),
        "draftSchema": _as_written(version.draft_schema),
    }


@write(
    "PUT",
    "/forms/{id}",
    "forms:write",
    DRAFT,
    SUMMARY,
    refusals={409: form_quota.CODE},
    request_headers=(IF_MATCH,),
)
def replace_draft(query: Query) -> Answer:
    """Replaces a form's draft.

    With `If-Match`, only the version that the client has seen is replaced. The form's status stays what
    it was.
    """
    draft_schema = read_body().object_text("draft_schema")
    seen = None
    if is_conditional():
        seen = _version(query)
        require_match(_state(seen))
    with services().database.write() as connection:
        replaced = forms_table.replace_draft(
            connection, query.shop.key, query.form_id, draft_schema, query.now, seen
        )
        connection.commit()
    if replaced is None:
        raise precondition_failed()
    return Answer(_summary(replaced.form), state=_state(replaced))


def _version(query: Query) -> FormVersion:
    return forms_table.get_version(query.connection, query.shop.key, query.form_id)


def _state(version: FormVersion) -> State:
    form = version.form
    parts = form.form_id, form.name, form.status, form.updated_at
    return State(digest(*parts, version.schema, version.draft_schema), form.updated_at)


def _summary(form: FormRow) -> dict[str, Any]:
    return {
        "id": form.form_id,
        "name": form.name,
        "status": form.status,
        "updatedAt": iso_millis(form.updated_at),
    }


def _as_written(text: str) -> orjson.Fragment | None:
    """A JSON object that the answer repeats as it was written: Python has no number for `1e400`."""
    return orjson.Fragment(text) if text else None
