"""Events in, raw rows out: what is kept of each field, from every format."""

from hashlib import sha256
from typing import Any

import pytest

from jobs.importing.rejects import retry_rejects
from tests.support.hashing import keyed
from tests.support.import_files import FORM, answer, as_ndjson, event
from tests.support.warehouse import Warehouse
from warehouse.connections.arrow import open_arrow

FULL = event(
    form_id=FORM.upper(),
    type="step_view",
    occurred_at="2026-01-02T05:04:05.678901+02:00",
    device_type="MOBILE",
    step_id="st",
    step_index=2,
    step_name="n" * 1001,
    customer_id="c1",
    email=" Ann@Mail.example\t",
    discount_id="d1",
    discount_code="Été-5",
    variant="B" * 256,
    page_path="/account/ann@mail.example/" + "p" * 256 + "?token=1",
    utm_source="u" * 256,
    utm_id="7",
)
STORED = {
    "event_id": "e1",
    "form_id": FORM,
    "form_session_id": "s1",
    "visitor_id": "v1",
    "type": 3,
    "occurred_at": 1767323045678901,
    "device": 2,
    "step_id": "st",
    "step_index": 2,
    "step_name": "n" * 1000,
    "field_id": "",
    "field_type": "",
    "value": "",
    "customer_id": "c1",
    "email_sha256": keyed("ann@mail.example"),
    "discount_id": "d1",
    "discount_code": "ÉTÉ-5",
    "variant": "B" * 255,
    "page_path": ("/account/***/" + "p" * 256)[:255],
    "utm_source": "u" * 255,
    "utm_medium": "",
    "utm_campaign": "",
    "utm_term": "",
    "utm_content": "",
    "utm_id": "7",
}
FORMATS = ("in.ndjson", "in.jsonl.gz", "in.csv", "in.csv.gz", "in.parquet")


@pytest.mark.parametrize("name", FORMATS)
def test_every_field_from_every_format(warehouse: Warehouse, name: str) -> None:
    counts = warehouse.take("events", [FULL], name)
    assert counts == {"read": 1, "new": 1, "duplicate": 0, "replaced": 0, "rejected": 0}
    row = warehouse.records("SELECT * FROM raw_event")[0]
    batch = warehouse.records("SELECT * FROM import_batch")
    assert [(one["kind"], one["rows"], one["batch_id"]) for one in batch] == [
        ("events", 1, row.pop("batch_id"))
    ]
    assert row.pop("shop_key") == 1
    assert row == STORED


@pytest.mark.parametrize(
    ("value", "field_type", "stored"),
    [
        ("red", "choice", '"red"'),
        ("Grün", "choice", '"Grün"'),
        ("x" * 1001, "choice", f'"{"x" * 1000}"'),
        (True, "boolean", '"true"'),
        (False, "choice", '"false"'),
        (3, "scale", '"3"'),
        (3.0, "scale", '"3"'),
        (2.5, "scale", '"2.5"'),
        (1e3, "scale", '"1000"'),
        (2**63 - 1, "scale", f'"{2**63 - 1}"'),
        (-(2**63), "scale", f'"{-(2**63)}"'),
        (-0.0, "scale", '"0"'),
        (1e-6, "scale", '"0.000001"'),
        (1e-7, "scale", '"1e-7"'),
        (-2.5e-12, "scale", '"-2.5e-12"'),
        ("3.0", "scale", '"3.0"'),
        (["b", "a", "b"], "multi_choice", '["a","b"]'),
        ([1, 1.0, "1", True], "multi_choice", '["1","true"]'),
        (["é", "Z", "a"], "multi_choice", '["Z","a","é"]'),
        (["a", None, ""], "multi_choice", '["a"]'),
        (["a"], "choice", '["a"]'),
        ("[1]", "choice", '"[1]"'),
        ("free words", "text", ""),
        (["free"], "rating-2027", ""),
        (12, "number", ""),
    ],
)
def test_an_answers_value(
    sqlite_warehouse: Warehouse, value: Any, field_type: str, stored: str
) -> None:
    sqlite_warehouse.take("events", [answer(value, field_type)])
    assert sqlite_warehouse.records("SELECT field_id, field_type, value FROM raw_event") == [
        {"field_id": "f1", "field_type": field_type, "value": stored}
    ]


@pytest.mark.parametrize("value", [[], [None], [""]])
@pytest.mark.parametrize("field_type", ["multi_choice", "text"])
def test_an_empty_list_is_an_event_but_no_answer(
    sqlite_warehouse: Warehouse, value: Any, field_type: str
) -> None:
    assert sqlite_warehouse.take("events", [answer(value, field_type)])["new"] == 1
    assert sqlite_warehouse.records("SELECT type, field_id, value FROM raw_event") == [
        {"type": 5, "field_id": "", "value": ""}
    ]


@pytest.mark.parametrize(
    ("cell", "field_type", "stored"),
    [
        ('["b", "a"]', "multi_choice", '["a","b"]'),
        ("[not json", "choice", '"[not json"'),
        ("3.0", "scale", '"3"'),
        ("1E2", "scale", '"100"'),
        ("0.0000001", "scale", '"1e-7"'),
        ("12345678901234567.25", "scale", '"12345678901234567.25"'),
        ("[1.50, 1e1]", "multi_choice", '["1.5","10"]'),
        ("3.0", "choice", '"3.0"'),
        ("True", "boolean", '"true"'),
        ("a, b", "choice", '"a, b"'),
        ("two\nlines", "choice", '"two\\nlines"'),
    ],
)
@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
def test_values_written_as_text(
    sqlite_warehouse: Warehouse, name: str, cell: str, field_type: str, stored: str
) -> None:
    sqlite_warehouse.take("events", [answer(cell, field_type)], name)
    assert sqlite_warehouse.records("SELECT value FROM raw_event") == [{"value": stored}]


@pytest.mark.parametrize(
    "text", ["12345678901234567.25", "9007199254740993.0", "1.50", "-0", "1E2"]
)
def test_no_digit_of_a_number_is_lost(sqlite_warehouse: Warehouse, text: str) -> None:
    line = as_ndjson([answer("?", "scale")]).replace(b'"?"', text.encode())
    sqlite_warehouse.take("events", line)
    sqlite_warehouse.take("events", [answer(text, "scale", event_id="e2")], "in.csv")
    plain = {"12345678901234567.25": text, "9007199254740993.0": text[:-2]}
    expected = plain.get(text) or {"1.50": "1.5", "-0": "0", "1E2": "100"}[text]
    found = sqlite_warehouse.records("SELECT value FROM raw_event")
    assert found == [{"value": f'"{expected}"'}] * 2


@pytest.mark.parametrize("value", [["b", "a"], [], 3.0, 1e-7, 0.1, True, "red"])
def test_values_typed_by_parquet(sqlite_warehouse: Warehouse, value: Any) -> None:
    """A Parquet column has one type; the row comes out as the same row of NDJSON does."""
    for name in ("in.parquet", "in.ndjson"):
        row = answer(value, "scale", event_id=name)
        assert sqlite_warehouse.take("events", [row], name)["new"] == 1
    one, other = sqlite_warehouse.records("SELECT field_id, value FROM raw_event")
    assert one == other


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (None, 0),
        ("", 0),
        ("desktop", 1),
        ("Tablet", 3),
        ("other", 4),
        ("smart-fridge", 4),
        ("x" * 5000, 4),
        (7, 4),
        (True, 4),
        (["mobile"], 4),
    ],
)
def test_a_device(sqlite_warehouse: Warehouse, given: Any, stored: int) -> None:
    sqlite_warehouse.take("events", [event() | {"device_type": given}])
    assert sqlite_warehouse.records("SELECT device FROM raw_event") == [{"device": stored}]


def test_ids_that_are_numbers_and_empty_values_that_are_missing(warehouse: Warehouse) -> None:
    row = event(event_id=12, visitor_id=7.0, customer_id="", email="", step_index="", value="")
    warehouse.take("events", [row])
    assert warehouse.records(
        "SELECT event_id, visitor_id, customer_id, email_sha256 FROM raw_event"
    ) == [{"event_id": "12", "visitor_id": "7", "customer_id": "", "email_sha256": ""}]


def test_a_hash_counts_where_there_is_no_address(sqlite_warehouse: Warehouse) -> None:
    hashed = sha256(b"ann@mail.example").hexdigest()
    other = sha256(b"other").hexdigest()
    sqlite_warehouse.take(
        "events",
        [
            event(event_id="1", email_sha256=hashed.upper()),
            event(event_id="2", email_sha256=other, email="ANN@mail.example"),
            event(event_id="3", email_sha256=hashed, email=""),
        ],
    )
    found = sqlite_warehouse.records("SELECT DISTINCT email_sha256 FROM raw_event")
    assert found == [{"email_sha256": keyed("ann@mail.example")}]


def test_what_is_not_kept_rejects_no_row(sqlite_warehouse: Warehouse) -> None:
    """A NUL, an object or an endless text, where nobody stores it."""
    odd: list[Any] = ["a\0b", "x" * 300_000, {"a": ["\0"]}, [["a"]], 2**64, [1, {}]]
    rows = [answer(value, "text", event_id=f"t{n}") for n, value in enumerate(odd)]
    rows += [event(event_id=f"d{n}", device_type=value) for n, value in enumerate(odd)]
    rows += [
        event(event_id=f"f{n}", field_id=value, field_type=value) for n, value in enumerate(odd)
    ]
    rows += [answer(value, "text", event_id=f"e{n}") for n, value in enumerate(([], [None, ""]))]
    assert sqlite_warehouse.take("events", rows)["new"] == len(rows)
    stored = "SELECT COUNT(*) FROM raw_event WHERE"
    assert sqlite_warehouse.rows(
        f"{stored} field_id = 'f1' AND field_type = 'text' AND value = ''"
    ) == [6]
    assert sqlite_warehouse.rows(f"{stored} field_id = '' AND field_type = ''") == [14]


def test_a_reject_without_its_free_answer_is_still_one_and_an_empty_one_none(
    sqlite_warehouse: Warehouse,
) -> None:
    values: list[Any] = ["a\0b", {"my": "opinion"}, [["opinion"]], [], [None, ""]]
    rows = [
        answer(value, "text", event_id=str(n), shop_id="n.example")
        for n, value in enumerate(values)
    ]
    assert sqlite_warehouse.take("events", rows)["rejected"] == 5
    assert "opinion" not in str(sqlite_warehouse.rows("SELECT text FROM reject"))
    sqlite_warehouse.take("shops", [{"shop_id": "n.example", "currency": "EUR"}])
    with open_arrow(sqlite_warehouse.url) as connection:
        assert retry_rejects(connection).new == 5
    answered = "SELECT event_id FROM raw_event WHERE field_id = 'f1' ORDER BY event_id"
    assert sqlite_warehouse.rows(answered) == ["0", "1", "2"]
