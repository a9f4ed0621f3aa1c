"""Warehouses with several whole shops, and the commands that delete or export one."""

from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text

from tests.support.answers import questions_about
from tests.support.fixtures import Loaded
from tests.support.product import Product
from tests.support.worlds import World, world
from warehouse.connections.engine import open_engine
from web.app import close_app
from web.cli import main

Rows = list[dict[str, Any]]


class CommandProduct(Product):
    """Its API ends wholly before a command of the same process: what a request writes in the background
    would open the warehouse again."""

    def close(self) -> None:
        if self._client is not None:
            close_app(self._client.application)
            self._client = None


class Tenants:
    """`python -m web shops` on a warehouse for the shops of a random world."""

    def __init__(self, url: str, shops: World) -> None:
        self.product, self.world = CommandProduct(url), shops

    def shops(self, *words: str, status: int = 0, stdin: str = "") -> Result:
        self.product.close()
        environment = {"WAREHOUSE_URL": self.product.url}
        result = CliRunner().invoke(main, ("shops", *words), input=stdin, env=environment)
        assert result.exit_code == status, (words, result.output)
        return result

    def answers(self, *shops: str) -> dict[str, Any]:
        """All answers about these shops, by question."""
        questions = [one for one in questions_about(self.world) if one[0] in shops]
        return {
            f"{shop_id} {path} {query}": self.product.get(path, query, shop_id)[1]["data"]
            for shop_id, path, query in questions
        }

    def rows(self, sql: str) -> Rows:
        engine = open_engine(self.product.url)
        with engine.connect() as connection:
            return [dict(row) for row in connection.execute(text(sql)).mappings()]

    def change(self, *statements: str) -> None:
        engine = open_engine(self.product.url)
        with engine.connect().execution_options(writes=True) as connection:
            for statement in statements:
                connection.execute(text(statement))
            connection.commit()


WORLD = world(11, 12)


@pytest.fixture
def tenants(loaded: Loaded) -> Iterator[Tenants]:
    tenants = Tenants(loaded(WORLD), WORLD)
    yield tenants
    tenants.product.close()
