"""Worth a look: the few things on the overview that need a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from web.auth.permissions import VIEW_DISCOUNTS
from web.dashboard.ads import LOW_COVERAGE, REASONS
from web.dashboard.discounts import used_by_others
from web.dashboard.page import View
from web.dashboard.shop_forms import FormLine
from web.dashboard.step_changes import RisenStep, risen_steps

# Steps and codes that are named; the pages behind the links have all.
_NAMED: Final = 3

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class WorthALook:
    """`providers`: (provider, the advice). `coverage`: (provider, per cent). `forms` are submitted less
    often than before, beyond chance. `steps` lose more than before, beyond chance, each with its form; the
    greatest rise first. `codes` have more orders than submissions that got them."""

    providers: list[tuple[str, str]]
    coverage: list[tuple[str, float]]
    forms: list[FormLine]
    steps: list[tuple[FormLine, RisenStep]]
    codes: Rows
    more_codes: int

    def __bool__(self) -> bool:
        return any((self.providers, self.coverage, self.forms, self.steps, self.codes))


def worth_a_look(view: View, ads: dict[str, Any], forms: Sequence[FormLine]) -> WorthALook:
    """`forms` are those that are looked at: among very many, chance alone moves some beyond chance."""
    codes = _codes(view)
    return WorthALook(
        providers=[
            (entry["provider"], REASONS[entry["reason"]]) for entry in ads["unavailableProviders"]
        ],
        coverage=[
            (provider, coverage)
            for provider, coverage in sorted(ads["attributionCoverage"].items())
            if coverage is not None and coverage < LOW_COVERAGE
        ],
        forms=[line for line in forms if _is_worse(line)],
        steps=_steps(view, forms),
        codes=codes[:_NAMED],
        more_codes=len(codes[_NAMED:]),
    )


def _is_worse(line: FormLine) -> bool:
    rate = line.submission_rate
    return rate.change is not None and rate.change < 0 and not rate.is_chance


def _steps(view: View, forms: Sequence[FormLine]) -> list[tuple[FormLine, RisenStep]]:
    """The step of each form whose drop-off rose most."""
    steps = [(line, step) for line in forms for step in risen_steps(view, line.form_id)[:1]]
    return sorted(steps, key=lambda pair: -(pair[1].rate.change or 0))[:_NAMED]


def _codes(view: View) -> Rows:
    """None of them for members who may not see live codes."""
    if VIEW_DISCOUNTS not in view.member.member.permissions:
        return []
    return used_by_others(view.data("/discounts/performance"))
