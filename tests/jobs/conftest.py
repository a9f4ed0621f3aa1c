"""Fixtures: the command line on one warehouse, with its own landing folder."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from jobs.cli import main
from tests.importing.files import Row, as_ndjson
from warehouse.engine import open_engine

Process = subprocess.Popen[str]


class Commands:
    """`python -m jobs` on a warehouse; `settings` are environment variables for all of them."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.landing = folder / "landing"
        self.settings = {"WAREHOUSE_URL": url, "IMPORT_DIR": str(self.landing)}
        self._started: list[Process] = []

    def start(self, *words: str) -> Process:
        process = subprocess.Popen(
            [sys.executable, "-m", "jobs", *words],
            env={**os.environ, **self.settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def finish(self, process: Process, status: int = 0) -> str:
        """What a process printed and said until its end, which must come."""
        printed, said = process.communicate(timeout=120)
        assert process.returncode == status, (process.args, process.returncode, printed, said)
        return printed + said

    def __call__(self, *words: str, status: int = 0) -> str:
        """Run a command to its end, in this process; what it printed and said."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.settings.items():
                patch.setenv(name, value)
            result = CliRunner().invoke(main, words, catch_exceptions=False)
        assert result.exit_code == status, (words, result.exit_code, result.output)
        return result.output

    def take(self, kind: str, rows: list[Row]) -> None:
        file = self.folder / f"{kind}.ndjson"
        file.write_bytes(as_ndjson(rows))
        self("import", kind, str(file))

    def status(self, status: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("status", "--json", status=status).splitlines()[0])
        return found

    def land(self, kind: str, name: str, content: bytes) -> Path:
        """Put a whole file into the landing folder at once."""
        file = self.landing / kind / name
        file.parent.mkdir(parents=True, exist_ok=True)
        hidden = file.with_name(f".{name}")
        hidden.write_bytes(content)
        return hidden.rename(file)

    def rows(self, sql: str) -> list[Any]:
        """The rows of a query; of one column as that column."""
        with open_engine(self.url).connect() as connection:
            found = [tuple(row) for row in connection.execute(text(sql))]
        return [row[0] if len(row) == 1 else row for row in found]

    def change(self, sql: str) -> None:
        engine = open_engine(self.url)
        with engine.connect().execution_options(writes=True) as connection:
            connection.execute(text(sql))
            connection.commit()

    def end(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def commands(warehouse_url: str, tmp_path: Path) -> Iterator[Commands]:
    """On either kind of database."""
    found = Commands(warehouse_url, tmp_path)
    yield found
    found.end()


@pytest.fixture
def sqlite_commands(sqlite_url: str, tmp_path: Path) -> Iterator[Commands]:
    found = Commands(sqlite_url, tmp_path)
    yield found
    found.end()
