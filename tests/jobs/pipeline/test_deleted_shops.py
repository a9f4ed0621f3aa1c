"""A shop that is deleted while jobs are at work on it: they end cleanly, and leave nothing of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from jobs.importing.files.chunk import Chunk
from jobs.importing.files.detect import NO_OPTIONS, chunks_of
from jobs.importing.import_file import import_chunks
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Counts
from jobs.importing.shops import ShopDeleted, load_shops
from jobs.pipeline import comparison
from jobs.pipeline.comparison import Differences
from tests.support.commands import run_web
from tests.support.import_files import event, order, written
from tests.support.job_commands import BACKLOG_BATCHES, SHOP, Commands, slow_batches
from tests.support.shop_builder import writing
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.connections.engine import open_engine
from warehouse.editions import editions
from warehouse.editions.editions import Edition
from warehouse.tenants.deletion import close_shop, delete_rows

LEFT = (
    "SELECT (SELECT COUNT(*) FROM raw_order) + (SELECT COUNT(*) FROM raw_event) + "
    "(SELECT COUNT(*) FROM import_batch) + (SELECT COUNT(*) FROM edition) + "
    "(SELECT COUNT(*) FROM edition_batch) + (SELECT COUNT(*) FROM fact_order) + "
    "(SELECT COUNT(*) FROM daily_attribution)"
)


def delete(commands: Commands, shop_id: str = "a.example") -> None:
    run_web(commands.url, "shops", "delete", shop_id, "--yes").finish()


def test_a_rollup_leaves_a_shop_that_is_deleted(commands: Commands) -> None:
    commands.make_backlog()
    commands.one_batch_at_a_time()
    running = commands.start("rollup", before=slow_batches)
    commands.wait_until("SELECT COUNT(*) FROM edition_batch")
    # Here, since a process would begin when all batches are applied.
    engine = open_engine(commands.url)
    with writing(engine) as connection:
        close_shop(connection, "a.example", 1, "operator", "")
    engine.dispose()
    with open_arrow(commands.url) as arrow:
        delete_rows(arrow, "a.example")
    assert running.finish()
    assert commands.rows(LEFT) == [0]
    (run,) = [run for run in commands.status()["runs"] if run["job"] == "rollup"]
    assert (run["state"], run["batches"] < BACKLOG_BATCHES) == ("done", True)


def test_an_import_writes_nothing_for_a_shop_that_is_deleted(
    commands: Commands, tmp_path: Path
) -> None:
    commands.take("shops", [SHOP, SHOP | {"shop_id": "b.example"}])
    file = written(tmp_path / "events.ndjson", [event(), event(event_id="e2", shop_id="b.example")])
    kind, counts = KINDS["events"], Counts()
    with open_arrow(commands.url) as connection:
        shops = load_shops(connection)

        def chunks() -> Iterator[Chunk]:
            delete(commands)
            yield from chunks_of(file, kind, NO_OPTIONS, shops)

        with pytest.raises(ShopDeleted, match="a shop of this file was deleted"):
            list(import_chunks(connection, kind, "f", chunks(), counts))
    assert commands.rows("SELECT COUNT(*) FROM raw_event") == [0]
    commands("import", "events", str(file), status=3)
    assert commands.rows("SELECT event_id FROM raw_event") == ["e2"]
    assert commands.rows("SELECT COUNT(*) FROM reject") == [1]


def test_a_process_that_still_knows_a_deleted_shop_gives_it_no_edition(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    (key,) = commands.rows("SELECT shop_key FROM shop")
    delete(commands)
    with open_arrow(commands.url) as connection:
        editions.create(connection, [key], 30, 1)
    assert commands.rows(LEFT) == [0]


def test_a_verify_finds_no_difference_in_a_shop_that_is_deleted(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    commands("rollup")
    compare = comparison.compare_editions

    def compared(connection: ArrowConnection, pairs: Mapping[Edition, Edition]) -> Differences:
        delete(commands)
        found = compare(connection, pairs)
        # One of them may be gone already, the other not yet.
        return found + Counter({(one.edition, "daily_attribution", 1): 1 for one in pairs})

    monkeypatch.setattr(comparison, "compare_editions", compared)
    assert "no differences" in commands("verify", "--all")
    assert commands.rows(LEFT) == [0]
