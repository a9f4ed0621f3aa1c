"""START HERE: every daily summary, declared once.

A summary is a sum over facts. Its declaration names its dimensions and its measures; from that
follow its table (`daily_<name>`), what its rollup returns (`jobs/rollups/<name>.py`), how it is
written (`summaries.py`) and how it is read (`reader.py`). Every dimension and measure is a whole
number: texts stand behind an id in `dim_text`, instants and money are counts of their smallest unit.
Every measure adds up, over days and over any dimension; there is no stored average, minimum or
distinct count.

`cells` are further dimensions, of which a day has so many combinations that one row each would be
slow to read: all cells of a (day, dimensions) row lie packed in one binary column (`packing.py`).

`LOGIC_VERSION` belongs to the logic: raise it when a rollup gives other figures than before, and stored
editions that were built with the older logic are built anew.
"""

from dataclasses import dataclass, field
from typing import Final

from warehouse.vocabulary import LTV_HORIZONS


@dataclass(frozen=True)
class Summary:
    """One daily summary: key (edition, dims..., day), cells packed within it, measures that add."""

    name: str
    dims: tuple[str, ...]
    measures: tuple[str, ...]
    clock: str
    cells: tuple[str, ...] = field(default=())
    # What a rollup must see whole to be right: single "facts" (sessions and orders), all "visits" of
    # a visitor to a form, all facts of "customers", or raw "events".
    unit: str = "facts"

    @property
    def table(self) -> str:
        return f"daily_{self.name}"

    @property
    def key(self) -> tuple[str, ...]:
        """The primary key, in the order in which a reader narrows it: form first, then days."""
        leading = tuple(dim for dim in self.dims if dim in ("form", "field_a", "field_b"))
        rest = tuple(dim for dim in self.dims if dim not in leading)
        return ("edition", *leading, "day", *rest)

    @property
    def columns(self) -> tuple[str, ...]:
        """What a rollup returns, in this order, one row for each distinct combination."""
        return ("edition", "day", *self.dims, *self.cells, *self.measures)


_MILESTONES = ("views", "starts", "subscriptions", "completions")
_OUTCOME = ("submissions", "converted", "orders", "gross", "refunded")
_LTV = ("customers", "purchasers", "repeaters", "orders", "gross", "refunded") + tuple(
    f"net_{days}" for days in LTV_HORIZONS
)

SUMMARIES: Final = (
    # Every event counts, milestone or not: it says in which days a form was alive at all.
    Summary("activity", (), ("events",), "day of the event", ("form",), "events"),
    Summary(
        "funnel",
        ("form",),
        _MILESTONES + _OUTCOME,
        "milestones on their day, outcome on the submission's",
    ),
    # Of the shop's forms at once, so that they are read without a row each a day.
    Summary(
        "all_forms",
        (),
        ("views", "subscriptions", "completions"),
        "first time of each milestone",
        cells=("form",),
    ),
    Summary(
        "device",
        ("form", "device"),
        _MILESTONES + _OUTCOME,
        "milestones on their day, outcome on the submission's",
    ),
    Summary("credit", ("form",), ("orders", "gross", "refunded"), "day of the order"),
    Summary(
        "step", ("form", "step"), ("views", "completions", "dropoffs"), "first view of the step"
    ),
    Summary(
        "time_to_complete",
        ("form",),
        ("completions", "duration"),
        "day of completion; duration in microseconds",
        cells=("device", "bucket"),
    ),
    # Distinct visitors over any range: those whose previous active day (of the same kind) lies
    # before the range. `previous` is -1 where there is none. `kind` is vocabulary.visitor_kind.
    Summary("visitor", ("form", "kind", "previous"), ("visitors",), "active day", unit="visits"),
    # field_a < field_b by id; the reader turns a pair round where it is asked the other way.
    Summary(
        "cross_field",
        ("form", "field_a", "field_b"),
        ("submissions", "converted"),
        "submission",
        cells=("value_a", "value_b"),
    ),
    # value 0: submissions that answered the field at all, whatever the type. `lists` counts those
    # whose answer is a list.
    Summary("response", ("form",), (*_OUTCOME, "lists"), "submission", cells=("field", "value")),
    Summary("attribution", ("type",), ("orders", "gross", "refunded"), "day of the order"),
    Summary("utm_submission", (), ("submissions", "converted"), "submission", cells=("utm",)),
    Summary(
        "utm_order", (), ("orders", "gross", "refunded"), "day of the order", cells=("type", "utm")
    ),
    Summary(
        "discount",
        (),
        ("issued", "orders", "attributed", "discounted", "gross", "refunded"),
        "issued on the submission's day, the rest on the order's",
        cells=("discount",),
    ),
    Summary("ltv_form", (), _LTV, "acquisition day", ("form",), "customers"),
    Summary("ltv_segment", (), _LTV, "acquisition day", ("field", "value"), "customers"),
)

SUMMARY: Final = {summary.name: summary for summary in SUMMARIES}

# The version of the logic behind all facts and summaries.
LOGIC_VERSION: Final = 1
