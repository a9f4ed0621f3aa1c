"""Forms: list, create, get, replace the draft (endpoints 1, 2, 4, 5), all-forms funnel (3)."""

from urllib.parse import urlencode

from flask import current_app, request

from warehouse.days import iso_millis
from web import form_store
from web.all_forms import all_forms_funnel
from web.bodies import read_body
from web.cursors import read_cursor, write_cursor
from web.endpoint import VERSION, Answer, Endpoint
from web.endpoint import blueprint as resource
from web.form_store import FormRow
from web.parameters import CURSOR, FORM_IDS, LIMIT
from web.questions import Question
from web.shapes.envelope import ListMeta
from web.shapes.forms import DraftReplacement, FormSummary, NewForm
from web.uuid7 import uuid7


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
        headers={"Link": f'<{_with_cursor(following)}>; rel="next"'} if following else {},
        meta={"nextCursor": following},
    )


def _with_cursor(cursor: str) -> str:
    """The address of the request at hand, on the page of a cursor."""
    query = [(name, text) for name, text in request.args.items(multi=True) if name != "cursor"]
    return f"{request.path}?{urlencode([*query, ('cursor', cursor)])}"


def create_form(question: Question) -> Answer[FormSummary]:
    """Creates a form.

    A new form, in status `draft`.
    """
    body = read_body()
    name, schema = body.name("name"), body.object_text("schema")
    form_id = str(uuid7(question.now))
    with current_app.extensions["database"].write() as connection:
        created = form_store.create_form(
            connection, question.shop.key, form_id, name, schema, question.now
        )
        connection.commit()
    return Answer(_summary(created), {"Location": f"{VERSION}/forms/{form_id}"})


def get_form(question: Question) -> FormSummary:
    """One form."""
    form = form_store.get_form(question.connection, question.shop.key, question.form_id)
    return _summary(form)


def replace_draft(question: Question) -> FormSummary:
    """Replaces a form's draft.

    Its status stays what it was.
    """
    draft_schema = read_body().object_text("draft_schema")
    with current_app.extensions["database"].write() as connection:
        replaced = form_store.replace_draft(
            connection, question.shop.key, question.form_id, draft_schema, question.now
        )
        connection.commit()
    return _summary(replaced)


def _summary(form: FormRow) -> FormSummary:
    return {
        "id": form.form_id,
        "name": form.name,
        "status": form.status,
        "updatedAt": iso_millis(form.updated_at),
    }


blueprint = resource(
    "forms",
    Endpoint("GET", "/forms", None, list_forms, (LIMIT, CURSOR), ranged=False, meta=ListMeta),
    Endpoint(
        "POST",
        "/forms",
        "forms:write",
        create_form,
        ranged=False,
        body=NewForm,
        status=201,
        headers={"Location": "The address of the form that was created."},
    ),
    Endpoint("GET", "/forms/funnel", "analytics:read", all_forms_funnel, (FORM_IDS,)),
    Endpoint("GET", "/forms/{id}", None, get_form, ranged=False),
    Endpoint(
        "PUT", "/forms/{id}", "forms:write", replace_draft, ranged=False, body=DraftReplacement
    ),
)
