"""The statements that the product sends to PostgreSQL, as the tests' own server logs them.

`make test` and what `make test-all` has beyond it each keep a record. `python -m tests.support.statements`
compares them: a statement that the core (`POSTGRES_CORE` in `tests/tiers.py`) does not send would first meet
PostgreSQL minutes later, so it names each, and fails. Those of the tests themselves are left out: they are
marked, and a table that a test makes is called `test_...`.
"""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

import adbc_driver_manager.dbapi
import psycopg

RECORDS: Final = Path(__file__).parents[2] / "var" / "statements"
CORE, REST = "core", "rest"

# Both drivers, all processes, also those that a test starts. The values of parameters do not matter.
LOGGING: Final = (
    "ALTER SYSTEM SET log_statement = 'all'",
    "ALTER SYSTEM SET log_parameter_max_length = 0",
    "ALTER SYSTEM SET log_min_error_statement = 'panic'",
    "ALTER SYSTEM SET log_line_prefix = '@ %%a @ '",
)

_ROOT: Final = str(Path(__file__).parents[2]) + os.sep
_OF_TESTS: Final = " /* of the tests */"
# A line of the log, and those that go on with it begin with a tab.
_LINE: Final = re.compile(
    r"^@ (.*?) @ LOG:  (?:statement|execute [^:]*): (.*(?:\n\t.*)*)", re.MULTILINE
)
# A table that a test makes itself; where it is filled or read, the product may send the statement.
_TABLE_OF_TESTS: Final = re.compile(r"\btest_\w")
# Programs of PostgreSQL, which backups call.
_PROGRAMS: Final = ("pg_dump", "pg_restore", "psql")
_SAME: Final = (
    (re.compile(r"/\*.*?\*/|--[^\n]*"), " "),
    (re.compile(r"\s+"), " "),
    (re.compile(r"'(?:[^']|'')*'"), "?"),
    (re.compile(r"\$\d+(?:::\w+)?|-?\b\d+\b"), "?"),
    # All tables, as pg_dump locks them, in the order in which they were made.
    (re.compile(r"(?<=^LOCK TABLE )public\.\w+(?:, public\.\w+)*"), "all"),
    # The names that psycopg gives cursors.
    (re.compile(r'"c_[0-9a-f]+_[0-9a-f]+"'), "cursor"),
    # No values at all, by SQLAlchemy and by our own hand; of one column, or of several.
    (re.compile(r"(IN \(+)NULL(?:, NULL)*(\)+)(?: AND \(\? != \?\)| OR \(\? = \?\))?"), r"\1?\2"),
    # As many values as there are rows or ids.
    (re.compile(r'\? COLLATE "C"'), "?"),
    (re.compile(r"\? ?(?:, ?\?)+"), "?"),
    (re.compile(r"\(\?\)(?:, ?\(\?\))+"), "(?)"),
)


def mark_those_of_tests() -> None:
    """In this process and its forks, tell the statements of the tests themselves from the product's."""
    for cursor in (psycopg.Cursor, adbc_driver_manager.dbapi.Cursor):
        cursor.execute = _marking(cursor.execute)  # type: ignore[method-assign]


def _marking(execute: Callable[..., Any]) -> Callable[..., Any]:
    def marked(cursor: Any, statement: Any, *args: Any, **kwargs: Any) -> Any:
        # Bytes stay as they are: the console of a pooler, to which tests send them, knows no comments.
        if isinstance(statement, str):
            statement += _whose()
        return execute(cursor, statement, *args, **kwargs)

    return marked


def _whose() -> str:
    """The mark, where the nearest caller that is no library and no way to the database is a test."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(_ROOT):
            inside = path.removeprefix(_ROOT)
            if not inside.startswith(
                (".venv", "warehouse/connections", "tests/support/statements")
            ):
                return _OF_TESTS if inside.startswith("tests") else ""
        frame = frame.f_back
    return ""


def record(log: Path) -> None:
    """Keep the statements of a server's log, each once, if this run keeps a record, as make tells it by
    `RECORD_STATEMENTS`. The processes of a run share a server; the last of them has all of its statements."""
    run = os.environ.get("RECORD_STATEMENTS")
    if run and log.exists():
        folder = RECORDS / run
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{log.parent.name}-{os.getpid()}.sql"
        file.write_text("\n".join(sorted(statements(log.read_text()))))


def statements(log: str) -> set[str]:
    """The product's statements in a log, without what differs from one call to the next."""
    sent = {sql for name, sql in _LINE.findall(log) if name not in _PROGRAMS}
    of_product = {sql for sql in sent if _OF_TESTS not in sql and not _TABLE_OF_TESTS.search(sql)}
    return {fingerprint(sql) for sql in of_product} - {""}


def missing(records: Path) -> list[str]:
    """Statements that the rest sends and the core does not."""
    core, rest = (
        {line for file in (records / run).glob("*.sql") for line in file.read_text().splitlines()}
        for run in (CORE, REST)
    )
    return sorted(rest - core)


def fingerprint(sql: str) -> str:
    """A statement in one line, without values and without how many there are."""
    for pattern, same in _SAME:
        sql = pattern.sub(same, sql)
    return sql.strip(" ;")


def main(records: Path = RECORDS) -> int:
    if not (records / REST).exists():
        print(
            "PostgreSQL's statements were not compared: only a server that the tests start logs them."
        )
        return 0
    unsent = missing(records)
    for sql in unsent:
        print(f"`make test` does not send PostgreSQL: {sql}")
    if unsent:
        print(
            f"{len(unsent)} statements of the product are sent by `make test-all` alone. Add a test that "
            "sends them to POSTGRES_CORE in tests/tiers.py; or run `make test`, if it has not run here since."
        )
    return 1 if unsent else 0


if __name__ == "__main__":
    sys.exit(main())
