"""Forms: the funnel of all of them (endpoint 3); list, create, get, replace the draft (1, 2, 4, 5)."""

from typing import Any, cast

import orjson

from warehouse.domain.time import iso_millis
from web.api import form_quota, forms_table
from web.api.endpoint import VERSION, Answer, Endpoint
from web.api.endpoint import blueprint as resource
from web.api.forms_table import FormRow, FormVersion, read_cursor, write_cursor
from web.api.query import Query
from web.api.schemas.envelope import ListMeta
from web.api.schemas.forms import AllFormsRow, DraftReplacement, Form, FormSummary, NewForm
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
from web.services import services


def all_forms_funnel(query: Query, form_ids: frozenset[str] | None) -> list[AllFormsRow]:
    """The funnel of every form of the shop, by views descending.

    Without `form_ids`: a row for every form with an event in the window, even if the shop's list of
    forms does not have it. With `form_ids`: a row for each of them that is a form of the shop or has an
    event in the window.
    """
    events = query.sums("events", by=("form",))
    active = events["form"][events["events"] > 0].tolist()
    texts = query.texts(active)
    forms = {texts[form]: form for form in active}
    names = query.form_names(forms if form_ids is None else form_ids)
    if form_ids is not None:
        forms = {id: forms.get(id, 0) for id in form_ids if id in names or id in forms}
    funnels = {row["form"]: row for row in query.sums("all_forms", by=("form",)).rows()}
    rows: list[AllFormsRow] = []
    for form_id, form in forms.items():
        funnel = funnels.get(form, {})
        rows.append(
            {
                "formId": form_id,
                "formName": names.get(form_id),
                "views": funnel.get("views", 0),
                "subscriptions": funnel.get("subscriptions", 0),
                "completions": funnel.get("completions", 0),
            }
        )
    return sorted(rows, key=lambda row: (-row["views"], row["formId"]))


def list_forms(query: Query, limit: int, cursor: str | None) -> Answer[list[FormSummary]]:
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


def create_form(query: Query) -> Answer[FormSummary]:
    """Creates a form.

    The new form has the status `draft`.
    """
    body = read_body()
    name, schema = body.name("name"), body.object_text("schema")
    key, now = idempotency_key(), query.now
    form_id = first_id = str(uuid7(now))
    with services().database.write() as connection:
        if key is not None:
            first_id, now = first_creation(
                connection, query.credential_id, key, (name, schema), form_id, now
            )
        created = forms_table.new_form(first_id, name, now)
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


def get_form(query: Query) -> Form:
    """One form, with its schema and its draft."""
    version = _version(query)
    return {
        **_summary(version.form),
        "schema": _object(version.schema),
        "draftSchema": _object(version.draft_schema),
    }


def replace_draft(query: Query) -> Answer[FormSummary]:
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


def _summary(form: FormRow) -> FormSummary:
    return {
        "id": form.form_id,
        "name": form.name,
        "status": form.status,
        "updatedAt": iso_millis(form.updated_at),
    }


def _object(text: str) -> dict[str, Any] | None:
    """A JSON object that the answer repeats as it was written: Python has no number for `1e400`."""
    return cast(dict[str, Any], orjson.Fragment(text)) if text else None


blueprint = resource(
    "forms",
    Endpoint(
        "GET",
        "/forms",
        None,
        list_forms,
        (LIMIT, CURSOR),
        ranged=False,
        meta=ListMeta,
        at_primary=True,
        response_headers={
            "Link": 'The address of the next page, with `rel="next"`. The last page has none.'
        },
    ),
    Endpoint(
        "POST",
        "/forms",
        "forms:write",
        create_form,
        ranged=False,
        body=NewForm,
        refusals={409: form_quota.CODE},
        status=201,
        request_headers=(IDEMPOTENCY_KEY,),
        response_headers={"Location": "The address of the new form."},
        at_primary=True,
    ),
    Endpoint("GET", "/forms/funnel", "analytics:read", all_forms_funnel, (FORM_IDS,)),
    Endpoint(
        "GET",
        "/forms/{id}",
        None,
        get_form,
        ranged=False,
        state=form_state,
        at_primary=True,
    ),
    Endpoint(
        "PUT",
        "/forms/{id}",
        "forms:write",
        replace_draft,
        ranged=False,
        body=DraftReplacement,
        refusals={409: form_quota.CODE},
        request_headers=(IF_MATCH,),
        at_primary=True,
    ),
)
