"""Worth a look: the few things on the overview that need a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from web.dashboard.ads import LOW_COVERAGE, REASONS
from web.dashboard.discounts import discount_names, is_used_by_others
from web.dashboard.forms_table import ShopForms
from web.dashboard.losses import Loss, shop_losses
from web.dashboard.page import View
from web.reports.discounts import discount_performance

# Rates and codes that are named; the pages behind the links have all.
_RATES: Final = 5
_CODES: Final = 3


@dataclass(frozen=True, slots=True)
class Notes:
    """`providers`: (provider, the advice). `coverage`: (provider, per cent). `losses` are rates that got
    worse than before, more than chance does to so many as were `tested`, the surest first. `codes` have more
    orders than submissions that got them; `names` are what they are called, if not by their id. There are
    `more` of both."""

    providers: Sequence[tuple[str, str]]
    coverage: Sequence[tuple[str, float]]
    losses: Sequence[Loss]
    more_losses: int
    tested: int
    codes: Sequence[Mapping[str, Any]]
    names: Mapping[str, str]
    more_codes: int

    def __bool__(self) -> bool:
        return any((self.providers, self.coverage, self.losses, self.codes))


def worth_a_look(view: View, ads: Mapping[str, Any], forms: ShopForms) -> Notes:
    lost, codes = shop_losses(view, forms), _codes(view)
    return Notes(
        providers=[
            (entry["provider"], REASONS[entry["reason"]]) for entry in ads["unavailableProviders"]
        ],
        coverage=[
            (provider, coverage)
            for provider, coverage in sorted(ads["attributionCoverage"].items())
            if coverage is not None and coverage < LOW_COVERAGE
        ],
        losses=lost.worse[:_RATES],
        more_losses=len(lost.worse[_RATES:]),
        tested=lost.tested,
        codes=codes[:_CODES],
        names=discount_names(view, codes[:_CODES]),
        more_codes=len(codes[_CODES:]),
    )


def _codes(view: View) -> list[dict[str, Any]]:
    """None of them for members who may not see live codes."""
    if not view.may_see(discount_performance):
        return []
    return [row for row in view.data(discount_performance) if is_used_by_others(row)]
