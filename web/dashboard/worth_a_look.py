"""Worth a look: the few things on the overview that need a person."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from web.dashboard.ads import LOW_COVERAGE, REASONS
from web.dashboard.compare import ComparedRow
from web.dashboard.discounts import is_used_by_others
from web.dashboard.one_form import risen_steps
from web.dashboard.page import View
from web.reports.discounts import discount_performance

# Steps and codes that are named; the pages behind the links have all.
_NAMED: Final = 3


def worth_a_look(
    view: View, ads: Mapping[str, Any], forms: Sequence[ComparedRow]
) -> dict[str, Any]:
    """`providers`: (provider, the advice). `coverage`: (provider, per cent). `forms` are submitted less often
    than before, beyond chance. `steps` lose more than before, beyond chance, each with its form; the greatest
    rise first. `codes` have more orders than submissions that got them.

    `forms` are those that are looked at: among very many, chance alone moves some beyond chance.
    """
    codes = _codes(view)
    steps = [(form, step) for form in forms for step in risen_steps(view, form["formId"])[:1]]
    return {
        "providers": [
            (entry["provider"], REASONS[entry["reason"]]) for entry in ads["unavailableProviders"]
        ],
        "coverage": [
            (provider, coverage)
            for provider, coverage in sorted(ads["attributionCoverage"].items())
            if coverage is not None and coverage < LOW_COVERAGE
        ],
        "forms": [form for form in forms if _is_worse(form)],
        "steps": sorted(steps, key=lambda pair: -(pair[1].rate.change or 0))[:_NAMED],
        "codes": codes[:_NAMED],
        "more_codes": len(codes[_NAMED:]),
    }


def _is_worse(form: ComparedRow) -> bool:
    rate = form.rate("submissions", "views")
    return rate.change is not None and rate.change < 0 and not rate.is_chance


def _codes(view: View) -> list[dict[str, Any]]:
    """None of them for members who may not see live codes."""
    if not view.may_see(discount_performance):
        return []
    return [row for row in view.data(discount_performance) if is_used_by_others(row)]
