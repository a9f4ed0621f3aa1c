"""A warehouse of every revision, restored by a program that has a revision more: its answers stay right.

The newest revision is backed up just now; backups of those before are stored.
"""

from pathlib import Path

import pytest
from sqlalchemy import inspect

from tests.conftest import NewUrl
from tests.support import next_revision
from tests.support.answers import wrong_answers
from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.warehouse.migrations import stored
from warehouse.backups import restore
from warehouse.connections.backends import backend_of
from warehouse.connections.engine import open_engine
from warehouse.migrations import migrate
from warehouse.migrations.migrate import HEAD, known_revisions

REVISIONS = known_revisions()
# The changes that a revision most often makes.
MORE = """
    op.add_column("raw_event", sa.Column("added", sa.BigInteger, nullable=False, server_default="7"))
    op.create_index("ix_added", "fact_order", ["edition", "customer_id"])
    op.create_table("added", sa.Column("id", sa.BigInteger, primary_key=True))
"""


@pytest.fixture
def migrated() -> bool:
    return False


def test_every_revision_but_the_newest_is_stored() -> None:
    for revision in REVISIONS[:-1]:
        for database in ("sqlite", "postgresql"):
            assert stored.backup_of(revision, database).exists(), (
                "the commit whose newest revision it is has `python -m tests.warehouse.migrations`"
            )


def test_what_is_stored_is_what_was_made(new_sqlite_url: NewUrl, tmp_path: Path) -> None:
    made = stored.make(new_sqlite_url(), tmp_path / "backup")
    made.write(tmp_path / "story")
    assert stored.read(tmp_path / "story") == made


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("revision", REVISIONS)
def test_taken_over_by_a_later_program(
    new_warehouse_url: NewUrl, revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_warehouse_url()
    backup = stored.backup_of(revision, backend_of(url).name)
    if revision == HEAD:
        backup = tmp_path / "backup"
        story = stored.make(new_warehouse_url(), backup)
    else:
        story = stored.read(stored.story_of(revision))
    monkeypatch.setattr(migrate, "SCRIPTS", next_revision.scripts(tmp_path, MORE))
    monkeypatch.setattr(migrate, "HEAD", next_revision.NUMBER)
    restore(url, backup, lambda *_: None, force=False)
    with open_engine(url).connect() as connection:
        assert migrate.is_current(connection)
        assert inspect(connection).has_table("added")
    product = Product(url)
    assert_answers(product, story, story.imported)
    for kind, rows in story.later.items():
        product.load(kind, rows)
    assert_answers(product, story, story.whole)


def assert_answers(product: Product, story: stored.Story, records: dict[str, list[Row]]) -> None:
    """Pending rows are rolled up, stored rows are those that raw gives, the answers are the oracle's."""
    product.rollup()
    assert product.verify_all()
    assert wrong_answers(product, story.questions, records) == []
    product.close()
