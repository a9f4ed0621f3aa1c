"""The shop that the tests of this folder write."""

from collections.abc import Iterator

import pytest

from tests.support.stage import Stage


@pytest.fixture
def stage(warehouse_url: str) -> Iterator[Stage]:
    stage = Stage(warehouse_url)
    stage.shop()
    yield stage
    stage.close()
