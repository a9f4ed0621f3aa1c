"""Rows about the inside of form sessions: steps (7), durations (8), visitors (10)."""

from typing import Annotated, TypedDict

from msgspec import Meta

from warehouse.domain.vocabulary import DEVICES, VISITOR_TYPES
from web.api.schemas.figures import Completions


class PerStep(TypedDict):
    """The columns that say which step a row is about."""

    stepId: Annotated[str, Meta(description="The step's id.")]
    stepIndex: Annotated[
        int, Meta(ge=0, description="The step's position from 0, as the latest event states it.")
    ]
    stepName: Annotated[
        str | None,
        Meta(description="The step's name, as the latest event with a name states it; else null."),
    ]


class StepFigures(TypedDict):
    """Views and completions of a step, and the sessions that ended there."""

    views: Annotated[int, Meta(ge=0, description="Form sessions that viewed the step.")]
    completions: Annotated[int, Meta(ge=0, description="Those sessions that completed the step.")]
    dropoffs: Annotated[
        int,
        Meta(
            ge=0,
            description="Those sessions that viewed this step last, and completed neither the step nor "
            "the form.",
        ),
    ]
    completionRate: Annotated[float, Meta(ge=0, description="`completions` / `views` x 100.")]
    dropoffRate: Annotated[float, Meta(ge=0, description="`dropoffs` / `views` x 100.")]


class StepRow(PerStep, StepFigures):
    """A step that was viewed in the window. All figures are dated by the session's first view of the step.
    Order: stepIndex, stepId."""

    shareOfDropoffs: Annotated[
        float, Meta(ge=0, description="`dropoffs` as a percentage of the drop-offs of all steps.")
    ]


class Bucket(TypedDict):
    """One bar of the histogram. Bars adjoin, and are equally wide on a logarithmic scale."""

    fromMs: Annotated[float, Meta(ge=0, description="Lower bound in milliseconds.")]
    toMs: Annotated[float, Meta(ge=0, description="Upper bound in milliseconds, excluded.")]
    count: Annotated[int, Meta(ge=0, description="Completions between the bounds.")]


class PerDeviceOrAll(TypedDict):
    """The column that says which device type a row is about, or that it is about all."""

    deviceType: Annotated[
        str,
        Meta(
            description="The device type, or `all`.",
            extra_json_schema={"enum": ["all", *(name for name in DEVICES if name)]},
        ),
    ]


class Distribution(TypedDict):
    """How long completions took, in milliseconds to 3 decimals."""

    completions: Completions
    averageMs: Annotated[float, Meta(ge=0, description="The exact mean, in milliseconds.")]
    minMs: Annotated[float, Meta(ge=0, description="The shortest time, in milliseconds.")]
    p25Ms: Annotated[float, Meta(ge=0, description="25 % took no longer, in milliseconds.")]
    p50Ms: Annotated[float, Meta(ge=0, description="The median, in milliseconds.")]
    p75Ms: Annotated[float, Meta(ge=0, description="75 % took no longer, in milliseconds.")]
    p90Ms: Annotated[float, Meta(ge=0, description="90 % took no longer, in milliseconds.")]
    p95Ms: Annotated[float, Meta(ge=0, description="95 % took no longer, in milliseconds.")]
    p99Ms: Annotated[float, Meta(ge=0, description="99 % took no longer, in milliseconds.")]
    maxMs: Annotated[float, Meta(ge=0, description="The longest time, in milliseconds.")]
    buckets: Annotated[
        list[Bucket],
        Meta(
            max_length=30,
            description="A histogram from the shortest to the longest time. The counts add up to "
            "`completions`.",
        ),
    ]


class DurationRow(PerDeviceOrAll, Distribution):
    """How long the window's completions took: from the first `start` to the first `complete`. A session
    without `start` is timed from its first `view`, or else from its first event. Percentiles are
    nearest-rank. Percentiles, minimum and maximum are within 1 % of the exact value. Order: `all` first,
    then completions descending, then deviceType. There is no row without completions."""


class VisitorRow(TypedDict):
    """Distinct visitors over the whole window, counted exactly. A form session is `new` if it is the
    visitor's first with this form, ever; otherwise it is `returning`. A visitor with both kinds is in both
    rows, and once in `all`. Order: `all`, `new`, `returning`."""

    visitorType: Annotated[
        str,
        Meta(
            description="The kind of form sessions that the row counts.",
            extra_json_schema={"enum": list(VISITOR_TYPES)},
        ),
    ]
    visitors: Annotated[int, Meta(ge=0, description="Visitors with a view in the window.")]
    submitters: Annotated[int, Meta(ge=0, description="Visitors with a submission in the window.")]
    purchasers: Annotated[
        int,
        Meta(ge=0, description="Visitors with a converted submission in the window."),
    ]
    submissionRate: Annotated[float, Meta(ge=0, description="`submitters` / `visitors` x 100.")]
    purchaseRate: Annotated[float, Meta(ge=0, description="`purchasers` / `visitors` x 100.")]
    conversionRate: Annotated[float, Meta(ge=0, description="`purchasers` / `submitters` x 100.")]
