"""What happens within form sessions: steps, durations, visitors (7, 8, 10)."""

from typing import Annotated, TypedDict

from msgspec import Meta

from warehouse.vocabulary import DEVICES, VISITOR_TYPES
from web.shapes.figures import Completions


class StepRow(TypedDict):
    """A step that was viewed in the window; every figure is dated by the session's first view of the
    step. Order: stepIndex, stepId."""

    stepId: Annotated[str, Meta(description="The step's id.")]
    stepIndex: Annotated[int, Meta(ge=0, description="Its place, from 0, as seen latest, ever.")]
    stepName: Annotated[
        str | None,
        Meta(description="Its name, as seen latest, ever; null where no event ever named it."),
    ]
    views: Annotated[int, Meta(ge=0, description="Form sessions that viewed the step.")]
    completions: Annotated[int, Meta(ge=0, description="Those of them that completed the step.")]
    dropoffs: Annotated[
        int,
        Meta(
            ge=0,
            description="Those of them that viewed this step last, and completed neither it nor the "
            "form.",
        ),
    ]
    completionRate: Annotated[float, Meta(ge=0, description="`completions` / `views` x 100.")]
    dropoffRate: Annotated[float, Meta(ge=0, description="`dropoffs` / `views` x 100.")]
    shareOfDropoffs: Annotated[
        float, Meta(ge=0, description="`dropoffs` in percent of all steps' in the window.")
    ]


class Bucket(TypedDict):
    """A bar of the histogram; bars are neighbours, as wide as one another on a log scale."""

    fromMs: Annotated[float, Meta(ge=0, description="Where it begins, in milliseconds.")]
    toMs: Annotated[float, Meta(ge=0, description="Where it ends, in milliseconds.")]
    count: Annotated[int, Meta(ge=0, description="Completions that took so long.")]


class OfDeviceOrAll(TypedDict):
    """What is about one kind of device, or about all."""

    deviceType: Annotated[
        str,
        Meta(
            description="Kind of device, or `all` of them together.",
            extra_json_schema={"enum": ["all", *(name for name in DEVICES if name)]},
        ),
    ]


class Distribution(TypedDict):
    """How long completions took."""

    completions: Completions
    averageMs: Annotated[float, Meta(ge=0, description="The mean, in milliseconds, exact.")]
    minMs: Annotated[float, Meta(ge=0, description="The shortest, in milliseconds.")]
    p25Ms: Annotated[float, Meta(ge=0, description="25 % took no longer, in milliseconds.")]
    p50Ms: Annotated[float, Meta(ge=0, description="The median, in milliseconds.")]
    p75Ms: Annotated[float, Meta(ge=0, description="75 % took no longer, in milliseconds.")]
    p90Ms: Annotated[float, Meta(ge=0, description="90 % took no longer, in milliseconds.")]
    p95Ms: Annotated[float, Meta(ge=0, description="95 % took no longer, in milliseconds.")]
    p99Ms: Annotated[float, Meta(ge=0, description="99 % took no longer, in milliseconds.")]
    maxMs: Annotated[float, Meta(ge=0, description="The longest, in milliseconds.")]
    buckets: Annotated[
        list[Bucket],
        Meta(
            max_length=30,
            description="A histogram, from the shortest to the longest; counts add up to "
            "`completions`.",
        ),
    ]


class DurationRow(OfDeviceOrAll, Distribution):
    """How long the window's completions took: from the first `start` (where there is none, the first
    `view`, else the first event) to the first `complete`. Percentiles are nearest-rank; they, the
    minimum and the maximum are within 1 % of the exact value. Order: `all` first, then completions
    descending, then deviceType; no row without completions."""


class VisitorRow(TypedDict):
    """Distinct visitors over the whole window, exactly. A form session is `new` where it is the
    visitor's first with this form, ever, else `returning`; who had both is in both rows, and once in
    `all`. Order: `all`, `new`, `returning`."""

    visitorType: Annotated[
        str,
        Meta(
            description="Which form sessions are looked at.",
            extra_json_schema={"enum": list(VISITOR_TYPES)},
        ),
    ]
    visitors: Annotated[int, Meta(ge=0, description="Visitors with a view in the window.")]
    submitters: Annotated[int, Meta(ge=0, description="Visitors with a submission in the window.")]
    purchasers: Annotated[
        int,
        Meta(
            ge=0,
            description="Visitors with a submission in the window to which an order is attributed, "
            "ever.",
        ),
    ]
    submissionRate: Annotated[float, Meta(ge=0, description="`submitters` / `visitors` x 100.")]
    purchaseRate: Annotated[float, Meta(ge=0, description="`purchasers` / `visitors` x 100.")]
    conversionRate: Annotated[float, Meta(ge=0, description="`purchasers` / `submitters` x 100.")]
