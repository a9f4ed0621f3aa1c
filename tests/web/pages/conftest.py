"""The jobs beside the pages: what is imported and rolled up while a browser is signed in."""

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.product import Product
from web.http.services import services_of


class Jobs:
    """Imports and rollups, which SQLite refuses while this process has connections of the API."""

    def __init__(self, url: str, client: FlaskClient, engine: Engine) -> None:
        self._product, self._client, self._engine = Product(url), client, engine

    def load(self, kind: str, *rows: Any) -> None:
        self._free().load(kind, list(rows))

    def take(self, kind: str, file: Path) -> dict[str, int]:
        return self._free().take(kind, [file])

    def undo_last(self) -> None:
        product = self._free()
        product.undo(product.last_import())

    def rollup(self) -> None:
        self._free().rollup()

    def _free(self) -> Product:
        services = services_of(self._client.application)
        # The thread of these writes would open the database again.
        services.background_writes.settle()
        services.database.close()
        self._engine.dispose()
        return self._product


@pytest.fixture
def jobs(warehouse_url: str, client: FlaskClient, engine: Engine) -> Jobs:
    return Jobs(warehouse_url, client, engine)
