"""The commands as processes at once; the answers are the same. For faults see `faults/`."""

from pathlib import Path

from tests.support.answers import assert_answers
from tests.support.commands import Command, start_job
from tests.support.product import Product
from tests.support.worlds import world


def finish(*running: Command) -> None:
    for command in running:
        command.finish()


def test_two_rollups_and_two_imports_at_once(warehouse_url: str, tmp_path: Path) -> None:
    given = world(5, 30)
    product = Product(warehouse_url)
    for kind in ("shops", "forms", "orders", "ad-spend", "ad-accounts", "exchange-rates"):
        product.load(kind, given.records[kind])
    events = str(given.write(tmp_path)["events"])
    finish(
        start_job(warehouse_url, "rollup"),
        start_job(warehouse_url, "import", "events", events),
        start_job(warehouse_url, "import", "events", events),
        start_job(warehouse_url, "rollup"),
    )
    finish(start_job(warehouse_url, "rollup"), start_job(warehouse_url, "rollup"))
    assert_answers(product, given, "after all at once")
