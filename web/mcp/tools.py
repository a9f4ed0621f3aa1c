"""START HERE: what an assistant can ask. The tools follow from the declarations of the reports.

Every question goes through `Endpoint.ask`, so that `data` and `meta` are the bytes of the API, after the same
checks. `about` says beside them how figures are counted, and which texts strangers wrote.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import orjson
from werkzeug.datastructures import MultiDict

from warehouse.domain.time import day_date
from web.api.endpoint import Endpoint
from web.api.filters import NONE
from web.api.forms import list_forms
from web.api.rows import Row, Schema, explained
from web.http.api_key_auth import find_form
from web.http.content_type import FORMAT
from web.http.current_request import current_request, request_id
from web.http.errors import malformed
from web.http.host_and_proxy import own_address
from web.http.parameters import quoted
from web.http.services import services
from web.openapi.operations import parameters
from web.reports import READABLE
from web.reports.receipts import first_orders, one_order, orders

INVALID_ARGUMENTS: Final = "invalid_arguments"
UNKNOWN_REPORT: Final = "unknown_report"
INSTRUCTIONS: Final = " ".join(Path(__file__).with_name("instructions.md").read_text().split())
# Those with a tool of their own; all others are reports.
_OWN: Final = {"list_forms": list_forms, "list_orders": orders, "explain_order": one_order}
REPORTS: Final[Mapping[str, Endpoint]] = {
    each.operation: each for each in READABLE.values() if each not in _OWN.values()
}
_DESCRIBED: Final = {**REPORTS, **{each.operation: each for each in _OWN.values()}}
# The parameters that pages take under the same names.
_ON_PAGES: Final = {"clock", *(parameter.name for parameter in first_orders.parameters)}
# The argument for each part of a path.
_IDS: Final = {"id": "form_id", "orderId": "order_id"}


def answer(name: str, arguments: Mapping[str, Any]) -> bytes:
    """The answer of a tool, `{data, meta, about}` as JSON. Raises the refusals of the API, and those of a
    question that no report answers."""
    # A client that fills in every argument sends null for those that it leaves out.
    given = {name: value for name, value in arguments.items() if value is not None}
    if name == "describe_report":
        one = _take_report(given, _DESCRIBED)
        described = {
            "report": one.operation,
            "address": one.address,
            "description": ". ".join(one.described),
            "scope": one.scope,
            "arguments": _schema([one], _required(one)),
            "rows": {inner.name: inner.schema for row in one.rows for inner in row.inner_rows},
        }
        about = dict.fromkeys(("daysAreOver", "matureThrough", "page"))
        return _joined(orjson.dumps(described), {"requestId": request_id()}, one.rows, about)
    endpoint = _OWN.get(name) or _take_report(given, REPORTS)
    form_id, order_id = (_take_id(given, endpoint, place) for place in _IDS)
    if form_id:
        find_form(services().database, current_request(), form_id)
    query, data, meta = endpoint.ask(_texts(given, endpoint), form_id, order_id)
    # The page on which a person sees the answer.
    page = endpoint.shown_at.format(id=query.form_id, orderId=quote(query.item_id, safe=""))
    shown: dict[str, Any] = {}
    if endpoint.ranged:
        shown["range"] = f"{day_date(query.window.first)}..{day_date(query.window.last)}"
    # An empty value is none on a page: a form sends one for each filter that nobody chose.
    shown |= {
        name: value or NONE
        for name, value in query.values.items()
        if name in _ON_PAGES and value is not None
    }
    about = {
        "daysAreOver": query.window.last < query.today if endpoint.ranged else None,
        "matureThrough": meta.get("matureThrough"),
        "page": own_address() + (f"{page}?{urlencode(shown)}" if shown else page),
    }
    data_row = endpoint.data
    if not isinstance(data_row, Row):
        data_row = data_row[str(query.values["dimension"])]
    return _joined(b"".join(data), meta, [data_row], about)


def _joined(
    data: bytes, meta: Mapping[str, Any], rows: Sequence[Row], about: Mapping[str, Any]
) -> bytes:
    about = {**explained(rows), **about}
    return b'{"data":%b,"meta":%b,"about":%b}' % (data, orjson.dumps(meta), orjson.dumps(about))


def _take_report(given: dict[str, Any], known: Mapping[str, Endpoint]) -> Endpoint:
    """Take the report's name out of the arguments. Raises the 400 for one that there is not."""
    word = given.pop("report", None)
    if not isinstance(word, str) or word not in known:
        said = quoted(f"{word}") if word is not None else "missing"
        message = f"`report` is {said}. No report answers that; there are: {', '.join(known)}."
        raise malformed(UNKNOWN_REPORT, message)
    return known[word]


def _take_id(given: dict[str, Any], endpoint: Endpoint, place: str) -> str:
    """Take an id that the endpoint's path has out of the arguments; "" where it has none."""
    if f"{{{place}}}" not in endpoint.path:
        return ""
    name = _IDS[place]
    if not given.get(name):
        raise malformed(INVALID_ARGUMENTS, f"`{name}` is missing. {endpoint.operation} needs it.")
    return f"{given.pop(name)}"


def _texts(given: Mapping[str, Any], endpoint: Endpoint) -> MultiDict[str, str]:
    """The arguments as an address has them. A list for a parameter of one value is that parameter again and
    again, which the API refuses."""
    lists = [each.name for each in endpoint.parameters if each.schema["type"] == "array"]
    asked = MultiDict[str, str]()
    for name, value in given.items():
        values = value if isinstance(value, list) else [value]
        if not all(type(each) in (str, int) for each in values):
            message = f"`{name}` is {quoted(f'{value}')}. Give a text, or a whole number."
            raise malformed(INVALID_ARGUMENTS, message)
        texts = [f"{each}" for each in values]
        asked.setlist(name, [",".join(texts)] if name in lists else texts)
    return asked


def _arguments(endpoint: Endpoint) -> dict[str, Schema]:
    """The parameters of an endpoint, as the API's document has them, by the names of arguments."""
    found = {each["name"]: each for each in parameters(endpoint) if each["in"] != "header"}
    return {_IDS.get(name, name): each for name, each in found.items() if name != FORMAT.name}


def _required(endpoint: Endpoint) -> list[str]:
    return [name for name, each in _arguments(endpoint).items() if each.get("required")]


def _schema(endpoints: Sequence[Endpoint], required: Sequence[str], **more: Schema) -> Schema:
    """The JSON Schema of the arguments that some of the endpoints have."""
    found = dict(more)
    for endpoint in endpoints:
        for name, each in _arguments(endpoint).items():
            schema = {**each["schema"], "description": each["description"]}
            # Several may declare one each in its way: all their words count, and else what they agree on.
            before = found.get(name, schema)
            words = dict.fromkeys([*before.get("enum", ()), *schema.get("enum", ())])
            found[name] = {key: value for key, value in schema.items() if before.get(key) == value}
            found[name] |= {"enum": list(words)} if words else {}
    return {
        "type": "object",
        "properties": found,
        "required": list(required),
        "additionalProperties": False,
    }


def _tool(name: str, description: str, arguments: Schema) -> Schema:
    return {
        "name": name,
        "description": " ".join(description.split()),
        "inputSchema": arguments,
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


def _line(endpoint: Endpoint) -> str:
    names = sorted(_arguments(endpoint), key=lambda name: name not in _required(endpoint))
    return f"{endpoint.operation} ({', '.join(names)}): {endpoint.described[0]}."


TOOLS: Final[Mapping[str, Schema]] = {
    **{
        name: _tool(name, ". ".join(each.described), _schema([each], _required(each)))
        for name, each in _OWN.items()
    },
    "describe_report": _tool(
        "describe_report",
        "The arguments of a report, and the meaning of its fields.",
        _schema([], ["report"], report={"enum": list(_DESCRIBED)}),
    ),
    "ask_report": _tool(
        "ask_report",
        f"The figures of a report. Each takes these arguments: {' '.join(map(_line, REPORTS.values()))}",
        _schema([*REPORTS.values()], ["report"], report={"enum": list(REPORTS)}),
    ),
}
"""The tools by name, as `tools/list` has them."""
