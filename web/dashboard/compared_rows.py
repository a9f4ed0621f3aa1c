"""The rows of an answer, each beside the same row of the days before."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from web.dashboard.comparison import Amount, Rate
from web.dashboard.page import View


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """`row` and the row `before`, which is None where nothing is compared."""

    row: Mapping[str, Any]
    before: Mapping[str, Any] | None

    def amount(self, name: str) -> Amount:
        return Amount(self.row[name], self._before(name))

    def rate(self, hits: str, trials: str) -> Rate:
        return Rate(self.row[hits], self.row[trials], self._before(hits), self._before(trials))

    def _before(self, name: str) -> int | None:
        # A row that an answer leaves out has only zeros.
        return None if self.before is None else self.before.get(name, 0)


def compared_rows(view: View, path: str, form_id: str, *keys: str) -> list[ComparedRow]:
    """The rows of an answer about a form. The row before is the one with the same `keys`."""
    before = view.before(path, form_id)
    by_key = {tuple(row[key] for key in keys): row for row in before or ()}
    return [
        ComparedRow(
            row, None if before is None else by_key.get(tuple(row[key] for key in keys), {})
        )
        for row in view.data(path, form_id)
    ]
