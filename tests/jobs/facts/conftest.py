"""An empty warehouse."""

from collections.abc import Iterator

import pytest

from warehouse.connections.arrow import ArrowConnection, open_arrow


@pytest.fixture
def connection(warehouse_url: str) -> Iterator[ArrowConnection]:
    with open_arrow(warehouse_url) as arrow:
        yield arrow
