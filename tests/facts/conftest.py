"""A working set on an empty warehouse."""

from collections.abc import Iterator

import pytest

from jobs.facts.working import Working
from warehouse.bulk import open_bulk
from warehouse.engine import open_engine
from warehouse.migrate import migrate


@pytest.fixture
def work(warehouse_url: str) -> Iterator[Working]:
    engine = open_engine(warehouse_url)
    migrate(engine)
    engine.dispose()
    with open_bulk(warehouse_url) as bulk:
        yield Working(bulk)
