"""START HERE: every daily summary, declared once.

A summary is a sum over facts. Its declaration names its dimensions and its measures. From it follow the
table (`daily_<name>`), the columns that its rollup returns (the function of that name, see
`jobs/rollups/__init__.py`), and how rows are written (`daily/writer.py`) and read (`daily/reader.py`).

Every dimension and measure is an integer: texts stand behind an id in `dim_text`, instants and money
are counts of their smallest unit. Every measure adds up, over days and over any dimension; no average,
minimum or distinct count is stored.

`packed_dims` are further dimensions that have too many combinations a day for a row each: all rows of
one (day, dims) are packed into one binary column (`daily/packed_rows.py`), a long one into several parts, in
which a column takes the bytes that `WIDTHS` says.

Submissions and their outcomes, the orders that followed, are apart: a submission is counted on its day for
good, and its outcomes grow with its age. So they are kept by `delay`, and only
`daily/reader.py::read_outcomes` adds them to their submissions: it asks at which age.

Answers can be filtered by the attributes of form sessions (contract 4, "Filters"). A summary that such an
answer is read from names a second one, `crossed`: the same measures by the same dimensions, and by
`ATTRIBUTES`. Only a filtered answer reads it. Its own comment says what it has besides, and why.

Raise `LOGIC_VERSION` when a rollup returns other figures than before: editions that were built with
older logic are then rebuilt. A changed declaration changes the schema as well (CONTRIBUTING.md, "Add a
table or a column"); a new value of a dimension, such as another device type, needs neither. Packed rows
cannot be read under another declaration, so the revision of a summary with `packed_dims` also has to stop
answers from reading the old edition: `op.execute("UPDATE shop SET edition = 0")`.
"""

from dataclasses import dataclass, replace
from typing import Final

from warehouse.domain.vocabulary import COMPLETE, LTV_HORIZONS, START, SUBSCRIBE, VIEW


@dataclass(frozen=True)
class Summary:
    """One daily summary: key (edition, dims..., day), cells packed within it, measures that add."""

    name: str
    dims: tuple[str, ...]
    measures: tuple[str, ...]
    packed_dims: tuple[str, ...] = ()
    # The rows that a rollup must see together: "facts" (a session with all orders that are credited to it,
    # an order that is credited to none), all "visits" of a visitor to a form, with their orders, or all facts
    # of "customers".
    unit: str = "facts"
    # The summary with the outcomes of the submissions that this one counts, by the same dimensions.
    outcomes: str = ""
    # The summary that has these measures by these dimensions and by ATTRIBUTES.
    crossed: str = ""
    # Its table is a temporary one with the same columns, in which jobs work rows out again.
    is_staged: bool = False

    @property
    def table(self) -> str:
        return f"{'due' if self.is_staged else 'daily'}_{self.name}"

    def staged(self) -> "Summary":
        return replace(self, is_staged=True)

    @property
    def key(self) -> tuple[str, ...]:
        """The primary key, in the order in which a reader narrows it: form first, then days."""
        leading = tuple(dim for dim in self.dims if dim in ("form", "field_a", "field_b"))
        rest = tuple(dim for dim in self.dims if dim not in leading)
        return ("edition", *leading, "day", *rest)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a rollup returns, in this order, one row for each distinct combination."""
        return ("edition", "day", *self.dims, *self.packed_dims, *self.measures)


@dataclass(frozen=True)
class Milestone:
    """Something that happens to a form session, counted once, on the day of its first event."""

    measure: str
    event_type: int
    # The instant of the first such event, a column of fact_form_session; and its shop-local day.
    instant: str
    day: str


MILESTONES: Final = (
    Milestone("views", VIEW, "viewed_at", "view_day"),
    Milestone("starts", START, "started_at", "start_day"),
    Milestone("subscriptions", SUBSCRIBE, "subscribed_at", "subscribe_day"),
    Milestone("completions", COMPLETE, "completed_at", "complete_day"),
)
MILESTONE_MEASURES: Final = tuple(milestone.measure for milestone in MILESTONES)
# Orders and their money, in minor units: of an order, of a submission (all orders credited to it), or
# of a customer.
REVENUE: Final = ("orders", "gross", "refunded")
# The outcomes of submissions. `converted`: 1 with the first order of a submission.
OUTCOMES: Final = ("converted", *REVENUE)
# The outcomes of acquired customers. `net_H`: gross less refunded of the first H days.
LIFETIME: Final = ("purchasers", "repeaters", *REVENUE) + tuple(
    f"net_{days}" for days in LTV_HORIZONS
)

# Form sessions are filtered by these. `is_first_session`: 1 for the visitor's first with the form.
ATTRIBUTES: Final = ("device", "is_first_session", "utm", "variant")

SUMMARIES: Final = (
    # Milestones and submissions, each on its own day.
    Summary(
        "funnel",
        ("form",),
        (*MILESTONE_MEASURES, "submissions"),
        outcomes="outcome",
        crossed="crossed_session",
    ),
    # All forms of a shop in one packed row a day, so that a list of forms reads few rows. Every event counts,
    # milestone or not: it shows on which days a form was in use.
    Summary(
        "all_forms",
        (),
        ("events", "views", "subscriptions", "completions"),
        packed_dims=("form",),
        crossed="crossed_session",
    ),
    Summary(
        "device",
        ("form", "device"),
        (*MILESTONE_MEASURES, "submissions"),
        outcomes="outcome",
        crossed="crossed_session",
    ),
    # On the submission's day. `delay`: whole days of 24 h from the submission to the order.
    Summary(
        "outcome",
        ("form",),
        OUTCOMES,
        packed_dims=("device", "delay"),
        crossed="crossed_outcome",
    ),
    # The key has the visitor besides: only the visitors themselves tell how many some sessions have.
    # `events`: quarters of an hour in which a session had some.
    Summary(
        "crossed_session",
        ("form",),
        ("events", *MILESTONE_MEASURES, "submissions"),
        packed_dims=("visitor", *ATTRIBUTES),
    ),
    Summary("crossed_outcome", ("form",), OUTCOMES, packed_dims=("visitor", *ATTRIBUTES, "delay")),
    # On the order's day. `submitted`: the day of the submission that the order is credited to.
    Summary("form_orders", ("form", "submitted"), REVENUE, crossed="crossed_orders"),
    Summary("crossed_orders", ("form",), REVENUE, packed_dims=("submitted", *ATTRIBUTES)),
    # On the day of the session's first view of the step.
    Summary("step", ("form", "step"), ("views", "completions", "dropoffs"), crossed="crossed_step"),
    Summary(
        "crossed_step",
        ("form",),
        ("views", "completions", "dropoffs"),
        packed_dims=("step", *ATTRIBUTES),
    ),
    # On the day of completion; duration in microseconds.
    Summary(
        "time_to_complete",
        ("form",),
        ("completions", "duration"),
        packed_dims=("device", "bucket"),
        crossed="crossed_time",
    ),
    Summary(
        "crossed_time", ("form",), ("completions", "duration"), packed_dims=(*ATTRIBUTES, "bucket")
    ),
    # Distinct visitors over any range: those whose previous active day (of the same kind) lies
    # before the range. `previous` is -1 where there is none. `kind` is vocabulary.visitor_kind. Purchasers of
    # fewer than k days of 24 h are the sum over `delay` < k; other kinds have delay 0.
    Summary("visitor", ("form", "kind", "previous", "delay"), ("visitors",), unit="visits"),
    # On the submission's day. field_a < field_b by id; the reader swaps a pair that is requested the other
    # way round.
    Summary(
        "cross_field",
        ("form", "field_a", "field_b"),
        ("submissions", "converted"),
        packed_dims=("value_a", "value_b"),
    ),
    # On the submission's day. value 0: submissions that answered the field at all, whatever the type.
    # `lists` counts those whose answer is a list.
    Summary(
        "response",
        ("form",),
        ("submissions", "lists"),
        packed_dims=("field", "value"),
        outcomes="response_outcome",
        crossed="crossed_response",
    ),
    Summary(
        "response_outcome",
        ("form",),
        OUTCOMES,
        packed_dims=("field", "value", "delay"),
        crossed="crossed_response_outcome",
    ),
    # Value 0 only where an answer chose no value. `is_one`: 1 for one row of each answer, so that the sum of
    # these is what the summaries above have under value 0. That is half of the rows.
    Summary(
        "crossed_response",
        ("form",),
        ("submissions", "lists"),
        packed_dims=("field", "value", "is_one", *ATTRIBUTES),
    ),
    Summary(
        "crossed_response_outcome",
        ("form",),
        OUTCOMES,
        packed_dims=("field", "value", "is_one", *ATTRIBUTES, "delay"),
    ),
    # On the order's day.
    Summary("attribution", ("type",), REVENUE),
    # On the order's day.
    Summary("new_returning", ("customer_type",), REVENUE),
    # On the submission's day.
    Summary("utm_submission", (), ("submissions",), packed_dims=("utm",), outcomes="utm_outcome"),
    Summary("utm_outcome", (), OUTCOMES, packed_dims=("utm", "delay")),
    Summary("utm_order", (), REVENUE, packed_dims=("type", "utm")),
    # `issued` on the submission's day, the rest on the order's.
    Summary(
        "discount",
        (),
        ("issued", "orders", "attributed", "discounted", "gross", "refunded"),
        packed_dims=("discount",),
    ),
    # On the day of acquisition.
    Summary("ltv_form", (), ("customers", *LIFETIME), ("form",), "customers"),
    Summary("ltv_segment", (), ("customers", *LIFETIME), ("field", "value"), "customers"),
)

SUMMARY: Final = {summary.name: summary for summary in SUMMARIES}

# The bytes of a column in packed rows: flags take 1; codes from small lists, days, and counts of things that
# happened on one day, 4. All others take 8: ids, which are hashes, and sums of money and of time.
WIDTHS: Final = dict.fromkeys(("is_first_session", "is_one"), 1) | dict.fromkeys(
    (
        *("device", "bucket", "type", "delay", "submitted"),
        *("events", *MILESTONE_MEASURES, "submissions", "converted", "orders", "lists"),
        *("dropoffs", "issued", "attributed", "customers", "purchasers", "repeaters"),
    ),
    4,
)

# The version of the logic behind all facts and summaries.
LOGIC_VERSION: Final = 5
