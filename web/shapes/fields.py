"""What was answered (11, 12)."""

from typing import Annotated, TypedDict

from msgspec import Meta

from web.shapes.figures import (
    AverageOrderValueCents,
    ConversionRate,
    ConvertedSubmissions,
    FieldId,
    Money,
    Submissions,
)


class CrossFieldRow(TypedDict):
    """A pair of answers that submissions of the window gave; of several choices each counts. Margins
    are sums of the table's own cells. At most the first 1,000 pairs; figures are over all of them.
    Order: count descending, valueA, valueB."""

    valueA: Annotated[str, Meta(description="An answer to `fieldA`, as text.")]
    valueB: Annotated[str, Meta(description="An answer to `fieldB`, as text.")]
    count: Annotated[int, Meta(ge=1, description="Submissions that gave both.")]
    expectedCount: Annotated[
        float,
        Meta(
            ge=0, description="What `count` would be if the fields had nothing to do with another."
        ),
    ]
    lift: Annotated[float, Meta(ge=0, description="`count` / expected count, to 4 decimals.")]
    rowPercent: Annotated[float, Meta(ge=0, description="`count` in percent of all with `valueA`.")]
    columnPercent: Annotated[
        float, Meta(ge=0, description="`count` in percent of all with `valueB`.")
    ]
    totalPercent: Annotated[float, Meta(ge=0, description="`count` in percent of all pairs.")]
    convertedSubmissions: ConvertedSubmissions
    conversionRate: Annotated[
        float, Meta(ge=0, description="`convertedSubmissions` / `count` x 100.")
    ]
    cramersV: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="How closely the two fields go together, from 0 to 1, to 4 decimals: Cramér's "
            "V of the whole table without bias correction, the same in each row; 0 where undefined.",
        ),
    ]


class OfAnswer(TypedDict):
    """What is about one answer to a field."""

    fieldId: FieldId
    value: Annotated[
        str | None,
        Meta(
            description="The answer, as text; null for submissions that did not answer the field."
        ),
    ]
    submissions: Submissions
    convertedSubmissions: ConvertedSubmissions


class ResponseRow(OfAnswer, Money):
    """An answer to a field. Orders and revenue are those that followed, to date, from the window's
    submissions with that answer (submission clock). Order: fieldId, netRevenueCents descending,
    value (null last)."""

    conversionRate: ConversionRate
    revenuePerSubmissionCents: Annotated[
        int, Meta(ge=0, description="`netRevenueCents` / `submissions`.")
    ]
    averageOrderValueCents: AverageOrderValueCents
    multiSelect: Annotated[
        bool,
        Meta(
            description="Whether a submission of the window answered the field with a list: then the "
            "field's rows overlap, and add up to more than the submissions."
        ),
    ]
