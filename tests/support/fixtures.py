"""The fixtures that every room may use."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.loaded import Content, Originals

NewUrl = Callable[[], str]
Loaded = Callable[[Content], str]


@pytest.fixture(scope="session")
def originals(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Originals]:
    with ExitStack() as databases:
        yield Originals(request, tmp_path_factory.mktemp("loaded"), databases)


@pytest.fixture
def loaded(
    originals: Originals,
    new_warehouse_url: NewUrl,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Iterator[Loaded]:
    """A function that returns the URL of a copy of a warehouse with a world rolled up, on either kind
    of database."""
    with ExitStack() as databases:
        on_sqlite = request.node.callspec.params["new_warehouse_url"] == "sqlite"

        def copy(content: Content) -> str:
            if on_sqlite:
                return originals.copy_file(content, tmp_path / "loaded.db")
            return databases.enter_context(originals.copied_database(content))

        yield copy
