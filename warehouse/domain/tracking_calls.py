"""Tracking calls about forms, as Segment's libraries send them: the names of their events, the properties
that are known, whose call it is. The import reads such calls from files; the collector receives them.

Calls come from strangers: any member can be of any type.
"""

import re
from functools import lru_cache
from typing import Any, Final

from warehouse.domain.devices import device_of
from warehouse.domain.email_hash import plain_mark
from warehouse.domain.text_rules import is_no_id

Call = dict[str, Any]
Row = dict[str, Any]

# The source of events that come as such calls: the format in which files have them.
SOURCE: Final = "segment"
# The field of a row that the collector took from a page whose origin the write key names.
ON_OWN_PAGE: Final = "on_own_page"

# Names of events in lower case, without separators between words.
EVENTS: Final = {
    "formviewed": "view",
    "formstarted": "start",
    "formstepviewed": "step_view",
    "formstepcompleted": "step_complete",
    "formquestionanswered": "answer",
    "formsubscribed": "subscribe",
    "formcompleted": "complete",
}
# Names of other events can be of any length; they are not remembered.
_LONGEST_NAME: Final = 255
_SEPARATORS: Final = re.compile(r"[\s_-]+")

# The properties, which are called like our fields.
FIELDS: Final = (
    "form_id",
    "form_name",
    "form_session_id",
    "variant",
    "step_id",
    "step_index",
    "step_name",
    "field_id",
    "field_type",
    "value",
    "email",
    "email_sha256",
    "discount_id",
    "discount_code",
)
# Our field of each spelling of a property: snake_case, then camelCase.
PROPERTIES: Final = {
    name: field
    for field in FIELDS
    for name in (field, re.sub(r"_(.)", lambda match: match[1].upper(), field))
}
# Our field of each member of `context.campaign`.
CAMPAIGN: Final = {
    "source": "utm_source",
    "medium": "utm_medium",
    "name": "utm_campaign",
    "term": "utm_term",
    "content": "utm_content",
    "id": "utm_id",
}
_NOTHING: Final[Call] = {}


def event_type(call: Call) -> str | None:
    """Our type of a call's event; None if the call is not about a form."""
    event = call.get("event")
    if call.get("type") not in ("track", None) or not isinstance(event, str):
        return None
    return _of_name(event) if len(event) <= _LONGEST_NAME else None


@lru_cache(maxsize=1 << 12)
def _of_name(event: str) -> str | None:
    return EVENTS.get(_SEPARATORS.sub("", event).lower())


def row_of(call: Call) -> Row | None:
    """A call as a row of kind `events`, without its shop and with the call's values, whatever they are. None
    if it is not about a form."""
    kind = event_type(call)
    if kind is None:
        return None
    row, context = fields_of(call), member(call, "context")
    user, address = user_of(call)
    if not row.get("email") and not row.get("email_sha256"):
        row["email"] = member(context, "traits").get("email") or address
    campaign = member(context, "campaign").items()
    device = member(context, "device")
    return row | {
        "source": SOURCE,
        "type": kind,
        "event_id": call.get("messageId"),
        "visitor_id": _stated(call.get("anonymousId")) or _stated(user) or plain_mark(address),
        "customer_id": user,
        "occurred_at": call.get("timestamp") or call.get("originalTimestamp") or call.get("sentAt"),
        "page_path": member(context, "page").get("path"),
        "device_type": device_of(device.get("type"), device.get("model"), context.get("userAgent")),
        **{CAMPAIGN[name]: value for name, value in campaign if name in CAMPAIGN},
    }


def _stated(id: Any) -> Any:
    """An id; None for a text that broken scripts send in the place of one."""
    return None if isinstance(id, str) and is_no_id(id) else id


def fields_of(call: Call) -> dict[str, Any]:
    """The fields of ours among a call's properties; of two spellings snake_case wins."""
    fields: dict[str, Any] = {}
    for name, value in member(call, "properties").items():
        field = PROPERTIES.get(name)
        if field and value is not None and (name == field or field not in fields):
            fields[field] = value
    return fields


def user_of(call: Call) -> tuple[Any, str]:
    """(id, "") of a call's user; (None, address) if the id is an e-mail address."""
    user = call.get("userId")
    return (None, user) if isinstance(user, str) and "@" in user else (user, "")


def member(call: Call, name: str) -> Call:
    """The object that is a member of a call or of a part of it; an empty one if there is none."""
    value = call.get(name)
    return value if isinstance(value, dict) else _NOTHING
