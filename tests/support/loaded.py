"""Warehouses with data that is rolled up: filled once by a test process, and copied for each test.

To copy one takes a hundredth of the time to fill it.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import URL, make_url

from jobs.importing.kinds import KINDS
from tests.support import postgres
from tests.support.product import Product
from tests.support.worlds import World

Content = World | Callable[[str], None]
"""A world, or a function that fills the empty warehouse of a URL."""


def load(product: Product, world: World) -> None:
    """Import a world, and roll it up."""
    for kind in KINDS:
        product.load(kind, world.records[kind])
    product.rollup()


def fill(url: str, content: Content) -> None:
    if isinstance(content, World):
        product = Product(url)
        load(product, content)
        product.close()
    else:
        content(url)


class Originals:
    """The filled warehouses, by kind of database and content. The same object is the same content."""

    def __init__(self, request: pytest.FixtureRequest, folder: Path, databases: ExitStack) -> None:
        """`databases` drops those of PostgreSQL at the end."""
        self._request, self._folder, self._stack = request, folder, databases
        # The content is kept too, so that no other object gets its id.
        self._files: dict[int, tuple[Path, Content]] = {}
        self._databases: dict[int, tuple[str, Content]] = {}

    def copy_file(self, content: Content, to: Path) -> str:
        """Copy a SQLite file; returns the URL of the copy."""
        if id(content) not in self._files:
            file = self._folder / f"{len(self._files)}.db"
            shutil.copy(self._request.getfixturevalue("sqlite_template"), file)
            fill(f"sqlite:///{file}", content)
            self._files[id(content)] = file, content
        shutil.copy(self._files[id(content)][0], to)
        return f"sqlite:///{to}"

    @contextmanager
    def copied_database(self, content: Content) -> Iterator[str]:
        """The URL of a copy of a PostgreSQL database, which is dropped at the end."""
        server: URL = self._request.getfixturevalue("postgres_server")
        if id(content) not in self._databases:
            template = make_url(self._request.getfixturevalue("postgres_template")).database or ""
            url = self._stack.enter_context(postgres.new_database(server, template))
            fill(url, content)
            self._databases[id(content)] = make_url(url).database or "", content
        with postgres.new_database(server, self._databases[id(content)][0]) as url:
            yield url
