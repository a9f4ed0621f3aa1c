"""The shop that the tests of this folder write."""

from collections.abc import Iterator

import pytest

from tests.support.fixtures import Loaded
from tests.support.stage import Stage


def with_shop(url: str) -> None:
    stage = Stage(url)
    stage.shop()
    stage.import_waiting()


@pytest.fixture
def stage(loaded: Loaded) -> Iterator[Stage]:
    stage = Stage(loaded(with_shop))
    yield stage
    stage.close()
