"""The demo's shop at a fixed instant, and a question for every operation of the API's description."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import orjson
from flask import Flask
from sqlalchemy import insert
from werkzeug.test import TestResponse

from jobs.demo.cast import QUIZ, SHOP_ID, SURVEY
from jobs.demo.files import write
from tests.support.product import Product
from tests.support.shop_builder import known_shop, writing
from warehouse.connections.engine import open_engine
from warehouse.domain.time import day_number, to_micros
from warehouse.domain.vocabulary import SCOPES
from warehouse.shops import notes
from warehouse.tables import note
from web.api.endpoint import Endpoint
from web.app import close_app, create_app
from web.auth import api_keys
from web.auth.audit import Actor, Change
from web.reports import ENDPOINTS

NOW: Final = datetime(2026, 3, 12, 17, 30, tzinfo=UTC)
DAYS: Final = 5
CREDENTIAL: Final = "cred_0123456789abcdef01234567"
REQUEST: Final = "req_0199b7c2-7d5e-7000-8000-000000000000"
DATA_THROUGH: Final = "2026-03-12T17:20:00.000Z"
CREATED: Final = "0199b7c2-7d5e-7000-8000-000000000001"
# An order of the demo's that used a code of its submission.
ORDER: Final = "o_2603090229a"
NOTE: Final = "0199b7c2-7d5e-4000-8000-000000000002"
# How many rows of an answer an example shows.
MOST_ROWS: Final = 4

_DRAFT: Final = {"steps": [{"id": "mail", "fields": [{"id": "email", "type": "email"}]}]}


@dataclass(frozen=True)
class ParsedRequest:
    """A question: of which operation, under which name, and the request that asks it."""

    operation: str
    name: str
    method: str
    path: str
    query: dict[str, str]
    body: dict[str, Any] | None = None


_DAYS: Final = {"range": "2026-03-11..2026-03-12"}
# The questions of an operation that are more than its address: the parameters of each, by name.
_PARAMETERS: Final[dict[str, dict[str, dict[str, str]]]] = {
    "listForms": {"answer": {"limit": "2"}},
    "formFunnel": {
        "answer": {},
        "equal_age": {"within": "1"},
        "filtered": {"device": "mobile", "visitor": "new"},
    },
    "visitorConversion": {"answer": {}, "filtered": {"utm_source": "facebook"}},
    "crossField": {"answer": {"fieldA": "skin_type", "fieldB": "concerns"}},
    "formTrends": {"answer": _DAYS},
    "attributionDaily": {"answer": _DAYS},
    "revenueByUtm": {
        name: {"dimension": name} for name in ("campaign", "attribution", "hierarchy")
    },
    "lifetimeValue": {name: {"dimension": name} for name in ("form", "segment")},
    "orders": {"answer": {"type": "discount_code"}},
    "revenueByForm": {name: {"clock": name} for name in ("submission", "order")},
}


def _address(endpoint: Endpoint) -> str:
    return endpoint.address.replace("{id}", QUIZ.id).replace("{orderId}", ORDER)


QUESTIONS: Final = (
    *(
        ParsedRequest(each.operation, name, "GET", _address(each), parameters)
        for each in ENDPOINTS
        if each.method == "GET"
        for name, parameters in _PARAMETERS.get(each.operation, {"answer": {}}).items()
    ),
    ParsedRequest(
        "replaceDraft", "answer", "PUT", f"/v1/forms/{SURVEY.id}", {}, {"draft_schema": _DRAFT}
    ),
    ParsedRequest(
        "writeNote",
        "answer",
        "POST",
        "/v1/notes",
        {},
        {"date": "2026-03-11", "text": "Spring newsletter"},
    ),
    ParsedRequest("deleteNote", "answer", "DELETE", f"/v1/notes/{NOTE}", {}),
    ParsedRequest(
        "createForm", "answer", "POST", "/v1/forms", {}, {"name": "Newsletter", "schema": _DRAFT}
    ),
)


@dataclass(frozen=True)
class Described:
    """The service over the demo's shop: its warehouse, the application, a key of all scopes, and keys
    that lack one of them."""

    url: str
    app: Flask
    key: str
    keys_without: Mapping[str, str]

    def send(
        self, asked: ParsedRequest, headers: Mapping[str, str] = {}, body: bytes | None = None
    ) -> TestResponse:
        """The answer; with these headers, and this body in the place of the question's own."""
        if asked.method == "DELETE":
            write_note(self.url)
        sent = {"Authorization": f"Bearer {self.key}"}
        if asked.body is not None:
            body = orjson.dumps(asked.body) if body is None else body
            sent["Content-Type"] = "application/json"
        return self.app.test_client().open(
            asked.path,
            method=asked.method,
            query_string=asked.query,
            data=body,
            headers=sent | dict(headers),
        )

    def ask(self, question: ParsedRequest) -> Any:
        """The answer's body; what differs from one run to the next has a fixed value in its place."""
        answer = self.send(question)
        body = answer.get_json()
        assert answer.status_code in (200, 201), body
        body["meta"] |= {"requestId": REQUEST, "dataThrough": DATA_THROUGH}
        if answer.status_code == 201:
            body["data"]["id"] = CREATED
        return body


def write_note(url: str) -> None:
    """The note that a question takes away, where it is not there."""
    engine = open_engine(url)
    with writing(engine) as connection:
        shop_key = known_shop(engine, SHOP_ID).key
        if notes.find(connection, shop_key, NOTE) is None:
            day = day_number(NOW.date()) - 2
            row = {"note_id": NOTE, "shop_key": shop_key, "day": day, "text": "Two pages are new"}
            connection.execute(insert(note), row | {"created_at": to_micros(NOW)})
    engine.dispose()


@contextmanager
def described(url: str) -> Iterator[Described]:
    """The demo's shop in an empty warehouse, as of NOW."""
    product = Product(url)
    with TemporaryDirectory() as folder:
        for kind, paths in write(Path(folder), NOW, DAYS).items():
            product.take(kind, paths)
    product.rollup()
    engine = open_engine(url)
    with writing(engine) as connection:

        def mint(scopes: Iterable[str], credential_id: str | None = None) -> str:
            return api_keys.mint(
                Change(connection, Actor("test", "test"), 0),
                SHOP_ID,
                tuple(scopes),
                name="described",
                expires_at=None,
                credential_id=credential_id,
            )

        key = mint(SCOPES, CREDENTIAL)
        keys_without = {scope: mint(one for one in SCOPES if one != scope) for scope in SCOPES}
    engine.dispose()
    write_note(url)
    app = create_app(url, lambda: to_micros(NOW))
    yield Described(url, app, key, keys_without)
    close_app(app)


def shown(body: Any) -> Any:
    """An answer as an example shows it: its first rows."""
    data = body["data"]
    if isinstance(data, list):
        data = data[:MOST_ROWS]
    elif "rows" in data:
        data = {**data, "rows": data["rows"][:MOST_ROWS]}
    return {**body, "data": data}
