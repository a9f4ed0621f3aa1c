"""The most rows of an answer: contract section 4, "Common": "the others, in that order, are summed in one
more row whose text columns are `(other)`"."""

from dataclasses import dataclass
from typing import Any, Final

OTHER = "(other)"


@dataclass(frozen=True)
class RowLimits:
    """ "At most 10,000 rows (12: 1,000 values per field)"."""

    rows: int = 10_000
    values: int = 1_000


LIMITS: Final = RowLimits()
"""Those of the contract; tests also try smaller ones."""


@dataclass(frozen=True)
class Limited:
    """The `data` of an answer, and "their number": how many rows are summed in `(other)`."""

    data: Any
    other_rows: int
