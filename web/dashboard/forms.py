"""`/forms`: all forms, and two of them side by side."""

from typing import Any

from flask import request

from web.dashboard import statistics
from web.dashboard.page import View
from web.dashboard.shop_forms import FormLine, active_forms, form_line

# The rates in which two forms are compared: name, hits, trials.
_RATES = (
    ("Started", "starts", "views"),
    ("Submitted", "submissions", "views"),
    ("Bought after submitting", "convertedSubmissions", "submissions"),
)
# Forms on the page; the search finds the others.
_SHOWN = 100


def forms(view: View) -> str:
    known = active_forms(view)
    search = request.args.get("q", "").strip()
    chosen = [request.args.get(name, "") for name in ("one", "other")]
    pair = [form_line(view, *form) for form_id in chosen for form in known if form[0] == form_id]
    found = [form for form in known if search.lower() in form[1].lower()]
    return view.render(
        "forms.html",
        forms=[form_line(view, *form) for form in found[:_SHOWN]],
        found=found,
        all_forms=known,
        search=search,
        chosen=chosen,
        pair=pair,
        duel=_duel(*pair) if len(pair) == 2 else [],
    )


def _duel(one: FormLine, other: FormLine) -> list[dict[str, Any]]:
    """The rates of two forms, with the interval of their difference and a verdict."""
    rows = []
    for name, hits, trials in _RATES:
        counts = [line.figures[column] for line in (one, other) for column in (hits, trials)]
        difference = statistics.of_difference(*counts)
        better = one.name if difference.low > 0 else other.name
        rows.append(
            {
                "name": name,
                "rates": [(counts[0], counts[1]), (counts[2], counts[3])],
                "difference": difference,
                "verdict": "within chance" if difference.has_zero else f"“{better}” is better",
            }
        )
    return rows
