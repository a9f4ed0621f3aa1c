"""SQLite's write lock is never lost within a process: engines and jobs take turns with a file."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine

_WRITE = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=0) as connection:
    connection.execute("INSERT INTO shop (shop_key, shop_id) VALUES (2, 'theirs')")
"""


def another_process_writes(file: Path) -> bool:
    done = subprocess.run([sys.executable, "-c", _WRITE, file], capture_output=True, check=False)
    assert done.returncode == 0 or b"database is locked" in done.stderr
    return done.returncode == 0


def test_no_engine_beside_a_job_lets_another_process_write(sqlite_url: str) -> None:
    """It did so by closing the file; both said success, and the other's row was gone."""
    file = Path(sqlite_url.removeprefix("sqlite:///"))
    with open_arrow(sqlite_url) as job:
        job.execute("INSERT INTO shop (shop_key, shop_id) VALUES (1, 'ours')")
        assert not another_process_writes(file)
        with (
            pytest.raises(RuntimeError, match="ask the job's connection, close that first"),
            open_engine(sqlite_url).connect(),
        ):
            pass
        assert not another_process_writes(file)
        job.commit()
    assert another_process_writes(file)
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT shop_id FROM shop").fetchall() == [("ours",), ("theirs",)]
    connection.close()


def test_no_job_beside_an_engine(sqlite_url: str) -> None:
    engine = open_engine(sqlite_url, pooled=True)
    with engine.connect(), pytest.raises(RuntimeError, match="an engine of this process"):
        open_arrow(sqlite_url).__enter__()
    # Its connection stays open, in its pool.
    with pytest.raises(RuntimeError, match="close its connections first"):
        open_arrow(sqlite_url).__enter__()
    engine.dispose()
    with open_arrow(sqlite_url) as job:
        assert job.value("SELECT 1") == 1
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    engine.dispose()


def test_another_name_of_the_file_is_the_same_file(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(sqlite_url.removeprefix("sqlite:///"))
    with (
        open_arrow(sqlite_url),
        pytest.raises(RuntimeError, match="a job of this process"),
        open_engine(f"sqlite:///{tmp_path}/link.db").connect(),
    ):
        pass
