"""Forms: list, create, get, replace the draft (endpoints 1, 2, 4, 5), all-forms funnel (3)."""

from flask import current_app

from warehouse.days import iso_millis
from web import form_store
from web.all_forms import all_forms_funnel
from web.bodies import read_body
from web.cursors import read_cursor, write_cursor
from web.endpoint import VERSION, Answer, Endpoint
from web.endpoint import blueprint as resource
from web.form_store import Draft, FormRow
from web.parameters import CURSOR, FORM_IDS, LIMIT
from web.questions import Question
from web.retries import IDEMPOTENCY_KEY, first_creation, idempotency_key
from web.shapes.envelope import ListMeta
from web.shapes.forms import DraftReplacement, FormSummary, NewForm
from web.uuid7 import uuid7
from web.validators import (
    IF_MATCH,
    State,
    digest,
    is_conditional,
    precondition_failed,
    require_match,
)


def list_forms(question: Question, limit: int, cursor: str | None) -> Answer[list[FormSummary]]:
    """All forms, page by page.

    Form summaries, newest first. `meta.nextCursor` is null on the last page; the address of a next
    one is in `Link`, too, with `rel="next"`.
    """
    after = None
    if cursor is not None:
        after = read_cursor(cursor)
        if after is None or not form_store.stands_at(question.connection, question.shop.key, after):
            return Answer([], meta={"nextCursor": None})
    rows = form_store.list_forms(question.connection, question.shop.key, limit + 1, after)
    page = rows[:limit]
    last = page[-1] if len(rows) > limit else None
    following = last and write_cursor((last.created_at, last.form_id))
    return Answer(
        [_summary(row) for row in page],
        meta={"nextCursor": following},
    )


def create_form(question: Question) -> Answer[FormSummary]:
    """Creates a form.

    A new form, in status `draft`.
    """
    body = read_body()
    name, schema = body.name("name"), body.object_text("schema")
    key, now = idempotency_key(), question.now
    form_id = first_id = str(uuid7(now))
    with current_app.extensions["database"].write() as connection:
        if key is not None:
            asked = name, schema
            first_id, now = first_creation(
                connection, question.credential_id, key, asked, form_id, now
            )
        created = form_store.new_form(first_id, name, now)
        if first_id == form_id:
            form_store.create_form(connection, question.shop.key, created, schema)
        connection.commit()
    return Answer(
        _summary(created),
        {"Location": f"{VERSION}/forms/{first_id}"},
        state=_state(Draft(created, schema)),
    )


def form_state(question: Question) -> State:
    """The state of the form asked about and its draft, whatever becomes of other data."""
    return _state(form_store.get_draft(question.connection, question.shop.key, question.form_id))


def get_form(question: Question) -> FormSummary:
    """One form."""
    form = form_store.get_form(question.connection, question.shop.key, question.form_id)
    return _summary(form)


def replace_draft(question: Question) -> Answer[FormSummary]:
    """Replaces a form's draft.

    With `If-Match` only that which the client has seen. The form's status stays what it was.
    """
    draft_schema = read_body().object_text("draft_schema")
    shop_key, form_id, seen = question.shop.key, question.form_id, None
    if is_conditional():
        seen = form_store.get_draft(question.connection, shop_key, form_id)
        require_match(_state(seen))
    with current_app.extensions["database"].write() as connection:
        replaced = form_store.replace_draft(
            connection, shop_key, form_id, draft_schema, question.now, seen
        )
        connection.commit()
    if replaced is None:
        raise precondition_failed()
    return Answer(_summary(replaced), state=_state(Draft(replaced, draft_schema)))


def _state(draft: Draft) -> State:
    form = draft.form
    parts = form.form_id, form.name, form.status, form.updated_at, draft.schema
    return State(digest(*parts), form.updated_at)


def _summary(form: FormRow) -> FormSummary:
    return {
        "id": form.form_id,
        "name": form.name,
        "status": form.status,
        "updatedAt": iso_millis(form.updated_at),
    }


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
        says={"Link": 'The next page, with `rel="next"`; not on the last one.'},
    ),
    Endpoint(
        "POST",
        "/forms",
        "forms:write",
        create_form,
        ranged=False,
        body=NewForm,
        status=201,
        takes=(IDEMPOTENCY_KEY,),
        says={"Location": "The address of the form that was created."},
    ),
    Endpoint("GET", "/forms/funnel", "analytics:read", all_forms_funnel, (FORM_IDS,)),
    Endpoint("GET", "/forms/{id}", None, get_form, ranged=False, state=form_state),
    Endpoint(
        "PUT",
        "/forms/{id}",
        "forms:write",
        replace_draft,
        ranged=False,
        body=DraftReplacement,
        takes=(IF_MATCH,),
    ),
)
