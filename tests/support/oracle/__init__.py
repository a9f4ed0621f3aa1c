"""The slow, plain recomputation that the product is held to.

START HERE: `Oracle(records).answer(path, query, shop_id, today)` is the `data` that the service
must answer once these raw records are imported and rolled up, in whatever order and portions they
came. Everything under here is written from the contract's sentences, with dicts, lists and exact
fractions; it shares no code and no idea with the product. `compare` lists the differences.
"""

from datetime import UTC, date, datetime
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from tests.support.oracle import answers_forms
from tests.support.oracle.comparing import compare
from tests.support.oracle.filters import FILTERED, FILTERS, filtered
from tests.support.oracle.records import Row
from tests.support.oracle.row_limit import LIMITS, Limited, RowLimits
from tests.support.oracle.state import ANSWERS, Question, State
from tests.support.oracle.times import day_end, day_start, iso, local_day, resolve_range

__all__ = ["ANSWERS", "Oracle", "RowLimits", "UnknownForm", "compare"]

# Each answer is enrolled where it is computed.
for _module in iter_modules(__path__):
    if _module.name.startswith("answers_"):
        import_module(f"{__name__}.{_module.name}")


class UnknownForm(LookupError):
    """The path names a form that the shop's forms do not have: a 404."""


class Oracle:
    """All GET answers of the interface over raw records, by kind as `jobs import` names them."""

    def __init__(
        self,
        records: dict[str, list[Row]],
        window_days: int = 30,
        limits: RowLimits = LIMITS,
    ) -> None:
        self._records = records
        self._window_days = window_days
        self._limits = limits
        self._states: dict[str, State] = {}

    def state(self, shop_id: str) -> State:
        if shop_id not in self._states:
            self._states[shop_id] = State(self._records, shop_id, self._window_days)
        return self._states[shop_id]

    def today(self, shop_id: str, now: datetime) -> date:
        """The shop's day at an instant."""
        return local_day(now, self.state(shop_id).timezone)

    def window(self, query: dict[str, str], shop_id: str, today: date) -> dict[str, str]:
        """The `meta.range` of an answer."""
        timezone = self.state(shop_id).timezone
        first, last = resolve_range(query.get("range"), today)
        return {"from": iso(day_start(first, timezone)), "to": iso(day_end(last, timezone))}

    def describes(
        self, shop_id: str, meta: dict[str, Any], query: dict[str, str], today: date
    ) -> bool:
        """Whether `meta` has the shop's currency and timezone, says that figures are there, with `within`
        (only then) up to which day they count, and repeats the filters."""
        state = self.state(shop_id)
        expected: dict[str, Any] = {"currency": state.currency, "timezone": state.timezone.key}
        if "within" in query:
            first, last = resolve_range(query.get("range"), today)
            until = answers_forms.mature_through(first, last, today, int(query["within"]))
            expected["matureThrough"] = until and until.isoformat()
        if asked := {name: value for name, value in query.items() if name in FILTERS}:
            expected["filter"] = asked
        names = ("currency", "timezone", "matureThrough", "filter")
        shown = {name: meta[name] for name in names if name in meta}
        return shown == expected and bool(meta["dataThrough"])

    def answer(
        self,
        path: str,
        query: dict[str, str],
        shop_id: str,
        today: date,
        now: datetime | None = None,
    ) -> Any:
        """The `data` of GET `path`; `today` is the shop's, `now` decides what is stale (18)."""
        return self.limited(path, query, shop_id, today, now).data

    def limited(
        self,
        path: str,
        query: dict[str, str],
        shop_id: str,
        today: date,
        now: datetime | None = None,
    ) -> Limited:
        """The same, and the number of rows that are summed in `(other)`."""
        state = self.state(shop_id)
        first, last = resolve_range(query.get("range"), today)
        now = now or datetime.now(UTC)
        form_id, _, name = path.removeprefix("/v1/forms/").partition("/")
        if path in ANSWERS:
            form_id, address = "", path
        elif form_id.lower() in state.form_names:
            form_id, address = form_id.lower(), f"/v1/forms/{{id}}/{name}"
        else:
            raise UnknownForm(form_id)
        question = Question(first, last, today, now, query, form_id, self._limits)
        if address in FILTERED and any(name in query for name in FILTERS):
            state = filtered(state, query)
        return _limited(ANSWERS[address](state, question))


def _limited(answer: Any) -> Limited:
    return answer if isinstance(answer, Limited) else Limited(answer, 0)
