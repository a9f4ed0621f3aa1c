"""The conditions that need a person, each brought about; one shop's state is nobody else's."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, delete, insert, update

from tests.support.shop_builder import ShopBuilder, writing
from warehouse.connections.engine import open_engine
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND, NEVER
from warehouse.operations.conditions import BACKLOG, MANY_REJECTS, SET_ASIDE
from warehouse.shops.shop_state import NO_REFRESH, REJECTS, ShopState, needs, read_state
from warehouse.tables import edition, edition_batch, fact_order, import_batch, job_run, reject

MINUTE = 60 * MICROS_PER_SECOND
NOW = 1_000 * MICROS_PER_DAY
NOTHING = ShopState(0, 0, 0, 0, 0, 0)


@pytest.fixture
def engine(warehouse_url: str) -> Iterator[Engine]:
    engine = open_engine(warehouse_url)
    yield engine
    engine.dispose()


def add(engine: Engine, table: Any, **row: Any) -> Any:
    with writing(engine) as connection:
        return connection.execute(insert(table), row).inserted_primary_key


def state_of(engine: Engine, shop: ShopBuilder) -> ShopState:
    with engine.connect() as connection:
        return read_state(connection, shop.key, shop.edition)


def test_an_empty_shop_needs_nothing(engine: Engine) -> None:
    shop = ShopBuilder(engine)
    assert state_of(engine, shop) == NOTHING
    assert needs([], NOTHING, NOW, 5) == []


def test_each_field_is_of_the_shop(engine: Engine) -> None:
    shop, other = ShopBuilder(engine), ShopBuilder(engine, "other.example")
    for number, created_at in enumerate((5, 9, 7)):
        add(engine, fact_order, edition=shop.edition, order=number, created_at=created_at)
    first, second = (
        add(engine, import_batch, shop_key=shop.key, kind="orders", rows=1, imported_at=at)[0]
        for at in (3, 4)
    )
    # All rows of this one were taken back.
    (empty,) = add(engine, import_batch, shop_key=shop.key, kind="orders", rows=0, imported_at=2)
    add(engine, edition_batch, edition=shop.edition, batch_id=empty, attempts=1, retry_at=NEVER)
    add(engine, edition_batch, edition=shop.edition, batch_id=first, attempts=1, retry_at=NEVER)
    add(engine, edition_batch, edition=shop.edition, batch_id=second, attempts=1, retry_at=9)
    for rejected_at in (11, 13, 12):
        add(engine, reject, shop_key=shop.key, kind="orders", rejected_at=rejected_at)
    with writing(engine) as connection:
        compared = update(edition).where(edition.c.edition == shop.edition)
        connection.execute(compared.values(verified_at=21, differing_rows=22))
    assert state_of(engine, shop) == ShopState(9, 3, 13, 0, 21, 22)
    assert state_of(engine, other) == NOTHING
    with writing(engine) as connection:
        applied = update(edition).where(edition.c.edition == shop.edition)
        connection.execute(applied.values(applied_through=first))
        # One that has failed is exempt from that until it is applied.
        connection.execute(delete(edition_batch).where(edition_batch.c.batch_id == first))
    assert state_of(engine, shop).waiting_since == 4


def test_a_shop_without_figures_waits_for_its_first(engine: Engine) -> None:
    shop = ShopBuilder(engine, rolled_up=False)
    add(engine, import_batch, shop_key=shop.key, kind="orders", rows=0, imported_at=7)
    (batch,) = add(engine, import_batch, shop_key=shop.key, kind="orders", rows=1, imported_at=8)
    add(engine, edition_batch, edition=shop.edition, batch_id=batch, attempts=1, retry_at=NEVER)
    with engine.connect() as connection:
        state = read_state(connection, shop.key, 0)
    assert state.waiting_since == 8


def test_the_last_refresh_is_seen_while_it_runs(engine: Engine) -> None:
    shop = ShopBuilder(engine)
    for job, seen_at in (("refresh", 5), ("refresh", 7), ("nightly", 9)):
        add(engine, job_run, job=job, owner="h:1:x", started_at=1, seen_at=seen_at)
    assert state_of(engine, shop).refreshed_at == 7


OLD, NEW = NOW - 16 * MINUTE, NOW - 14 * MINUTE


@pytest.mark.parametrize(
    ("found", "fields", "expected"),
    [
        ([SET_ASIDE], {}, [SET_ASIDE]),
        ([], {"waiting_since": OLD, "verified_at": 1, "differing_rows": 1}, []),
        ([BACKLOG], {"refreshed_at": NEW}, [BACKLOG]),
        ([], {"refreshed_at": OLD}, [NO_REFRESH]),
        ([BACKLOG, SET_ASIDE], {"refreshed_at": OLD}, [NO_REFRESH, SET_ASIDE]),
        ([], {"rejected_at": NOW - 8 * MICROS_PER_DAY}, []),
        ([], {"rejected_at": NOW - 6 * MICROS_PER_DAY}, [REJECTS]),
        ([MANY_REJECTS], {"rejected_at": NOW - 1}, [MANY_REJECTS]),
    ],
)
def test_what_needs_a_person(found: list[str], fields: dict[str, int], expected: list[str]) -> None:
    state = ShopState(**{**vars(NOTHING), **fields})
    assert needs(found, state, NOW, 5) == expected


def test_patience_goes_by_the_schedule() -> None:
    late = ShopState(**{**vars(NOTHING), "refreshed_at": OLD})
    assert needs([], late, NOW, 6) == []
    eleven = ShopState(**{**vars(NOTHING), "refreshed_at": NOW - 11 * MINUTE})
    nine = ShopState(**{**vars(NOTHING), "refreshed_at": NOW - 9 * MINUTE})
    assert (needs([], nine, NOW, 1), needs([], eleven, NOW, 1)) == ([], [NO_REFRESH])
