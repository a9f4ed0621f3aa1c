"""No address in clear and no free answer anywhere, and kept rejects that can still be retried."""

import json
import subprocess
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import URL

from jobs.importing.files.ndjson import chunk_of_texts
from jobs.importing.import_file import import_chunks
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Counts
from jobs.importing.reject_text import kept_text
from tests.jobs.importing.conftest import NewWarehouse
from tests.support import postgres
from tests.support.hashing import HASHER, marked
from tests.support.import_files import FORM, Row, answer, as_ndjson, event, order, written
from tests.support.warehouse import Warehouse
from warehouse.connections.arrow import open_arrow
from web.collector.calls import PostedCalls, reduce_calls
from web.collector.known_keys import KnownKey

ADDRESS = "ann@mail.example"
HASHES = [sha256(text.encode()).hexdigest() for text in (ADDRESS, "çem+news@mail.example")]
SECRETS = ("ann", "çem", "opinion", "Ann", "ANN")
ROWS: list[Row] = [
    event(event_id="1", email="ann@mail.example"),
    event(event_id="2", email=" ANN@mail.example", shop_id="x.example"),
    event(event_id="3", email="çem+news@mail.example", customer_id="ann@mail.example", type="x"),
    answer("my opinion", "text", event_id="4"),
    answer("my opinion", "text", event_id="5", shop_id="x.example"),
    answer(["my opinion"], "rating", event_id="6", shop_id="x.example"),
    answer({"my": "opinion"}, "address", event_id="7"),
    answer("ann@mail.example", "email", event_id="8", shop_id="x.example"),
    answer("ann@mail.example", "email", event_id="9"),
    answer("red", "choice", event_id="10", shop_id="x.example", utm_term="by ann@mail.example!"),
    answer("my opinion", "", event_id="11"),
    answer("opinion\0", "text", event_id="12"),
    answer(2**64, "phone", event_id="13"),
    answer([10**30], "phone", event_id="14"),
    answer(["my", {"own": "opinion"}], "phone", event_id="17"),
    answer(3.25, "scale", event_id="15", shop_id="x.example", email="ann@mail.example"),
    answer(1e-7, "scale", event_id="16", shop_id="x.example", email="ann@mail.example"),
]
BROKEN = [
    b'{"event_id": "b1", "email": "ann@mail.example", "type": }',
    b'{"event_id": "b2", "email": "  Ann at home", "type": }',
    b'{"event_id": "b3", "who": "\\u0061nn\\u0040mail.example", "type": }',
    b'{"event_id": "b4", "field_type": "text", "value": "my \\"opinion\\" is',
    b'{"event_id": "b5", "value": ["my", "opinion", "field_type": "choice"}',
]


def import_all(warehouse: Warehouse) -> None:
    """Everything private, in every way in which it can come and be refused."""
    warehouse.take("events", as_ndjson(ROWS) + b"\n".join(BROKEN))
    warehouse.take("events", ROWS, "in.csv")
    header = b"event_id,field_type,value," + ",".join(list(event())[1:]).encode() + b"\n"
    warehouse.take("events", header + b"e,text,my opinion, so,a.example\n", "odd.csv")
    split = b"e,text,my\nopinion,a.example\nopinion\nsecond opinion,,\n"
    warehouse.take("events", header + split, "split.csv")
    foreign = header.replace(b"event_id,", b"event_id,Billing Name,") + b"e,my opinion\n"
    warehouse.take("events", foreign, "foreign.csv")
    shopify = b'{"order_id": "", "billing_name": "Ann"}\n{"billing_name": "Ann", "order_id": \n'
    warehouse.take("orders", shopify, "own.ndjson")
    warehouse.take("events", b'{"event_id": "b6", "value": "my\nopinion"}', "split.ndjson")
    hashes = [event(event_id=f"h{n}", email_sha256=hash) for n, hash in enumerate(HASHES)]
    shouted = [row | {"email_sha256": row["email_sha256"].upper(), "type": "x"} for row in hashes]
    warehouse.take("events", hashes + shouted, "hashes.ndjson")
    warehouse.take("events", shouted, "hashes.csv")
    twice = b'{"event_id": "1", "event_id": "2", "email_sha256": "%b"}\n' % HASHES[0].encode()
    warehouse.take("events", twice + twice[:-3], "twice.ndjson")
    ids = dict.fromkeys(("visitor_id", "customer_id", "utm_term", "discount_code"), ADDRESS)
    warehouse.take("events", [event(event_id=ADDRESS, **ids), event(event_id="x", type="?", **ids)])
    warehouse.take("events", [answer([ADDRESS, "red"], "multi_choice", event_id="choices")])
    warehouse.take("orders", [order(email=ADDRESS), order(email=ADDRESS, total_cents=-1)])
    called: Row = {"userId": ADDRESS, "messageId": "m", "type": "track", "event": "Form Viewed"}
    properties = {"form_id": FORM, "form_session_id": "s", "email": ADDRESS}
    calls = [called | {"properties": properties, "sentAt": at} for at in ("2026-01-02", "soon")]
    calls[1]["messageId"] = "n"
    warehouse.take_file("events", written(warehouse.folder / "c.ndjson", calls), "a.example")
    collected = reduce_calls(
        PostedCalls(calls, None, None, {}), KnownKey("a.example", 1, frozenset()), "", 0
    ).lines
    warehouse.take_file("events", written(warehouse.folder / "l.ndjson", collected))


def left_of(kept: bytes) -> list[str]:
    """The private texts in some bytes, in which some are that need not be private."""
    text = kept.decode("latin-1")
    assert "red" in text
    assert marked(ADDRESS) in text
    private = (*SECRETS, *HASHES, *(hash.upper() for hash in HASHES))
    return [secret for secret in private if secret.encode().decode("latin-1") in text]


def test_nothing_private_is_in_the_file(sqlite_warehouse: Warehouse) -> None:
    import_all(sqlite_warehouse)
    assert left_of(b"".join(path.read_bytes() for path in database_files(sqlite_warehouse))) == []


def test_nothing_private_is_in_a_dump(postgres_warehouse: Warehouse, postgres_server: URL) -> None:
    import_all(postgres_warehouse)
    program = Path(postgres.programs(postgres_server), "pg_dump")
    address = postgres_warehouse.url.replace("+psycopg", "", 1)
    dumped = subprocess.run([program, "--inserts", address], check=True, capture_output=True).stdout
    assert left_of(dumped) == []


def database_files(warehouse: Warehouse) -> list[Path]:
    path = Path(warehouse.url.removeprefix("sqlite:///"))
    return [path, *path.parent.glob(f"{path.name}-*")]


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv"])
def test_a_retry_comes_to_the_same_rows(new_warehouse: NewWarehouse, name: str) -> None:
    """Once the cause is mended: here, once the shop is known."""
    mended, straight = new_warehouse(), new_warehouse()
    mended.take("events", ROWS, name)
    add = "INSERT INTO shop (shop_id, currency, timezone) VALUES ('x.example', 'EUR', 'UTC')"
    for warehouse in (mended, straight):
        with open_arrow(warehouse.url) as connection:
            connection.execute(add)
            connection.commit()
    straight.take("events", ROWS, name)
    kept = mended.records("SELECT line, text FROM reject ORDER BY line")
    texts = [(row["line"], row["text"]) for row in kept]
    kind, counts = KINDS["events"], Counts()
    chunk = chunk_of_texts(kind.field_names(), texts, textual=name.endswith(".csv"))
    with open_arrow(mended.url) as connection:
        list(import_chunks(connection, kind, name, [chunk], counts))
    columns = (
        "SELECT shop_key, event_id, type, field_id, field_type, value, email_sha256, device "
        "FROM raw_event ORDER BY event_id"
    )
    assert mended.records(columns) == straight.records(columns)
    assert counts.rejected == len(straight.reasons())
    assert counts.new == len(texts) - counts.rejected > 0


@pytest.mark.parametrize("number", ["12345678901234567.25", "1e400", "1.50"])
def test_a_number_keeps_its_digits_beside_what_is_hidden(number: str) -> None:
    text = f'{{"email": "ann@mail.example", "field_type": "scale", "value": {number}}}'
    kept = kept_text(text, KINDS["events"], HASHER)
    assert json.loads(kept, parse_float=Decimal)["value"] == Decimal(number)


@pytest.mark.parametrize("odd", ['"\\ud800"', "NaN"])
def test_what_is_no_json_stays_none(sqlite_warehouse: Warehouse, odd: str) -> None:
    """Half of a surrogate pair, which no database keeps, and names that are no numbers."""
    line = as_ndjson([event(email="ann@mail.example", customer_id="?")]).replace(
        b'"?"', odd.encode()
    )
    for _ in range(2):
        assert sqlite_warehouse.take("events", line)["rejected"] == 1
        (kept,) = sqlite_warehouse.records("SELECT reason, text FROM reject")
        assert kept["reason"] == "not JSON"
        assert kept["text"] == "***"
        line = kept["text"].encode() + b"\n"


def test_what_is_not_private_stays_as_it_was() -> None:
    for row in (answer("red"), answer(["a@b", "5 @ home"]), event(form_session_id="s@1")):
        text = json.dumps(row, indent=1)
        assert kept_text(text, KINDS["events"], HASHER) == text


def test_nothing_is_kept_of_a_text_that_is_too_long() -> None:
    text = json.dumps(event(customer_id="c" * 1_100_000))
    assert kept_text(text, KINDS["events"], HASHER) == "***"


def test_of_a_name_that_comes_twice_only_the_value_that_counts_is_kept() -> None:
    text = '{"email": "ann@mail.example", "email": "", "event_id": "1"}'
    assert kept_text(text, KINDS["events"], HASHER) == '{"email":"","event_id":"1"}'


def test_rows_in_a_line_that_is_no_row_keep_no_free_answer() -> None:
    line = '[{"type": "answer", "field_type": "text", "value": "SECRETten"}]'
    assert "SECRETten" not in kept_text(line, KINDS["events"], HASHER)
