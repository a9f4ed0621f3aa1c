"""The addresses of the dashboard."""

from collections.abc import Callable
from typing import Any, Final

from flask import Response, request
from flask.blueprints import BlueprintSetupState

from web.dashboard import formatting
from web.dashboard.address import address, carried
from web.dashboard.ads import ads
from web.dashboard.customers import customers
from web.dashboard.data import data, retry
from web.dashboard.discounts import discounts
from web.dashboard.forget import forget
from web.dashboard.forms import forms
from web.dashboard.one_form import one_form
from web.dashboard.overview import overview
from web.dashboard.page import View, open_view
from web.dashboard.revenue import revenue
from web.http.errors import asks_for_page, malformed, not_found
from web.pages import page_request

blueprint: Final = page_request.members_blueprint(
    "dashboard",
    __name__,
    prefix=None,
    static_folder="static",
    static_url_path="/settings/dashboard",
    template_folder="templates",
)
for name, filter in formatting.FILTERS.items():
    blueprint.add_app_template_filter(filter, name)

# In the order of the navigation.
PAGES: Final = (
    ("dashboard.overview", "Overview"),
    ("dashboard.forms", "Forms"),
    ("dashboard.revenue", "Revenue"),
    ("dashboard.discounts", "Discounts"),
    ("dashboard.ads", "Ads"),
    ("dashboard.customers", "Customers"),
)


# Rows of a table; a page stays light however many campaigns there are.
_MOST_ROWS: Final = 100


@blueprint.record_once
def _share_with_templates(state: BlueprintSetupState) -> None:
    state.app.jinja_env.globals.update(
        dashboard_pages=PAGES, most_rows=_MOST_ROWS, address=address, parameters=carried
    )


def _add(path: str, name: str, show: Callable[..., Any], *, at_primary: bool = False) -> None:
    def view(**values: str) -> Any:
        if not asks_for_page():
            raise not_found()
        return show(open_view(at_primary=at_primary), **values)

    blueprint.add_url_rule(path, name, view, provide_automatic_options=False)


def _csv(view: View) -> Response:
    """The answer to a question of a page, as the API gives it."""
    if view.selection.problem:
        # A file of other days than were asked for would be taken for theirs.
        raise malformed("invalid_range", view.selection.problem)
    asked = dict(request.args)
    path, form_id = asked.pop("path", ""), asked.pop("form", "").lower()
    if "{id}" in path and view.form(form_id) is None:
        raise not_found()
    return view.answers.csv(path, view.selection.window, form_id, asked)


_add("/", "overview", overview)
_add("/forms", "forms", forms)
_add("/forms/<form_id>", "one_form", one_form)
_add("/revenue", "revenue", revenue)
_add("/discounts", "discounts", discounts)
_add("/ads", "ads", ads)
_add("/customers", "customers", customers)
_add("/data", "data", data, at_primary=True)
blueprint.add_url_rule(
    "/data/retry", "retry", retry, methods=["POST"], provide_automatic_options=False
)
blueprint.add_url_rule(
    "/data/forget", "forget", forget, methods=["POST"], provide_automatic_options=False
)
_add("/data/csv", "csv", _csv)
