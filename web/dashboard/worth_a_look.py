"""Worth a look: the few things on the overview that need a person."""

from collections.abc import Mapping
from typing import Any, Final

from web.dashboard.ads import LOW_COVERAGE, REASONS
from web.dashboard.compare import ComparedRow
from web.dashboard.discounts import discount_names, is_used_by_others
from web.dashboard.forms_table import ShopForms
from web.dashboard.losses import shop_losses, step_name
from web.dashboard.page import View
from web.dashboard.statistics import p_greater
from web.reports.discounts import discount_performance

# Rates and codes that are named; the pages behind the links have all.
_RATES: Final = 5
_CODES: Final = 3
# A form is advised to be shown more often (`seldom_seen`).
_SELDOM: Final = 1 / 3
_MUCH: Final = 1.5
_LEVEL: Final = 0.05


def worth_a_look(view: View, ads: Mapping[str, Any], forms: ShopForms) -> dict[str, Any]:
    """The notes for the template; {} without any. `losses` are rates that got worse than before, more than
    chance does to so many as were `tested`, the surest first, each with its cell and the names of its form
    and its step. `codes` have more orders than submissions that got them; `names` are what they are called,
    if not by their id. There are `more` of both."""
    (worse, tested), codes = shop_losses(view, forms), []
    if view.may_see(discount_performance):
        codes = [row for row in view.data(discount_performance) if is_used_by_others(row)]
    notes: dict[str, Any] = {
        "providers": [
            (entry["provider"], REASONS[entry["reason"]]) for entry in ads["unavailableProviders"]
        ],
        "coverage": [
            (provider, coverage)
            for provider, coverage in sorted(ads["attributionCoverage"].items())
            if coverage is not None and coverage < LOW_COVERAGE
        ],
        "losses": [
            (loss, loss.cell(view), forms.names.get(loss.form_id, ""), step_name(view, loss))
            for loss in worse[:_RATES]
        ],
        "codes": codes[:_CODES],
        "advice": seldom_seen(forms),
    }
    more = {
        "more_losses": len(worse[_RATES:]),
        "tested": tested,
        "names": discount_names(view, codes[:_CODES]),
        "more_codes": len(codes[_CODES:]),
    }
    return notes | more if any(notes.values()) else {}


def seldom_seen(forms: ShopForms) -> dict[str, Any] | None:
    """The one thing to do that the figures support, if any: the form to show more often, with its net revenue
    per view, beside that of all others together, and its share of all views.

    It has at most a third of all views, and earns most per view: half as much again as all others together.
    More of its views end with an order than of theirs, beyond chance: the p-value, times the forms among
    which it was found, is at most 5 %. So a few large orders alone advise nothing.
    """
    rows = [row for row in forms.rows.rows() if row["formId"] in forms.names and row["views"]]
    if len(rows) < 2:
        return None

    def per_view(row: ComparedRow) -> float:
        return float(row["netRevenueCents"] / row["views"])

    best = max(rows, key=per_view)
    others = [row for row in rows if row is not best]
    views = sum(row["views"] for row in others)
    others_per_view = sum(row["netRevenueCents"] for row in others) / views
    share = best["views"] / (views + best["views"])
    bought = [row.rate("convertedSubmissions", "views").shown or (0, 0) for row in (best, *others)]
    rest = [sum(numbers) for numbers in zip(*bought[1:], strict=True)]
    p_value = len(rows) * p_greater(*bought[0], *rest)
    if share > _SELDOM or per_view(best) < _MUCH * others_per_view or p_value > _LEVEL:
        return None
    return {
        "form_id": best["formId"],
        "form_name": forms.names[best["formId"]],
        "cents": round(per_view(best)),
        "others_cents": round(others_per_view),
        "share": round(100 * share),
    }
