"""One request, from its key or its member to its answer: what is asked, and all that a report may read.

Figures come through `sums` and `outcomes` (daily rows) and `texts` (dimension tables). The shop
and its edition are those of the key; an endpoint cannot choose others.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, text

from warehouse.connections.look_ups import read_rows
from warehouse.daily.group_sum import Column
from warehouse.daily.reader import Chosen, DailyRows, Sums, last_mature_day
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import day_date, iso_millis
from warehouse.editions.pending_batches import from_pending
from web.api.filters import NAMES, chosen_sessions
from web.api.forms_table import form_names
from web.api.row_limit import RowLimits, TextsOf
from web.db.dimensions import Dimensions, Utm
from web.db.shop_cache import ShopCache
from web.http.content_type import JSON
from web.http.current_request import Shop
from web.http.date_range import Window

_OLDEST_PENDING: Final = text(f"SELECT MIN(p.imported_at) {from_pending(':edition')}")


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a request or a page. Figures are read from the snapshot of `connection`."""

    connection: Connection
    dimensions: Dimensions
    cache: ShopCache
    # How many rows an answer has at most.
    limits: RowLimits
    shop: Shop
    # The endpoint's, with `{id}` for the form's id.
    path: str
    # Those of the endpoint's parameters, by argument.
    values: Mapping[str, Hashable]
    # Days as they are on the shop's day `today`; `now` is the present instant.
    window: Window
    # The days to buy that submissions are given (`outcomes`).
    within: int | None
    today: int
    now: int
    # An existing form of the shop, in lower case; "" if the path has none.
    form_id: str = ""
    # The order or the note in the path.
    item_id: str = ""
    # Whether who asks may see live codes.
    sees_codes: bool = False
    # A page asks with none.
    credential_id: str = ""
    format: str = JSON
    # The form sessions that everything is read of; None: all (`of_chosen`).
    chosen: Chosen | None = None

    @property
    def filter(self) -> dict[str, str]:
        """The values of the filters that are given, by name."""
        given = ((name, self.values.get(name)) for name in NAMES)
        return {name: str(value) for name, value in given if value is not None}

    def of_chosen(self) -> "Query":
        """The query of the form sessions that the filters choose, else as this one."""
        if not self.filter:
            return self
        chosen = chosen_sessions(self.connection, self.shop.edition, self.filter)
        return replace(self, chosen=chosen)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The key under which the answer is kept, for all API keys of the shop and all formats."""
        shop, window = self.shop, self.window
        version = shop.key, shop.data_version, shop.data_changed_at
        values = tuple(self.values.values())
        days = window.first, window.last, self.within, self.today
        return version, self.path, self.form_id, self.item_id, self.sees_codes, values, days

    @property
    def state(self) -> tuple[Any, ...]:
        """All that the answer follows from, but the window and the present instant."""
        shop, values = self.shop, self.values.values()
        version = shop.key, shop.data_version, shop.data_changed_at
        sorted_values = [sorted(v) if isinstance(v, frozenset) else v for v in values]
        return version, self.path, self.form_id, self.item_id, self.sees_codes, sorted_values

    @property
    def meta(self) -> dict[str, Any]:
        """All that an answer says besides its data, but `dataThrough`."""
        shop, window = self.shop, self.window
        return {
            "shopId": shop.shop_id,
            "credentialId": self.credential_id,
            "range": {"from": window.start_text, "to": window.end_text},
            "currency": shop.currency,
            "timezone": shop.timezone,
            **(
                {"recomputingSince": iso_millis(since)} if (since := shop.recomputing_since) else {}
            ),
        }

    def sums(
        self,
        summary: str,
        *,
        by: Sequence[str] = (),
        where: Mapping[str, int] | None = None,
    ) -> Sums:
        """The sums of a daily summary over the window, by these dimensions."""
        return self._daily_rows(self.window.last).sums(summary, by=by, where=where)

    def cells(self, summary: str, by: Sequence[str]) -> dict[str, Column]:
        """Columns `by` and all measures of a packed summary over the window, not added up: the caller
        adds them up by other keys."""
        return self._daily_rows(self.window.last).cells(summary, by)

    def form_sums(
        self, summary: str, *, by: Sequence[str] = (), where: Mapping[str, int] | None = None
    ) -> Sums:
        """The sums of the form in the path."""
        return self.sums(summary, by=by, where={"form": self.form, **(where or {})})

    def outcomes(
        self,
        summary: str,
        *,
        by: Sequence[str] = (),
        where: Mapping[str, int] | None = None,
    ) -> Sums:
        """Sums of a summary of submissions, with their outcomes: the orders that followed.

        With `within` (a conversion window), submissions have the same age: the sums are over the days that
        are so many whole days old, with the orders less than so many days of 24 h after their submission.
        Without it they are to date; such figures of two windows cannot be compared. The query decides, so
        that no report can forget.
        """
        rows = self._daily_rows(self._last_day)
        return rows.outcomes(summary, within=self.within, by=by, where=where)

    def form_outcomes(self, summary: str, *, by: Sequence[str] = ()) -> Sums:
        """The outcomes of the form in the path."""
        return self.outcomes(summary, by=by, where={"form": self.form})

    def form_outcomes_by_age(self, summary: str, most: int) -> Sums:
        """The outcomes of the form in the path within 1, 2, ... up to `most` days, a row each."""
        rows = self._daily_rows(self.window.last)
        return rows.by_age(summary, {"form": self.form}, today=self.today, most=most)

    def mature_through(self) -> str | None:
        """The last day of the window that counts `within` these days; None if it has none."""
        last = self._last_day
        return day_date(last).isoformat() if last >= self.window.first else None

    def visitors(self) -> dict[int, int]:
        """Distinct visitors of the form in the path, by kind; at equal age as in `outcomes`."""
        return self._daily_rows(self._last_day).visitors(self.form, within=self.within)

    def _daily_rows(self, last: int) -> DailyRows:
        """The daily rows of the window, up to this day."""
        first, edition = self.window.first, self.shop.edition
        return DailyRows(self.connection, edition, first, last, self.chosen)

    @property
    def _last_day(self) -> int:
        last = self.window.last
        return last if self.within is None else last_mature_day(last, self.today, self.within)

    @property
    def form(self) -> int:
        """The form's id in daily rows."""
        return text_id(self.form_id)

    def texts(self, ids: Iterable[int]) -> dict[int, str]:
        return self.dimensions.texts(self.connection, self.shop.edition, ids)

    def texts_of(self, *columns: Column) -> TextsOf:
        """The texts behind columns of ids, for rows that are chosen later."""
        each, edition = self.dimensions.each_text, self.shop.edition
        return lambda rows: zip(
            *(each(self.connection, edition, ids[rows].tolist()) for ids in columns), strict=True
        )

    def each_utm(self, ids: Column) -> Iterator[Utm]:
        """The UTM values of each id in turn. Many of them need little memory."""
        return self.dimensions.each_utm(self.connection, self.shop.edition, ids.tolist())

    def form_names(self, form_ids: Collection[str]) -> dict[str, str]:
        """The names of those of the ids that are forms of the shop. Other windows have the same forms."""
        shop = self.shop
        return self.cache.get(
            *(f"names of {sorted(form_ids)}", shop.key, shop.data_version),
            lambda: form_names(self.connection, shop.key, form_ids),
        )

    def data_through(self) -> str | None:
        """An instant before which every finished import is in the figures; None before the first
        rollup.

        It is the instant at which the oldest pending batch was imported; if none is pending, the instant
        of the shop's last change. A cached answer keeps its instant, which may be older than necessary
        but never too new.
        """
        if not self.shop.edition:
            return None
        ((oldest,),) = read_rows(self.connection, _OLDEST_PENDING, {"edition": self.shop.edition})
        instant = self.shop.data_changed_at if oldest is None else oldest
        return iso_millis(min(instant, self.now))
