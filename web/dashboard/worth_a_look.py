"""Worth a look: the few things on the overview that need a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from web.dashboard.ads import LOW_COVERAGE, REASONS
from web.dashboard.compare import ComparedRow
from web.dashboard.discounts import discount_names, is_used_by_others
from web.dashboard.forms_table import ShopForms
from web.dashboard.losses import Loss, shop_losses
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


@dataclass(frozen=True, slots=True)
class Notes:
    """`providers`: (provider, the advice). `coverage`: (provider, per cent). `losses` are rates that got
    worse than before, more than chance does to so many as were `tested`, the surest first. `codes` have more
    orders than submissions that got them; `names` are what they are called, if not by their id. There are
    `more` of both. `advice` is the one thing to do that the figures support, if any."""

    providers: Sequence[tuple[str, str]]
    coverage: Sequence[tuple[str, float]]
    losses: Sequence[Loss]
    more_losses: int
    tested: int
    codes: Sequence[Mapping[str, Any]]
    names: Mapping[str, str]
    more_codes: int
    advice: "Advice | None"

    def __bool__(self) -> bool:
        return any((self.providers, self.coverage, self.losses, self.codes, self.advice))


@dataclass(frozen=True, slots=True)
class Advice:
    """A form that earns most per view and is seldom seen: its net revenue per view, beside that of all others
    together, and its share of all views."""

    form_id: str
    form_name: str
    cents: int
    others_cents: int
    share: float


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
        advice=seldom_seen(forms),
    )


def seldom_seen(forms: ShopForms) -> Advice | None:
    """The form to show more often, if there is one.

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
    bought = [row.rate("convertedSubmissions", "views").shown for row in (best, *others)]
    rest = [sum(numbers) for numbers in zip(*bought[1:], strict=True)]
    p_value = len(rows) * p_greater(*bought[0], rest[0], rest[1])
    if share > _SELDOM or per_view(best) < _MUCH * others_per_view or p_value > _LEVEL:
        return None
    return Advice(
        best["formId"],
        forms.names[best["formId"]],
        round(per_view(best)),
        round(others_per_view),
        round(100 * share),
    )


def _codes(view: View) -> list[dict[str, Any]]:
    """None of them for members who may not see live codes."""
    if not view.may_see(discount_performance):
        return []
    return [row for row in view.data(discount_performance) if is_used_by_others(row)]
