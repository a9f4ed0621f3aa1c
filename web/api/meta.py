"""The parts of every answer: `meta`, and the one shape of errors."""

from typing import Final

from web.api.rows import Row, column, inside, text

# fmt: off
_REQUEST_ID: Final = text(
    "requestId", "", "The id of the request. It is also in `X-Request-Id` and in the service's log.",
    pattern="^req_[0-9a-f-]{36}$",
)
_RANGE: Final = Row(
    "Range",
    "A window of whole days of the shop's calendar.",
    text("from", "", "The first millisecond of the first day, in UTC.", format="date-time"),
    text("to", "", "The last millisecond of the last day, in UTC.", format="date-time"),
)
_COMMON: Final = (
    _REQUEST_ID,
    text("shopId", "", "The shop to which the key belongs."),
    text("credentialId", "", "The id of the API key, never the key itself."),
    inside("range", "", "The window. For endpoints without `range`, it is the last 30 days.", _RANGE),
    text("currency", "", "The shop's currency (ISO 4217)."),
    text("timezone", "", "The timezone of the shop's calendar (an IANA name)."),
    text("recomputingSince", "",
        "Since when the figures are being computed anew, after rows of the shop were removed, or its time "
        "zone or rules on forms have changed. Until that is done, they are as before. Absent otherwise.",
        format="date-time", required=False),
    text("dataThrough", "",
        "The figures include every import that finished before this instant. null before the first rollup.",
        null=True, format="date-time"),
)
META: Final = Row("AnswerMeta", "The context of the answer.", *_COMMON)
LIMITED_META: Final = Row(
    "LimitedMeta",
    "The context of an answer with a limited number of rows.",
    *_COMMON,
    column("otherRows", "",
        "The number of rows that are summed in `(other)`. Absent if the answer has all rows.",
        {"type": "integer", "minimum": 1}, required=False),
)
AGE_META: Final = Row(
    "AgeMeta",
    "The context of an answer at equal age.",
    *_COMMON,
    text(
        "matureThrough",
        "",
        "With `within`, the last day whose submissions are old enough to count; null if the window has none.",
        null=True,
        format="date",
        required=False,
    ),
)
_FILTER: Final = column("filter", "",
    "The filters of the answer: their values by name. Absent without any.",
    {"type": "object", "additionalProperties": {"type": "string"}}, required=False)
LIST_META: Final = Row(
    "ListMeta",
    "The context of one page of a list.",
    *_COMMON,
    text("nextCursor", "", "The `cursor` of the next page; null on the last page.", null=True),
)
RECEIPTS_META: Final = Row(
    "ReceiptsMeta",
    "The context of one page of orders.",
    *_COMMON,
    column("total", "", "The number of orders on all pages.", {"type": "integer", "minimum": 0}),
    column("netRevenueCents", "", "The net revenue of these orders, in minor units of the shop's currency.",
        {"type": "integer"}),
    text("nextCursor", "", "The `cursor` of the next page; null on the last page.", null=True),
)
_ERROR_DETAIL: Final = Row(
    "ErrorDetail",
    "Why a request failed.",
    text("code", "", "The kind of error, for programs."),
    text("message", "", "The reason, in a sentence for people."),
    _REQUEST_ID,
)
ERROR: Final = Row(
    "Error", "The body of every error, whatever its status.", inside("error", "", "", _ERROR_DETAIL)
)
# fmt: on


def with_filter(meta: Row) -> Row:
    """The context of an answer that can be filtered."""
    return Row(f"Filtered{meta.name}", meta.description, *meta.columns.values(), _FILTER)
