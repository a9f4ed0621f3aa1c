"""The rates of the shop that got worse than before, more than chance does to so many rates.

Steps that lose more, forms that are submitted less often, and the shop as a whole are tested together: among
sixteen rates that are as they were, some week makes one of them look worse by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Final

from web.dashboard.statistics import FEW, benjamini_hochberg, p_greater

Counts = tuple[int, int]
"""The hits and the trials of a rate."""

FORM: Final = "form"
STEP: Final = "step"
SHOP: Final = "shop"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rate that may have got worse: the `figure` (the API's name of it) of a step, of a form or of the shop
    (`kind`), `now` and `before`; None where nothing is compared."""

    kind: str
    figure: str
    now: Counts | None
    before: Counts | None
    form_id: str = ""
    step_id: str = ""

    @property
    def is_tested(self) -> bool:
        """Whether both samples are large enough to say anything."""
        return all(counts is not None and counts[1] >= FEW for counts in (self.now, self.before))

    @property
    def p_value(self) -> float:
        """That it got worse, of a tested rate."""
        assert self.now
        assert self.before
        if self.figure == "dropoffRate":
            return p_greater(*self.now, *self.before)
        return p_greater(*self.before, *self.now)


def losses(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that got worse, the surest first.

    Where no rate has really changed, there is one in at most 1 of 20 lists; where some have, at most 1 of 20
    that are in lists has not.
    """
    tested = [candidate for candidate in candidates if candidate.is_tested]
    p_values = [candidate.p_value for candidate in tested]
    worse = compress(zip(p_values, tested, strict=True), benjamini_hochberg(p_values))
    return [candidate for _, candidate in sorted(worse, key=lambda pair: pair[0])]
