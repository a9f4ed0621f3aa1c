"""The reports: a module each, with its rows as data and its functions; and all endpoints of the API, in the
order of its document. The endpoints of forms are in `web/api/forms.py`. START HERE: `discounts.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from web.api.endpoint import Endpoint
from web.api.forms import all_forms_funnel, create_form, get_form, list_forms, replace_draft
from web.api.notes import delete_note, list_notes, write_note
from web.reports.ads import ad_spend
from web.reports.attribution import attribution, attribution_daily
from web.reports.cross_field import cross_field
from web.reports.customers import lifetime_value
from web.reports.discounts import discount_performance
from web.reports.form_analytics import (
    form_devices,
    form_funnel,
    form_trends,
    step_dropoff,
    visitor_conversion,
)
from web.reports.new_returning import new_returning, new_returning_daily
from web.reports.receipts import one_order, orders
from web.reports.response_revenue import response_revenue
from web.reports.revenue_by_form import revenue_by_form
from web.reports.revenue_by_utm import revenue_by_utm
from web.reports.time_to_complete import time_to_complete
from web.reports.time_to_order import time_to_order


@dataclass(frozen=True)
class Chapter:
    """Endpoints that stand together in the document."""

    title: str
    description: str
    endpoints: tuple[Endpoint, ...]


CHAPTERS: Final = (
    Chapter(
        "Forms",
        "The shop's forms: list, create, get, replace the draft; and the funnel of all forms.",
        (list_forms, create_form, all_forms_funnel, get_form, replace_draft),
    ),
    Chapter(
        "Form analytics",
        "Analytics of one form, and the orders that followed from it.",
        (
            form_funnel,
            step_dropoff,
            time_to_complete,
            form_devices,
            visitor_conversion,
            cross_field,
            response_revenue,
            form_trends,
        ),
    ),
    Chapter(
        "Attribution",
        "The shop's revenue, by how its orders are credited to forms.",
        (attribution, attribution_daily),
    ),
    Chapter(
        "Discounts",
        "Discounts: how often they were issued and used, and the revenue of their orders.",
        (discount_performance,),
    ),
    Chapter("Revenue", "The shop's revenue by UTM values.", (revenue_by_utm,)),
    Chapter("Ads", "Ad spend and its return.", (ad_spend,)),
    Chapter("Customers", "Customer lifetime value.", (lifetime_value,)),
    Chapter(
        "Further reports",
        "Reports beyond the nineteen above, by the same rules.",
        (
            time_to_order,
            revenue_by_form,
            new_returning,
            new_returning_daily,
            orders,
            one_order,
        ),
    ),
    Chapter(
        "Notes",
        "Notes on days: what happened, beside the figures.",
        (list_notes, write_note, delete_note),
    ),
)
ENDPOINTS: Final = tuple(each for chapter in CHAPTERS for each in chapter.endpoints)
# Those that can be read, by path.
READABLE: Final[Mapping[str, Endpoint]] = {
    each.path: each for each in ENDPOINTS if each.method == "GET"
}
