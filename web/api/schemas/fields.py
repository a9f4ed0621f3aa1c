"""Answers to fields: how two fields go together (11), and which revenue followed (12)."""

from typing import Annotated, TypedDict

from msgspec import Meta

from web.api.schemas.figures import (
    AverageOrderValueCents,
    ConversionRate,
    ConvertedSubmissions,
    FieldId,
    Money,
    Submissions,
)


class CrossFieldRow(TypedDict):
    """A pair of answers that submissions of the window gave. If a field allows several choices, each of
    them counts. The totals behind the percentages are sums of the table's own cells. At most the first
    1,000 pairs are returned; the figures are over all of them. Order: count descending, valueA, valueB."""

    valueA: Annotated[str, Meta(description="An answer to `fieldA`, as text.")]
    valueB: Annotated[str, Meta(description="An answer to `fieldB`, as text.")]
    count: Annotated[int, Meta(ge=1, description="Submissions that gave both answers.")]
    expectedCount: Annotated[
        float,
        Meta(ge=0, description="The `count` to expect if the fields were independent."),
    ]
    lift: Annotated[float, Meta(ge=0, description="`count` / expected count, to 4 decimals.")]
    rowPercent: Annotated[
        float, Meta(ge=0, description="`count` as a percentage of all pairs with `valueA`.")
    ]
    columnPercent: Annotated[
        float, Meta(ge=0, description="`count` as a percentage of all pairs with `valueB`.")
    ]
    totalPercent: Annotated[float, Meta(ge=0, description="`count` as a percentage of all pairs.")]
    convertedSubmissions: ConvertedSubmissions
    conversionRate: Annotated[
        float, Meta(ge=0, description="`convertedSubmissions` / `count` x 100.")
    ]
    cramersV: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="How strongly the two fields are associated, from 0 to 1, to 4 decimals: Cramér's "
            "V of the whole table without bias correction. It is the same in each row, and 0 where it is "
            "undefined.",
        ),
    ]


class PerFieldValue(TypedDict):
    """The columns that say which answer to which field a row is about."""

    fieldId: FieldId
    value: Annotated[
        str | None,
        Meta(description="The answer, as text; null for submissions without an answer."),
    ]


class _Converted(TypedDict):
    submissions: Submissions
    convertedSubmissions: ConvertedSubmissions


class ResponseFigures(_Converted, Money):
    """Submissions with an answer, and the orders that followed."""

    conversionRate: ConversionRate
    revenuePerSubmissionCents: Annotated[
        int, Meta(ge=0, description="`netRevenueCents` / `submissions`.")
    ]
    averageOrderValueCents: AverageOrderValueCents


class ResponseRow(PerFieldValue, ResponseFigures):
    """An answer to a field. Orders and revenue followed from the window's submissions with this answer, to
    date (submission clock). Order: fieldId, netRevenueCents descending, value (null last)."""

    multiSelect: Annotated[
        bool,
        Meta(
            description="true if a submission of the window answered the field with a list. Such rows "
            "overlap, so they add up to more than the submissions."
        ),
    ]
