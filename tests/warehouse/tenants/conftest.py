"""Warehouses with several whole shops, and the commands that delete or export one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.support.answers import questions_about
from tests.support.fixtures import Loaded
from tests.support.product import Product
from tests.support.warehouse import Warehouse
from tests.support.worlds import World, world
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


class Tenants(Warehouse):
    """`python -m web shops` on a warehouse for the shops of a random world."""

    def __init__(self, url: str, folder: Path, shops: World) -> None:
        super().__init__(url, folder)
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


WORLD = world(11, 12)


@pytest.fixture
def tenants(loaded: Loaded, tmp_path: Path) -> Iterator[Tenants]:
    tenants = Tenants(loaded(WORLD), tmp_path, WORLD)
    yield tenants
    tenants.product.close()
