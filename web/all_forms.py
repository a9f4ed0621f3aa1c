"""The funnel of every form of the shop (endpoint 3)."""

from web.form_store import known_forms
from web.questions import Question
from web.shapes.forms import AllFormsRow


def all_forms_funnel(question: Question, form_ids: frozenset[str] | None) -> list[AllFormsRow]:
    """The funnel of every form of the shop, by views descending.

    Without `form_ids`: every form with any event in the window, whether the shop's forms know it
    or not. With it: those of the ids that are forms of the shop or have an event in the window.
    """
    activity = question.sums("activity", by=("form",))
    active = activity["form"][activity["events"] > 0].tolist()
    texts = question.texts(active)
    shown = {texts[form]: form for form in active}
    if form_ids is not None:
        known = known_forms(question.connection, question.shop.key, form_ids)
        shown = {form_id: shown.get(form_id, 0) for form_id in known | (shown.keys() & form_ids)}
    funnels = {row["form"]: row for row in question.sums("all_forms", by=("form",)).rows()}
    rows: list[AllFormsRow] = []
    for form_id, form in shown.items():
        funnel = funnels.get(form, {})
        rows.append(
            {
                "formId": form_id,
                "views": funnel.get("views", 0),
                "subscriptions": funnel.get("subscriptions", 0),
                "completions": funnel.get("completions", 0),
            }
        )
    return sorted(rows, key=lambda row: (-row["views"], row["formId"]))
