"""A warehouse that outgrows its file: the backup of SQLite, restored into PostgreSQL."""

from pathlib import Path

from tests.conftest import NewUrl
from tests.support.answers import answers, differing
from tests.support.backups import SMALL, Run, done, fill, refused, uncounted
from tests.support.product import Product
from tests.support.worlds import World


def test_it_goes_on_in_postgresql(
    new_sqlite_url: NewUrl,
    new_postgres_url: NewUrl,
    given: World,
    files: dict[str, Path],
    run: Run,
    tmp_path: Path,
) -> None:
    """The same answers, no difference from the raw rows, and further imports and undos as if it had always
    been there."""
    old, new, backup = new_sqlite_url(), new_postgres_url(), tmp_path / "backup"
    fill(old, files, run, *SMALL)
    done(run(old, "rollup"))
    done(run(old, "backup", backup))
    done(run(new, "restore", backup))
    assert uncounted(new) == []
    assert differing(answers(Product(new), given), answers(Product(old), given)) == []
    for url in (old, new):
        fill(url, files, run, "events")
        done(run(url, "rollup"))
        done(run(url, "verify", "--all"))
    assert differing(answers(Product(new), given), answers(Product(old), given)) == []
    for url in (old, new):
        done(run(url, "imports", "undo", "3"))
    assert differing(answers(Product(new), given), answers(Product(old), given)) == []


def test_it_is_refused_where_there_is_data_and_in_the_other_direction(
    new_sqlite_url: NewUrl,
    new_postgres_url: NewUrl,
    files: dict[str, Path],
    run: Run,
    tmp_path: Path,
) -> None:
    old, new, backup = new_sqlite_url(), new_postgres_url(), tmp_path / "backup"
    fill(old, files, run, *SMALL)
    done(run(old, "rollup"))
    fill(new, files, run, "shops")
    done(run(old, "backup", backup))
    refused(run(new, "restore", backup), "the warehouse has data")
    done(run(new, "restore", backup, "--force"))
    done(run(new, "backup", backup))
    refused(run(old, "restore", backup, "--force"), "WAREHOUSE_URL names an SQLite one")
