"""Notes on days: written, listed and taken away, by their shop alone."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, func, select
from werkzeug.test import TestResponse

from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder
from warehouse.shops import notes
from warehouse.tables import note

DAYS = {"range": "2026-03-01..2026-03-31"}


class Notes:
    """The API as one key of a shop uses it."""

    def __init__(self, client: FlaskClient, key: str) -> None:
        self._client, self._headers = client, {"Authorization": f"Bearer {key}"}

    def write(self, date: Any = "2026-03-10", text: Any = "Autumn newsletter") -> TestResponse:
        body = {"date": date, "text": text}
        return self._client.post("/v1/notes", json=body, headers=self._headers)

    def listed(self, **query: str) -> TestResponse:
        return self._client.get("/v1/notes", query_string=query or DAYS, headers=self._headers)

    def texts(self, **query: str) -> list[tuple[str, str]]:
        rows = self.listed(**query).get_json()["data"]
        return [(row["date"], row["text"]) for row in rows]

    def delete(self, note_id: str) -> TestResponse:
        return self._client.delete(f"/v1/notes/{note_id}", headers=self._headers)


@pytest.fixture
def own(client: FlaskClient, shop: ShopBuilder) -> Notes:
    return Notes(client, shop.mint())


def test_a_note_is_written_listed_and_taken_away(own: Notes) -> None:
    written = own.write(text="  Autumn\n newsletter ")
    assert written.status_code == 201
    row = written.get_json()["data"]
    assert row == {
        "id": row["id"],
        "date": "2026-03-10",
        "text": "Autumn newsletter",
        "createdAt": "2026-03-31T12:00:00.000Z",
    }
    assert written.headers["Location"] == f"/v1/notes/{row['id']}"
    assert own.write("2026-03-02", "Sale").status_code == 201
    own.write("2026-04-01", "Later")
    assert own.texts() == [("2026-03-02", "Sale"), ("2026-03-10", "Autumn newsletter")]
    assert own.texts(range="2026-03-10") == [("2026-03-10", "Autumn newsletter")]
    deleted = own.delete(row["id"])
    assert (deleted.status_code, deleted.get_json()["data"]) == (200, row)
    assert own.texts() == [("2026-03-02", "Sale")]
    refused(own.delete(row["id"]), 404, "not_found")


def test_the_tag_changes_with_the_notes_of_the_days(client: FlaskClient, own: Notes) -> None:
    tags = [own.listed().headers["ETag"]]
    written = own.write().get_json()["data"]
    tags.append(own.listed().headers["ETag"])
    own.write("2026-04-01", "Another day")
    assert own.listed().headers["ETag"] == tags[1]
    seen = {**own._headers, "If-None-Match": tags[1]}
    assert client.get("/v1/notes", query_string=DAYS, headers=seen).status_code == 304
    own.delete(written["id"])
    assert own.listed().headers["ETag"] == tags[0] != tags[1]


def test_a_repeated_request_writes_once(client: FlaskClient, own: Notes) -> None:
    def send(text: str) -> TestResponse:
        headers = own._headers | {"Idempotency-Key": "1"}
        return client.post("/v1/notes", json={"date": "2026-03-10", "text": text}, headers=headers)

    first, again = send("Sale"), send("Sale")
    assert first.get_json()["data"] == again.get_json()["data"]
    assert own.texts() == [("2026-03-10", "Sale")]
    refused(send("Another"), 422, "idempotency_key_reused")
    # Taken away, it stays away.
    own.delete(first.get_json()["data"]["id"])
    assert send("Sale").status_code == 201
    assert own.texts() == []


def test_what_is_no_note_is_refused(own: Notes, engine: Engine) -> None:
    for date in ("2026-02-30", "20260310", "1999-12-31", "2101-01-01", "", 3, None):
        refused(own.write(date=date), 400, "invalid_body")
    for text in ("", " \n ", "x" * 256, "a\0b", "\ud800", "a\x07b", "a\u202eb", 3, None):
        refused(own.write(text=text), 400, "invalid_body")
    said = own.write(date="2026-02-30").get_json()["error"]["message"]
    assert said == "`date` is a day from 2000 to 2100, as in `2026-11-28`."
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(note)) == 0
    assert own.write(text="<script>é 中 =1+1").status_code == 201


def test_no_other_shop_and_no_other_scope(
    client: FlaskClient, own: Notes, shop: ShopBuilder, engine: Engine
) -> None:
    note_id = own.write().get_json()["data"]["id"]
    other = Notes(client, ShopBuilder(engine, "other.example").mint())
    assert other.texts() == []
    refused(other.delete(note_id), 404, "not_found")
    refused(other.delete("unknown"), 404, "not_found")
    reader = Notes(client, shop.mint("analytics:read"))
    assert reader.texts() == own.texts()
    refused(reader.write(), 403, "insufficient_scope")
    refused(reader.delete(note_id), 403, "insufficient_scope")
    refused(Notes(client, shop.mint("forms:write")).listed(), 403, "insufficient_scope")
    assert len(own.texts()) == 1


def test_two_at_once_stay_within_the_bound(own: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "MOST", 3)
    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(lambda _: own.write().status_code, range(6)))
    assert statuses == [201, 201, 201, 409, 409, 409]
    refused(own.write(), 409, "quota_exceeded")
    assert "The shop has 3 notes." in own.write().get_json()["error"]["message"]


def test_csv_keeps_a_formula_from_a_spreadsheet(client: FlaskClient, own: Notes) -> None:
    own.write(text="=HYPERLINK(1)")
    answer = own.listed(format="csv", **DAYS)
    assert answer.get_data(as_text=True).splitlines()[1].split(",")[2] == "'=HYPERLINK(1)"
