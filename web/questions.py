"""A question: all that an endpoint may look at to answer one request.

Figures come through `sums` (daily rows) and `texts` (small dimension tables); an endpoint has no
other way to them, and the shop and its edition are never its to choose.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from warehouse.adding import Column
from warehouse.ids import text_id
from warehouse.reader import Sums, read, read_cells, read_visitors
from web.callers import Shop
from web.campaigns import Campaigns, KnownCampaigns
from web.dimensions import Dimensions, Utm
from web.ranges import Window


@dataclass(frozen=True, slots=True)
class Question:
    """`now` is an instant, `today` the shop's day of it; `form_id` is of a known form of the shop,
    in lower case ("" where the endpoint is about no form)."""

    connection: Connection
    dimensions: Dimensions
    campaigns: KnownCampaigns
    shop: Shop
    credential_id: str
    window: Window
    now: int
    today: int
    form_id: str

    def sums(
        self,
        summary: str,
        *,
        by: Sequence[str] = (),
        where: Mapping[str, int] | None = None,
    ) -> Sums:
        """The sum of a daily summary over the window."""
        window, edition = self.window, self.shop.edition
        return read(
            self.connection, summary, edition, window.first, window.last, by=by, where=where
        )

    def cells(self, summary: str, by: Sequence[str]) -> dict[str, Column]:
        """Columns `by` and all measures of a summary that is kept in cells, over the window, not
        added up: for who adds them up by something else."""
        window = self.window
        return read_cells(
            self.connection, summary, self.shop.edition, window.first, window.last, by
        )

    def form_sums(
        self, summary: str, *, by: Sequence[str] = (), where: Mapping[str, int] | None = None
    ) -> Sums:
        """The same, of the form asked about."""
        return self.sums(summary, by=by, where={"form": self.form, **(where or {})})

    def visitors(self) -> dict[int, int]:
        """Distinct visitors of the form asked about, by kind."""
        window = self.window
        return read_visitors(
            self.connection, self.shop.edition, window.first, window.last, self.form
        )

    @property
    def form(self) -> int:
        """The id that stands for the form in daily rows."""
        return text_id(self.form_id)

    def texts(self, ids: Iterable[int]) -> dict[int, str]:
        return self.dimensions.texts(self.connection, self.shop.edition, ids)

    def utms(self, ids: Iterable[int]) -> dict[int, Utm]:
        return self.dimensions.utms(self.connection, self.shop.edition, ids)

    def known_campaigns(self) -> Campaigns:
        """Every ad campaign that the shop knows."""
        return self.campaigns.of(self.connection, self.shop)
