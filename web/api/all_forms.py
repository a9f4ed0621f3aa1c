"""The funnels of all forms in one answer, for pages that list forms.

The API gives them form by form (6 and 13). A page that sorts two hundred forms by revenue cannot ask as
often.
"""

from typing import Final

import numpy as np

from warehouse.daily.group_sum import total
from warehouse.daily.reader import Sums
from warehouse.domain.hash_ids import text_id
from web.api.endpoint import Endpoint
from web.api.figures import figures, zeros
from web.api.forms import all_forms_funnel
from web.api.query import Query
from web.api.schemas.forms import FormFunnel, FunnelFigures


def all_funnels(query: Query) -> list[FormFunnel]:
    """The funnel of every form with an event in the window, by views descending.

    Orders and revenue are on the submission clock.
    """
    window = query.window
    days = query.outcomes("funnel", within=None, by=("form", "day")).columns
    forms, index = np.unique(days["form"], return_inverse=True)
    submissions = np.zeros((len(forms), window.last - window.first + 1), dtype=np.int64)
    submissions[index, days["day"] - window.first] = days["submissions"]
    by_day = dict(zip(forms.tolist(), submissions.tolist(), strict=True))
    columns = {name: column for name, column in days.items() if name != "day"}
    sums = {line["form"]: line for line in Sums(total(columns, ("form",))).rows()}
    rows: list[FormFunnel] = []
    for known in all_forms_funnel(query, None):
        form = text_id(known["formId"])
        rows.append(
            {
                "formId": known["formId"],
                "formName": known["formName"],
                **figures(FunnelFigures, sums.get(form) or zeros("funnel", "outcome")),
                "submissionsByDay": by_day.get(form, []),
            }
        )
    return rows


# No resource has it: it has no address, and pages alone ask it.
ALL_FUNNELS: Final = Endpoint("GET", "/forms/funnels", "analytics:read", all_funnels)
