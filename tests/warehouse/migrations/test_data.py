"""A warehouse of every release, restored by a program that has a revision more: its answers stay right."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect

from tests.conftest import NewUrl
from tests.support import next_revision
from tests.support.answers import Question
from tests.support.product import Product
from tests.support.warehouse import Warehouse
from tests.tiers import thorough
from tests.warehouse.migrations import stored
from tests.warehouse.migrations.stored import RELEASES, Release
from warehouse.backups import restore
from warehouse.connections.engine import backend_of, open_engine
from warehouse.migrations import migrate

# The changes that a revision most often makes.
MORE = """
    op.add_column("raw_event", sa.Column("added", sa.BigInteger, nullable=False, server_default="7"))
    op.create_index("ix_added", "fact_order", ["edition", "customer_id"])
    op.create_table("added", sa.Column("id", sa.BigInteger, primary_key=True))
"""


@pytest.fixture
def migrated() -> bool:
    return False


def test_every_release_is_stored() -> None:
    for version in RELEASES:
        assert Release(version).story.exists(), (
            f"{version}: its commit has `python -m tests.warehouse.migrations` to store it"
        )


@pytest.mark.parametrize("version", RELEASES)
def test_a_released_revision_never_changes(version: str) -> None:
    for line in Release(version).fingerprints.read_text(encoding="utf-8").splitlines():
        digest, name = line.split()
        now = hashlib.sha256((migrate.SCRIPTS / "versions" / name).read_bytes()).hexdigest()
        assert now == digest, (
            f"{name} was released with {version}, and warehouses have its tables: put it back as it was, and "
            "add a revision (`make migration NAME=...`)"
        )


@pytest.mark.thorough
def test_the_next_release_can_be_stored(
    new_sqlite_url: NewUrl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "FOLDER", tmp_path / "releases")
    Release("next").store({"sqlite": new_sqlite_url()}, tmp_path)
    assert sorted(file.name for file in Release("next").folder.iterdir()) == [
        "answers.json.gz",
        "revisions.sha256",
        "sqlite.backup.gz",
    ]


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("version", [RELEASES[0], *thorough(RELEASES[1:])])
def test_taken_over_by_a_later_program(
    new_warehouse_url: NewUrl, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, release = new_warehouse_url(), Release(version)
    backup, story = release.backup(backend_of(url).name, tmp_path), stored.read(release.story)
    monkeypatch.setattr(migrate, "SCRIPTS", next_revision.scripts(tmp_path, MORE))
    monkeypatch.setattr(migrate, "HEAD", next_revision.NUMBER)
    restore(url, backup, lambda *_: None, force=False)
    with open_engine(url).connect() as connection:
        assert migrate.is_current(connection)
        assert inspect(connection).has_table("added")
    product = Product(url, now=story.now)
    assert_answers(product, story.questions, story.before)
    for kind, rows in story.later.items():
        product.load(kind, rows)
    assert_answers(product, story.questions, story.after)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("version", [RELEASES[0], *thorough(RELEASES[1:])])
def test_an_undo_and_a_forget_that_were_begun_are_taken_over(
    new_warehouse_url: NewUrl, version: str, tmp_path: Path
) -> None:
    """Some of their rows have gone, with their figures: the rest goes, and the shop is built anew."""
    url, release = new_warehouse_url(), Release(version)
    restore(url, release.backup(backend_of(url).name, tmp_path), lambda *_: None, force=False)
    warehouse, product = Warehouse(url, tmp_path), Product(url)
    product.rollup()
    (number,) = warehouse.rows(
        "SELECT MAX(b.import_id) FROM import_batch b JOIN import_file i ON i.import_id = b.import_id "
        "WHERE b.kind = 'events' AND b.rows > 0 AND b.purged = 0 AND i.state = 'done'"
    )
    own = f"import_id = {number} AND kind = 'events'"
    brought = f"FROM raw_event WHERE batch_id IN (SELECT batch_id FROM import_batch WHERE {own})"
    warehouse.ask_undo(f"import_id = {number}")
    warehouse.change(
        "UPDATE forgotten SET removed_at = 0",
        "INSERT INTO task (shop_key, subject, kind, result) "
        "SELECT DISTINCT shop_key, 'persons', 'forget', '{}' FROM forgotten",
    )
    product.rollup()
    assert warehouse.rows(f"SELECT COUNT(*) {brought}") == [0]
    assert warehouse.rows(f"SELECT state FROM import_file WHERE import_id = {number}") == ["undone"]
    assert warehouse.rows("SELECT COUNT(*) FROM forgotten WHERE removed_at = 0") == [0]
    assert warehouse.rows("SELECT DISTINCT state FROM edition") == ["current"]
    assert product.verify_all()
    product.close()


def assert_answers(product: Product, questions: list[Question], expected: list[Any]) -> None:
    answers = stored.answers(product, questions)
    assert [
        (question, answer, recorded)
        for question, answer, recorded in zip(questions, answers, expected, strict=True)
        if not has(answer, recorded)
    ] == []


def has(answer: Any, recorded: Any) -> bool:
    """Whether an answer is the recorded one; later versions may know more fields."""
    if isinstance(recorded, dict):
        return all(name in answer and has(answer[name], value) for name, value in recorded.items())
    if isinstance(recorded, list):
        return len(answer) == len(recorded) and all(map(has, answer, recorded))
    return bool(answer == recorded)
