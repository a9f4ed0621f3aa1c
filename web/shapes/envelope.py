"""What is around every answer: `meta`, and the one shape of errors."""

from typing import Annotated, TypedDict

from msgspec import Meta

RequestId = Annotated[
    str,
    Meta(
        description="The id of the request, as in `X-Request-Id` and in the service's log.",
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
    """The request that is answered."""

    requestId: RequestId
    shopId: Annotated[str, Meta(description="The shop that the key belongs to.")]
    credentialId: Annotated[str, Meta(description="The API key used; never the key itself.")]
    range: Annotated[
        Range,
        Meta(description="The window; of an endpoint without `range`, the last 30 days."),
    ]


class ListMeta(AnswerMeta):
    """The request that is answered, and where the list goes on."""

    nextCursor: Annotated[
        str | None, Meta(description="The `cursor` of the next page; null on the last one.")
    ]


class ErrorDetail(TypedDict):
    """The `error` of every answer to a request that is not fulfilled, whatever its status."""

    code: Annotated[str, Meta(description="What went wrong, for programs.")]
    message: Annotated[str, Meta(description="What went wrong, in a sentence for people.")]
    requestId: RequestId
