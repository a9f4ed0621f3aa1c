"""The addresses of the dashboard."""

import csv
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any, Final

from flask import Response, request
from flask.blueprints import BlueprintSetupState

from web import reports
from web.api.csv_table import BYTE_ORDER_MARK
from web.auth.permissions import MANAGE_CONNECTIONS
from web.dashboard import drop, formatting
from web.dashboard.ads import ads
from web.dashboard.charts.bars import sparkline
from web.dashboard.customers import customers, old_enough
from web.dashboard.data import data, forget, report, retry
from web.dashboard.discounts import discounts
from web.dashboard.forms import forms
from web.dashboard.one_form import one_form
from web.dashboard.orders import one_order, orders
from web.dashboard.overview import overview
from web.dashboard.page import Page, View, open_view
from web.dashboard.revenue import revenue
from web.dashboard.selection import Selection, address, carried, has_chosen_days
from web.dashboard.shops import shops
from web.dashboard.table import Table
from web.dashboard.undo import undo
from web.http.errors import STATIC, asks_for_page, malformed, not_found
from web.pages import page_request
from web.reports import receipts
from web.reports.discounts import discount_performance

blueprint: Final = page_request.members_blueprint(
    "dashboard",
    __name__,
    prefix=None,
    static_folder="static",
    static_url_path=f"{STATIC}/dashboard",
    template_folder="templates",
)
for name, filter in formatting.FILTERS.items():
    blueprint.add_app_template_filter(filter, name)
blueprint.add_app_template_filter(sparkline, "sparkline")

# In the order of the navigation.
PAGES: Final = (
    ("dashboard.overview", "Overview"),
    ("dashboard.forms", "Forms"),
    ("dashboard.revenue", "Revenue"),
    ("dashboard.discounts", "Discounts"),
    ("dashboard.ads", "Ads"),
    ("dashboard.customers", "Customers"),
)

# The pages that take filters, by the names of their addresses.
_FILTERED: Final = ("overview", "forms", "one_form", "orders", "csv")

_DATA: Final = MANAGE_CONNECTIONS, "see the Data page"


@blueprint.record_once
def _share_with_templates(state: BlueprintSetupState) -> None:
    state.app.jinja_env.globals.update(
        dashboard_pages=PAGES,
        reports=reports,
        address=address,
        parameters=carried,
        to_other_pages=_to_other_pages,
    )


def _to_other_pages(selection: Selection | None, place: str = "") -> dict[str, str]:
    """The parameters that the navigation carries along to a page: all that the page at hand shows, but no
    days that nobody chose, and filters only to where they are taken."""
    query = selection.query if selection else {}
    if selection and place.removeprefix("dashboard.") in _FILTERED:
        query = selection.filtered
    return {name: text for name, text in query.items() if name != "range" or has_chosen_days()}


def _add(
    path: str,
    name: str,
    show: Callable[..., Page | Response],
    *,
    at_primary: bool = False,
    default_range: Callable[[int], str] | None = None,
    needs: tuple[str, str] | None = None,
) -> None:
    def view(**values: str) -> Any:
        if not asks_for_page():
            raise not_found()
        page = open_view(
            at_primary=at_primary, default_range=default_range, takes_filters=name in _FILTERED
        )
        answer = show(page, **values)
        if not isinstance(answer, Page):
            return answer
        wanted = request.args.get("csv")
        if not wanted:
            return answer.html()
        _require_days(answer.view)
        return csv_of(answer, wanted)

    if needs:
        page_request.needs(*needs)(view)
    blueprint.add_url_rule(path, name, view)


def _require_days(view: View) -> None:
    """Raise the 400: a file of other days than were asked for would be taken for theirs."""
    if view.selection.days_problem:
        raise malformed("invalid_range", view.selection.days_problem)


def _csv(view: View) -> Response:
    """The answer to a question of a page, as the API gives it."""
    _require_days(view)
    asked = dict(request.args)
    path, form_id = asked.pop("path", ""), asked.pop("form", "").lower()
    if "{id}" in path and view.form(form_id) is None:
        raise not_found()
    return view.answers.csv(path, view.selection.window, form_id, asked)


def csv_of(page: Page, name: str) -> Response:
    """All rows of the page's table of this name. Raises the 404 where the page has none."""
    tables = {each.name: each for each in _tables(page.values)}
    if name not in tables:
        raise not_found()
    text = StringIO(newline="")
    text.write(BYTE_ORDER_MARK)
    delimiter = ";" if formatting.decimal_mark() == "," else ","
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    writer.writerows(tables[name].plain)
    selection = page.view.selection
    filtered = "_filtered" if tables[name].view.answers.filters else ""
    file = f"{name}_{selection.first}_{selection.last}{filtered}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return Response(
        text.getvalue(), 200, headers, content_type="text/csv; charset=utf-8; header=present"
    )


def _tables(values: Any) -> Iterator[Table]:
    for value in values.values():
        if isinstance(value, Table):
            yield value
        elif isinstance(value, dict):
            yield from _tables(value)


_add("/", "overview", overview)
_add("/forms", "forms", forms)
_add("/forms/<form_id>", "one_form", one_form)
_add("/revenue", "revenue", revenue)
_add("/discounts", "discounts", discounts, needs=discount_performance.member_needs)
_add("/ads", "ads", ads)
_add("/customers", "customers", customers, default_range=old_enough)
_add("/orders", "orders", orders, needs=receipts.orders.member_needs)
_add("/orders/<text:order_id>", "order", one_order, needs=receipts.one_order.member_needs)
_add("/shops", "shops", shops)
_add("/data", "data", data, at_primary=True, needs=_DATA)
_add("/data/file", "file", drop.part, at_primary=True, needs=_DATA)
_add("/data/report", "report", report, needs=_DATA)
for path, form in (
    ("retry", retry),
    ("forget", forget),
    ("drop", drop.drop),
    ("take", drop.take),
    ("answer", drop.answer),
    ("discard", drop.discard),
    ("undo", undo),
):
    page_request.needs(*_DATA)(form)
    blueprint.add_url_rule(f"/data/{path}", path, form, methods=["POST"])
_add("/data/csv", "csv", _csv)
