"""Data of every revision: migrated to the newest one, they answer as if they had been imported today.

A new revision is covered by itself: it is the newest, and those before have their data stored.
"""

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from tests.conftest import NewUrl
from tests.support import stored_revisions
from tests.support.answers import wrong_answers
from tests.support.product import Product
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import HEAD, known_revisions
from warehouse.tables.base import metadata

REVISIONS = known_revisions()


@pytest.fixture
def migrated() -> bool:
    return False


@pytest.fixture
def data(request: pytest.FixtureRequest, new_sqlite_url: NewUrl) -> stored_revisions.Stored:
    """Data of the revision that is the test's parameter; of the newest, made just now."""
    if request.param == HEAD:
        return stored_revisions.make(new_sqlite_url())
    return stored_revisions.read(stored_revisions.file_of(request.param))


def test_every_revision_but_the_newest_has_its_data_stored() -> None:
    missing = [one for one in REVISIONS[:-1] if not stored_revisions.file_of(one).exists()]
    assert missing == [], (
        "from a commit whose newest revision they are: python -m tests.warehouse.migrations"
    )


def test_what_is_stored_is_what_was_made(new_sqlite_url: NewUrl, tmp_path: Path) -> None:
    made = stored_revisions.make(new_sqlite_url())
    made.write(tmp_path / "data")
    assert stored_revisions.read(tmp_path / "data") == made


@pytest.mark.parametrize("data", REVISIONS, indirect=True)
def test_migrated_to_the_newest(warehouse_url: str, data: stored_revisions.Stored) -> None:
    stored_revisions.fill(warehouse_url, data)
    assert_whole(warehouse_url, data)
    if data.revision != HEAD:
        for revision in (data.revision, HEAD):
            stored_revisions.go(open_engine(warehouse_url), revision)
        assert_whole(warehouse_url, data)


def test_all_the_way_down_leaves_nothing(warehouse_url: str) -> None:
    engine = open_engine(warehouse_url)
    stored_revisions.go(engine, HEAD)
    stored_revisions.go(engine, "base")
    with engine.connect() as connection:
        assert sa.inspect(connection).get_table_names() == ["alembic_version"]
    stored_revisions.go(engine, HEAD)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def assert_whole(url: str, data: stored_revisions.Stored) -> None:
    """Pending rows are rolled up, stored rows are those that raw gives, the answers are the oracle's."""
    product = Product(url)
    product.rollup()
    assert product.verify_all()
    assert wrong_answers(product, data.questions, data.records) == []
    product.close()
