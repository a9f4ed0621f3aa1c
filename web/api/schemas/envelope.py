"""The parts of every answer: `meta`, and the one shape of errors."""

from typing import Annotated, NotRequired, TypedDict

from msgspec import Meta

RequestId = Annotated[
    str,
    Meta(
        description="The id of the request. It is also in `X-Request-Id` and in the service's log.",
        pattern="^req_[0-9a-f-]{36}$",
    ),
]

Range = TypedDict(
    "Range",
    {
        "from": Annotated[
            str,
            Meta(
                description="The first millisecond of the first day, in UTC.",
                extra_json_schema={"format": "date-time"},
            ),
        ],
        "to": Annotated[
            str,
            Meta(
                description="The last millisecond of the last day, in UTC.",
                extra_json_schema={"format": "date-time"},
            ),
        ],
    },
)
Range.__doc__ = "A window of whole days of the shop's calendar."


class AnswerMeta(TypedDict):
    """The context of the answer."""

    requestId: RequestId
    shopId: Annotated[str, Meta(description="The shop to which the key belongs.")]
    credentialId: Annotated[str, Meta(description="The id of the API key, never the key itself.")]
    range: Annotated[
        Range,
        Meta(description="The window. For endpoints without `range`, it is the last 30 days."),
    ]
    currency: Annotated[str, Meta(description="The shop's currency (ISO 4217).")]
    timezone: Annotated[
        str, Meta(description="The timezone of the shop's calendar (an IANA name).")
    ]
    dataThrough: Annotated[
        str | None,
        Meta(
            description="The figures include every import that finished before this instant. null before "
            "the first rollup.",
            extra_json_schema={"format": "date-time"},
        ),
    ]


class LimitedMeta(AnswerMeta):
    """The context of an answer with a limited number of rows."""

    otherRows: NotRequired[
        Annotated[
            int,
            Meta(
                ge=1,
                description="The number of rows that are summed in `(other)`. Absent if the answer has all "
                "rows.",
            ),
        ]
    ]


class ListMeta(AnswerMeta):
    """The context of one page of a list."""

    nextCursor: Annotated[
        str | None, Meta(description="The `cursor` of the next page; null on the last page.")
    ]


class ErrorDetail(TypedDict):
    """Why a request failed."""

    code: Annotated[str, Meta(description="The kind of error, for programs.")]
    message: Annotated[str, Meta(description="The reason, in a sentence for people.")]
    requestId: RequestId


class Error(TypedDict):
    """The body of every error, whatever its status."""

    error: ErrorDetail
