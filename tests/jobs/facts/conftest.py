"""An empty warehouse."""

from collections.abc import Iterator

import pytest

from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import migrate


@pytest.fixture
def connection(warehouse_url: str) -> Iterator[ArrowConnection]:
    engine = open_engine(warehouse_url)
    migrate(engine)
    engine.dispose()
    with open_arrow(warehouse_url) as arrow:
        yield arrow
