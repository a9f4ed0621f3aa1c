"""Each key once: among new rows, among known ones, and where only a few are known."""

from typing import Any

import numpy as np
import pytest

from jobs.importing.kinds import append_only
from tests.support.import_files import event, order
from tests.support.warehouse import Warehouse

MANY = [event(event_id=f"e{n:05}", visitor_id="first") for n in range(3000)]


class Nowhere:
    """Picks no row but the first: known ones that lie further on are not foreseen."""

    def integers(self, low: int, high: int, size: int) -> Any:
        return np.zeros(size, dtype=np.int64)


@pytest.fixture(params=["foreseen", "unforeseen"])
def sampling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "unforeseen":
        monkeypatch.setattr(append_only, "_RANDOM", Nowhere())


def again(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"visitor_id": "second"} for row in rows]


@pytest.mark.usefixtures("sampling")
@pytest.mark.parametrize("known", [slice(2999, None), slice(0, 1), slice(None, None, 2)])
def test_known_rows_stay_and_new_ones_come(warehouse: Warehouse, known: slice) -> None:
    before = MANY[known]
    assert warehouse.take("events", before)["new"] == len(before)
    counts = warehouse.take("events", again(MANY))
    assert (counts["new"], counts["duplicate"]) == (3000 - len(before), len(before))
    found = warehouse.records(
        "SELECT visitor_id, COUNT(*) AS n FROM raw_event GROUP BY visitor_id ORDER BY visitor_id"
    )
    assert [row["n"] for row in found] == [len(before), 3000 - len(before)]
    batches = warehouse.records(
        "SELECT b.rows, (SELECT COUNT(*) FROM raw_event r WHERE r.batch_id = b.batch_id "
        "AND r.shop_key = b.shop_key) AS own FROM import_batch b ORDER BY batch_id"
    )
    assert [(row["rows"], row["own"]) for row in batches] == [
        (len(before), len(before)),
        (3000 - len(before), 3000 - len(before)),
    ]


@pytest.mark.usefixtures("sampling")
def test_nothing_new_leaves_no_batch(warehouse: Warehouse) -> None:
    warehouse.take("events", MANY)
    assert warehouse.take("events", again(MANY))["duplicate"] == 3000
    assert len(warehouse.records("SELECT batch_id FROM import_batch")) == 1


@pytest.mark.usefixtures("sampling")
def test_rejects_of_a_chunk_come_with_its_rows(warehouse: Warehouse) -> None:
    """Also where its rows had to be written a second time."""
    warehouse.take("events", MANY[2999:])
    counts = warehouse.take("events", [*MANY, event(type="x")])
    assert (counts["new"], counts["rejected"]) == (2999, 1)
    assert [line for line, _ in warehouse.reasons()] == [3001]


def test_shops_of_one_chunk_have_their_own_batches(warehouse: Warehouse) -> None:
    rows = [
        *(order(order_id=f"a{n}") for n in range(3)),
        *(order(order_id=f"b{n}", shop_id="b.example") for n in range(2)),
        order(order_id="a1"),
    ]
    assert warehouse.take("orders", rows) == {
        "read": 6,
        "new": 5,
        "duplicate": 1,
        "replaced": 0,
        "rejected": 0,
    }
    found = warehouse.records(
        "SELECT b.shop_key, b.rows, COUNT(*) AS own FROM import_batch b JOIN raw_order r "
        "ON r.batch_id = b.batch_id AND r.shop_key = b.shop_key "
        "GROUP BY b.shop_key, b.rows ORDER BY b.shop_key"
    )
    assert [tuple(row.values()) for row in found] == [(1, 3, 3), (2, 2, 2)]
