"""Rows that later imports replace: those of the imports that stand, and versions only where they differ."""

from random import Random

import pytest

from jobs.importing.files.ndjson import chunk_of_texts
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.replace_last import ReplaceLast
from jobs.importing.shops import load_shops
from jobs.importing.undo import purge_imports
from jobs.importing.values.columns import ChunkColumns
from tests.jobs.importing.conftest import NewWarehouse
from tests.support.import_files import Row, account, as_ndjson, rate, spend
from tests.support.warehouse import Warehouse
from tests.tiers import thorough
from warehouse.connections.arrow import open_arrow
from warehouse.domain.email_hash import EmailHasher

TABLES = {"exchange-rates": "exchange_rate", "ad-spend": "ad_spend", "ad-accounts": "ad_account"}


def undo(warehouse: Warehouse, import_id: int, kind: str) -> None:
    of_kind = KINDS[kind]
    assert isinstance(of_kind, ReplaceLast)
    with open_arrow(warehouse.url) as connection:
        of_kind.take_back(connection, import_id)
        connection.commit()


def state(warehouse: Warehouse, kind: str) -> list[tuple[object, ...]]:
    return sorted(warehouse.rows(f"SELECT * FROM {TABLES[kind]}"))


def versions(warehouse: Warehouse, kind: str) -> int:
    return len(warehouse.records(f"SELECT 1 FROM {TABLES[kind]}_version"))


def row(rng: Random, kind: str) -> Row:
    if kind == "exchange-rates":
        return rate(date=f"2026-01-0{rng.randrange(1, 5)}", rate=str(rng.randrange(1, 3)))
    if kind == "ad-spend":
        return spend(campaign_id=rng.choice("abc"), spend=str(rng.randrange(2)))
    return account(account_id=rng.choice("ab"), status=rng.choice(["ok", "error"]))


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("seed", [3, *thorough(range(8))])
def test_rows_are_those_of_the_imports_that_stand(
    new_warehouse: NewWarehouse, monkeypatch: pytest.MonkeyPatch, kind: str, seed: int
) -> None:
    """Several chunks an import; what some repeat; the oldest forgotten."""
    monkeypatch.setattr("jobs.importing.files.ndjson.CHUNK_ROWS", 3)
    rng = Random(seed)
    files = [[row(rng, kind) for _ in range(rng.randrange(1, 8))] for _ in range(8)]
    undone, old = {n for n in range(8) if rng.random() < 0.5}, rng.choice([None, 2])
    tried, expected = new_warehouse(), new_warehouse()
    for number, rows in enumerate(files):
        tried.take(kind, rows)
        if number == old:
            with open_arrow(tried.url) as connection:
                purge_imports(connection, 2**60, 0)
            undone -= set(range(number))
    for number in rng.sample(sorted(undone), len(undone)):
        undo(tried, number + 1, kind)
    for number, rows in enumerate(files):
        if number not in undone:
            expected.take(kind, rows)
    assert state(tried, kind) == state(expected, kind), (files, undone, old)
    for number in sorted(undone):
        tried.take(kind, files[number])
        expected.take(kind, files[number])
    assert state(tried, kind) == state(expected, kind), (files, undone, old)


def test_what_is_fetched_again_each_day_adds_no_versions(warehouse: Warehouse) -> None:
    days = [rate(date=f"2026-01-{day:02}") for day in range(1, 29)]
    for _ in range(3):
        warehouse.take("exchange-rates", days)
    assert versions(warehouse, "exchange-rates") == 28
    counts = warehouse.take("exchange-rates", [*days[1:], rate(date="2026-01-29"), rate(rate="2")])
    assert (counts["new"], counts["replaced"], counts["duplicate"]) == (1, 1, 27)
    assert versions(warehouse, "exchange-rates") == 30
    for import_id, left in ((1, 29), (4, 28), (2, 28)):
        undo(warehouse, import_id, "exchange-rates")
        assert len(state(warehouse, "exchange-rates")) == left
    undo(warehouse, 3, "exchange-rates")
    assert state(warehouse, "exchange-rates") == []
    assert versions(warehouse, "exchange-rates") == 0


def test_restated_spend_adds_versions_of_what_changed(warehouse: Warehouse) -> None:
    month = [spend(date=f"2026-01-{day:02}") for day in range(1, 29)]
    for day in range(4):
        warehouse.take("ad-spend", [*month[:-1], spend(date="2026-01-28", spend=str(day))])
    assert versions(warehouse, "ad-spend") == 27 + 4


@pytest.mark.parametrize("kind", TABLES)
def test_an_undone_version_passes_to_an_import_that_said_the_same(
    warehouse: Warehouse, kind: str
) -> None:
    rng = Random(1)
    rows = [row(rng, kind) for _ in range(6)]
    for _ in range(2):
        warehouse.take(kind, rows)
    stored = state(warehouse, kind)
    undo(warehouse, 1, kind)
    assert state(warehouse, kind) == stored
    undo(warehouse, 2, kind)
    assert state(warehouse, kind) == []


def test_a_version_passes_to_an_import_that_had_an_older_one(warehouse: Warehouse) -> None:
    """One import says two values in two chunks, and another comes between them."""
    for import_id, value in ((1, "1.1"), (2, "1.2"), (1, "1.2")):
        write(warehouse, import_id, rate(rate=value))
    undo(warehouse, 2, "exchange-rates")
    assert [each["rate"] for each in warehouse.records("SELECT rate FROM exchange_rate")] == ["1.2"]
    undo(warehouse, 1, "exchange-rates")
    assert state(warehouse, "exchange-rates") == []


def write(warehouse: Warehouse, import_id: int, of_file: Row) -> None:
    """A chunk of an import."""
    kind = KINDS["exchange-rates"]
    assert isinstance(kind, ReplaceLast)
    text = as_ndjson([of_file]).decode().strip()
    with open_arrow(warehouse.url) as connection:
        chunk = chunk_of_texts(kind.field_names(), [(1, text)], textual=False)
        columns = ChunkColumns(chunk, EmailHasher("a secret"))
        rows = kind.check(columns, load_shops(connection))
        kind.write(connection, rows, import_id)
        connection.commit()
