"""The shop whose reject it is, and the retries that shops ask for: one shop never touches another's."""

from typing import Any

import pytest
from click.testing import CliRunner

from jobs.cli import main
from jobs.importing import rejects
from jobs.importing.kinds.orders import OrdersKind
from jobs.run.signals import Stopped
from tests.support.import_files import ECB, as_ndjson, form, order, spend
from tests.support.shop_builder import writing
from tests.support.warehouse import Warehouse
from warehouse.connections.engine import open_engine
from warehouse.operations import tasks
from warehouse.operations.tasks import REJECTS, RETRY

POUNDS = {"currency": "GBP"}
SPEND = b"""Date,Platform,Campaign,Currency,Cost,Impr.,Clicks
2026-01-02,meta,S,EUR,?,1,1
short
"""


@pytest.fixture(autouse=True)
def _here(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", warehouse.url)
    monkeypatch.chdir(warehouse.folder)


def run(*words: str, status: int = 0) -> str:
    result = CliRunner().invoke(main, words, catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result.output


def shops_of_rejects(warehouse: Warehouse) -> list[tuple[int, str]]:
    """Line and shop of each reject; "" where the shop is not certain."""
    found = warehouse.records(
        "SELECT r.line, COALESCE(s.shop_id, '') AS shop FROM reject r "
        "LEFT JOIN shop s ON s.shop_key = r.shop_key ORDER BY r.line, r.reject_id"
    )
    return [(row["line"], row["shop"]) for row in found]


def key(warehouse: Warehouse, shop_id: str) -> int:
    (row,) = warehouse.records(f"SELECT shop_key FROM shop WHERE shop_id = '{shop_id}'")
    return int(row["shop_key"])


def ask(warehouse: Warehouse, shop_id: str, now: int = 1) -> bool:
    engine = open_engine(warehouse.url)
    with writing(engine) as connection:
        asked = tasks.ask(connection, key(warehouse, shop_id), REJECTS, RETRY, now)
    engine.dispose()
    return asked


def last(warehouse: Warehouse, shop_id: str) -> tuple[bool, int]:
    """Whether the last retry of a shop is done, and how many rows it has accepted."""
    with open_engine(warehouse.url).connect() as connection:
        retry = tasks.find(connection, key(warehouse, shop_id), REJECTS)
    assert retry is not None
    return retry.ended_at > 0, retry.rows


HOSTILE: list[tuple[Any, str]] = [
    (order(order_id="1", **POUNDS), "a.example"),
    # The file is a's, and the row names b: if it were accepted, it would be an order of b.
    (order(order_id="2", shop_id="b.example", total_cents="<b>"), "b.example"),
    (order(order_id="3", shop_id="nobody.example"), ""),
    (order(order_id="4", shop_id=None), ""),
    (order(order_id="5", shop_id=["a.example"]), ""),
    (order(order_id="6", shop_id={"a.example": 1}), ""),
    (order(order_id="7", shop_id=1), ""),
    (order(order_id="8", shop_id="A.example"), ""),
    (order(order_id="9", shop_id=" a.example"), ""),
    (order(order_id="10", shop_id="a.example\0"), ""),
    # The last of two counts, as it does in rows that are accepted.
    (b'{"shop_id": "a.example", "order_id": "11", "shop_id": "b.example"}', "b.example"),
    # Broken: whatever it says, it is no row.
    (b'{"shop_id": "a.example", "order_id": "12"', ""),
    (b'["a.example"]', ""),
    (b'"a.example"', ""),
]


def test_a_row_is_of_the_shop_that_it_names(warehouse: Warehouse) -> None:
    lines = [row if isinstance(row, bytes) else as_ndjson([row]).strip() for row, _ in HOSTILE]
    warehouse.take("orders", b"\n".join(lines))
    assert shops_of_rejects(warehouse) == list(enumerate((shop for _, shop in HOSTILE), 1))


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
def test_in_files_with_columns_too(warehouse: Warehouse, name: str) -> None:
    rows = [
        order(order_id="1", **POUNDS),
        order(order_id="2", shop_id="b.example", **POUNDS),
        order(order_id="3", shop_id="nobody.example", **POUNDS),
        order(order_id="4", shop_id="", **POUNDS),
    ]
    warehouse.take("orders", rows, name)
    assert [shop for _, shop in shops_of_rejects(warehouse)] == ["a.example", "b.example", "", ""]


def test_shops_and_rates_are_of_no_shop(warehouse: Warehouse) -> None:
    warehouse.take("shops", [{"shop_id": "a.example", "currency": "?"}])
    warehouse.take("exchange-rates", ECB.replace(b"161.5", b"?"), "eurofxref-hist.csv")
    assert {shop for _, shop in shops_of_rejects(warehouse)} == {""}


def test_another_system_s_file_is_of_the_shop_that_the_import_named(
    warehouse: Warehouse,
) -> None:
    file = warehouse.folder / "spend.csv"
    file.write_bytes(SPEND)
    counts = warehouse.take_file("ad-spend", file, "b.example", "spend-csv")
    assert counts["rejected"] == 2
    assert shops_of_rejects(warehouse) == [(2, "b.example"), (3, "b.example")]


def test_a_shop_is_known_once_it_is_imported(warehouse: Warehouse) -> None:
    warehouse.take("orders", [order(shop_id="n.example", **POUNDS)])
    warehouse.take("shops", [{"shop_id": "n.example", "currency": "EUR"}], "shops.ndjson")
    assert shops_of_rejects(warehouse) == [(1, "")]
    run("rejects", "--retry", status=3)
    assert shops_of_rejects(warehouse) == [(1, "n.example")]


def pounds(warehouse: Warehouse, *shops: str) -> None:
    """Correct the currency of shops."""
    for shop in shops:
        warehouse.change(f"UPDATE shop SET currency = 'GBP' WHERE shop_id = '{shop}'")


def rejected_orders(warehouse: Warehouse) -> None:
    """Rejects of both shops that are accepted once the shops have pounds."""
    rows = [
        order(order_id=str(number), shop_id=shop, **POUNDS)
        for number in range(3)
        for shop in ("a.example", "b.example")
    ]
    warehouse.take("orders", [*rows, order(order_id="9", total_cents=-1)])


def orders_of(warehouse: Warehouse, shop_id: str) -> int:
    return len(
        warehouse.records(f"SELECT 1 FROM raw_order WHERE shop_key = {key(warehouse, shop_id)}")
    )


def test_a_refresh_retries_the_shop_that_asks_and_no_other(warehouse: Warehouse) -> None:
    rejected_orders(warehouse)
    warehouse.take("forms", [form(name="")], "forms.ndjson")
    pounds(warehouse, "a.example", "b.example")
    run("rollup", "--refresh")
    assert len(warehouse.reasons()) == 8
    assert ask(warehouse, "a.example")
    assert not ask(warehouse, "a.example"), "once is enough"
    assert last(warehouse, "a.example") == (False, 0)
    run("rollup", "--refresh")
    assert last(warehouse, "a.example") == (True, 3)
    assert [orders_of(warehouse, shop) for shop in ("a.example", "b.example")] == [3, 0]
    assert sorted(shop for _, shop in shops_of_rejects(warehouse)) == [
        *["a.example"] * 2,
        *["b.example"] * 3,
    ]
    facts = warehouse.records("SELECT 1 FROM fact_order")
    assert len(facts) == 3, "the same refresh rolls up what it has accepted"
    assert ask(warehouse, "a.example"), "another time"
    assert last(warehouse, "a.example") == (False, 0)


def test_a_rollup_by_hand_retries_nothing(warehouse: Warehouse) -> None:
    rejected_orders(warehouse)
    ask(warehouse, "a.example")
    run("rollup")
    assert last(warehouse, "a.example") == (False, 0)


def test_a_refresh_that_is_stopped_is_continued(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejected_orders(warehouse)
    pounds(warehouse, "a.example")
    ask(warehouse, "a.example")
    monkeypatch.setattr(rejects, "_ROWS", 1)
    advance = tasks.advance

    def stop(*arguments: Any) -> None:
        advance(*arguments)
        raise Stopped(15)

    monkeypatch.setattr(tasks, "advance", stop)
    for accepted in (1, 2, 3):
        run("rollup", "--refresh", status=143)
        assert last(warehouse, "a.example") == (False, accepted)
    monkeypatch.undo()
    monkeypatch.setenv("WAREHOUSE_URL", warehouse.url)
    run("rollup", "--refresh")
    assert last(warehouse, "a.example") == (True, 3)


def test_a_kill_before_progress_is_recorded_counts_nothing_twice(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejected_orders(warehouse)
    pounds(warehouse, "a.example")
    ask(warehouse, "a.example")

    def die(*_: Any) -> None:
        raise Stopped(15)

    with monkeypatch.context() as patch:
        patch.setattr(tasks, "advance", die)
        run("rollup", "--refresh", status=143)
    assert last(warehouse, "a.example") == (False, 3)
    run("rollup", "--refresh")
    assert last(warehouse, "a.example") == (True, 3)
    assert orders_of(warehouse, "a.example") == 3


def test_a_refresh_tries_so_many_at_most(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejected_orders(warehouse)
    pounds(warehouse, "a.example")
    ask(warehouse, "a.example")
    monkeypatch.setattr(rejects, "_ROWS_A_REFRESH", 2)
    progress = []
    for _ in range(3):
        run("rollup", "--refresh")
        progress.append(last(warehouse, "a.example"))
    assert progress == [(False, 2), (False, 3), (True, 3)]


def test_a_retry_that_fails_keeps_nobody_waiting(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejected_orders(warehouse)
    warehouse.take("ad-spend", [spend(shop_id="b.example", spend="?")], "spend.ndjson")
    pounds(warehouse, "a.example", "b.example")
    ask(warehouse, "a.example", now=1)
    ask(warehouse, "b.example", now=2)
    write, failing = OrdersKind.write, key(warehouse, "a.example")

    def fail(self: OrdersKind, connection: Any, rows: Any, import_id: int) -> Any:
        if rows["shop_key"][0].as_py() == failing:
            raise ValueError("no such row")
        return write(self, connection, rows, import_id)

    monkeypatch.setattr(OrdersKind, "write", fail)
    for _ in range(tasks.MAX_ATTEMPTS):
        assert last(warehouse, "a.example") == (False, 0)
        assert "the retry of rejects of shop " in run("rollup", "--refresh")
    assert last(warehouse, "a.example") == (True, 0)
    assert last(warehouse, "b.example") == (True, 3)
    results = warehouse.records("SELECT result FROM task ORDER BY shop_key")
    assert [row["result"] for row in results] == [
        '{"reason": "it could not be done (ValueError)"}',
        "{}",
    ]


def test_a_retry_by_hand_answers_those_who_asked(warehouse: Warehouse) -> None:
    rejected_orders(warehouse)
    pounds(warehouse, "a.example", "b.example")
    ask(warehouse, "a.example")
    run("rejects", "--retry", status=3)
    assert last(warehouse, "a.example") == (False, 3)
    run("rollup", "--refresh")
    assert last(warehouse, "a.example") == (True, 3)


def test_a_verify_is_recorded_for_each_shop(warehouse: Warehouse) -> None:
    warehouse.take("orders", [order(), order(shop_id="b.example")])
    run("rollup")
    warehouse.change(
        "UPDATE daily_attribution SET orders = orders + 1 WHERE edition = "
        "(SELECT edition FROM shop WHERE shop_id = 'b.example')"
    )
    run("verify", "--all", status=1)
    found = warehouse.records(
        "SELECT s.shop_id, e.differing_rows, e.verified_at > 0 AS verified "
        "FROM shop s JOIN edition e ON e.edition = s.edition ORDER BY s.shop_id"
    )
    assert [
        (row["shop_id"], row["differing_rows"] > 0, bool(row["verified"])) for row in found
    ] == [
        ("a.example", False, True),
        ("b.example", True, True),
    ]
