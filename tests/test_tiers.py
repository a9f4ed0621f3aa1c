"""The tiers: their lists name tests that exist, and the core sends PostgreSQL what the whole run sends."""

from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, text

from tests.conftest import BOTH_DATABASES, RUN
from tests.support import postgres, statements
from tests.support.product import Product
from tests.tiers import BROWSER_CORE, POSTGRES_ALONE, POSTGRES_CORE, THOROUGH
from warehouse.tables.base import metadata


# One that was renamed would come back to `make test`, or leave the core, without a word.
@pytest.mark.parametrize("entry", [*THOROUGH, *BROWSER_CORE, *POSTGRES_CORE, *POSTGRES_ALONE])
def test_each_entry_is_there(entry: str) -> None:
    place, _, test = entry.partition("[")[0].partition("::")
    path = Path(__file__).parent / place
    assert path.exists()
    assert not test or f"def {test}(" in path.read_text()


@pytest.mark.parametrize("entry", [*POSTGRES_CORE, *POSTGRES_ALONE])
def test_each_entry_of_the_core_runs_on_postgresql(entry: str) -> None:
    place = Path(entry.partition("::")[0])
    assert any(place.is_relative_to(room) for room in BOTH_DATABASES)


def test_a_statement_that_the_core_does_not_send_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert statements.main(tmp_path) == 0
    assert "were not compared" in capsys.readouterr().out
    for run, sent in (
        (statements.CORE, "SELECT ?"),
        (statements.REST, "SELECT ?\nDELETE FROM shop"),
    ):
        (tmp_path / run).mkdir()
        (tmp_path / run / "some.sql").write_text(sent)
    assert statements.main(tmp_path) == 1
    assert "does not send PostgreSQL: DELETE FROM shop\n" in capsys.readouterr().out
    (tmp_path / statements.CORE / "others.sql").write_text("DELETE FROM shop")
    assert statements.main(tmp_path) == 0


def test_values_and_how_many_there_are_make_no_other_statement() -> None:
    one = "SELECT a -- why\n  FROM t WHERE b IN ($1::INTEGER, $2) AND c = 'it''s' /* where */"
    other = "SELECT a FROM t WHERE b IN (3) AND c = $1;"
    assert statements.fingerprint(one) == statements.fingerprint(other)
    rows = "INSERT INTO t VALUES ($1, $2), ($3, $4)"
    assert statements.fingerprint(rows) == "INSERT INTO t VALUES (?)"
    for one, other in (
        ("SELECT a FROM t WHERE b IN (NULL) AND (1 != 1)", "SELECT a FROM t WHERE b IN ($1, $2)"),
        ("SELECT a FROM t WHERE b NOT IN (NULL) OR (1 = 1)", "SELECT a FROM t WHERE b NOT IN ($1)"),
        (
            "DELETE FROM t WHERE (a, b) IN ((NULL, NULL)) AND (1 != 1)",
            "DELETE FROM t WHERE (a, b) IN (($1, $2), ($3::INTEGER, $4))",
        ),
    ):
        assert statements.fingerprint(one) == statements.fingerprint(other)


def test_a_table_that_a_test_makes_is_its_own() -> None:
    log = (
        "@ x @ LOG:  statement: SELECT a FROM test_rows\n@ x @ LOG:  execute s: SELECT a FROM shop"
    )
    assert statements.statements(log) == {"SELECT a FROM shop"}
    assert not [name for name in metadata.tables if name.startswith("test_")]


def test_both_drivers_are_logged_and_the_tests_own_statements_are_not(postgres_url: str) -> None:
    log = postgres.folder_of(RUN) / "log"
    if not log.exists():
        pytest.skip("without PostgreSQL: one that the tests start logs its statements")
    before = log.stat().st_size
    Product(postgres_url).rollup()
    with create_engine(postgres_url, poolclass=NullPool).connect() as connection:
        connection.execute(text("SELECT COUNT(*) FROM shop, form"))
    with log.open() as file:
        file.seek(before)
        said = file.read()
    assert "SELECT COUNT(*) FROM shop, form" in said
    sent = statements.statements(said)
    assert "SELECT pg_backend_pid()" in " ".join(sent)
    assert any(sql.startswith("COPY (SELECT") for sql in sent), "by ADBC"
    assert any(sql.startswith("SELECT version_num") for sql in sent), "by SQLAlchemy"
    assert not any("shop, form" in sql for sql in sent)
