"""Which rows are versions of an order, and what decides between those of one instant."""

from hashlib import sha256
from typing import Any

import pytest

from jobs.importing.kinds import order_versions
from jobs.importing.kinds.orders import OrdersKind
from jobs.importing.values.fields import ID, Field
from tests.jobs.importing.conftest import Warehouse
from tests.support.import_files import Row, order

FULL = order(
    updated_at="2026-01-03",
    currency="EUR",
    discount_cents=50,
    customer_id="c1",
    visitor_id="v1",
    discount_codes=[{"code": "save", "amount_cents": 40, "discount_id": "d1"}, {"code": "more"}],
    refunds=[{"refund_id": "r1", "created_at": "2026-01-04", "amount_cents": 10}],
    cancelled_at="2026-01-05",
    utm_source="meta",
    utm_medium="paid",
    utm_campaign="spring",
    utm_term="shoes",
    utm_content="blue",
    utm_id="7",
)
ADA = "ada@a.example"
IDENTITY = "SELECT precedence, content FROM raw_order ORDER BY gross"


def first_byte(email: str) -> str:
    return sha256(email.encode()).hexdigest()[:2]


# Another address with the first byte of Ada's, and one without.
NAMESAKE, STRANGER = (
    next(
        email
        for email in (f"{number}@b.example" for number in range(10_000))
        if (first_byte(email) == first_byte(ADA)) == is_same
    )
    for is_same in (True, False)
)


@pytest.mark.parametrize(
    ("row", "digest"),
    [
        (order(), "6d84167b91ae64a1daea7c1d010e0f0f"),
        (FULL, "d081ac56e45f7ff373f2443c91809491"),
    ],
    ids=["least", "all"],
)
def test_what_is_hashed_of_a_row_stays_the_same_for_ever(
    sqlite_warehouse: Warehouse, row: Row, digest: str
) -> None:
    """If this fails because a field is new: leave it out of the hashes of rows that do not have it."""
    sqlite_warehouse.take("orders", [row])
    (stored,) = sqlite_warehouse.records(IDENTITY)
    assert stored["precedence"] == stored["content"][:32] == digest


@pytest.mark.parametrize("name", ["in.csv", "in.parquet", "in.ndjson.gz"])
@pytest.mark.parametrize("row", [order(), FULL | {"email": ADA}], ids=["least", "all"])
def test_every_format_gives_the_same_version(
    sqlite_warehouse: Warehouse, row: Row, name: str
) -> None:
    assert sqlite_warehouse.take("orders", [row])["new"] == 1
    others = [dict(reversed(row.items())), row | {"a_field_of_later": 1}]
    counts = sqlite_warehouse.take("orders", others, name)
    assert (counts["new"], counts["replaced"], counts["duplicate"]) == (0, 0, 2)
    assert len(sqlite_warehouse.rows(IDENTITY)) == 1


@pytest.mark.parametrize("row", [order(), FULL | {"email": ADA}], ids=["least", "all"])
def test_a_release_that_reads_one_more_field_finds_no_new_version_in_an_old_file(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, row: Row
) -> None:
    sqlite_warehouse.take("orders", [row])
    (before,) = sqlite_warehouse.records(IDENTITY)
    sqlite_warehouse.change("ALTER TABLE raw_order ADD COLUMN gateway TEXT NOT NULL DEFAULT ''")
    monkeypatch.setattr(OrdersKind, "fields", (*OrdersKind.fields, Field("gateway", ID, "new")))
    monkeypatch.setitem(order_versions._STATED, "gateway", "gateway")
    counts = sqlite_warehouse.take("orders", [row, row | {"gateway": ""}])
    assert (counts["new"], counts["replaced"], counts["duplicate"]) == (0, 0, 2)
    # With the field it is another version, whichever of the two stands.
    sqlite_warehouse.take("orders", [row | {"gateway": "card"}])
    stored = sqlite_warehouse.records("SELECT precedence, content, gateway FROM raw_order")
    assert [one["gateway"] for one in stored if one["content"] == before["content"]] == [""]
    assert len(stored) == 2


@pytest.mark.parametrize("missing", ["", None])
def test_a_missing_field_is_left_out(sqlite_warehouse: Warehouse, missing: Any) -> None:
    sqlite_warehouse.take("orders", [order()])
    empty = {name: missing for name in FULL if name not in order()}
    assert sqlite_warehouse.take("orders", [order() | empty])["duplicate"] == 1


def test_of_an_email_only_a_byte_of_its_hash_decides(sqlite_warehouse: Warehouse) -> None:
    rows = [order(email=email) for email in (ADA, NAMESAKE, STRANGER)]
    sqlite_warehouse.take("orders", [order(), *rows])
    stored = sqlite_warehouse.records("SELECT precedence FROM raw_order")
    precedences = [row["precedence"] for row in stored]
    assert len({precedence[:32] for precedence in precedences}) == 1
    ends = sorted(precedence[32:] for precedence in precedences)
    assert ends == sorted(["", *(first_byte(email) for email in (ADA, NAMESAKE, STRANGER))])


def test_of_an_address_that_is_an_id_nothing_decides(sqlite_warehouse: Warehouse) -> None:
    rows = [order(customer_id=email, visitor_id=email) for email in (ADA, NAMESAKE, STRANGER)]
    sqlite_warehouse.take("orders", rows)
    stored = sqlite_warehouse.records(IDENTITY)
    assert len({row["content"] for row in stored}) == 3
    assert len({row["precedence"] for row in stored}) == 1
