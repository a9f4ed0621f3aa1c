"""PostgreSQL as the API reads it: each transaction one snapshot, in as few round trips as it takes.

`Connection.begin()` sends the BEGIN at once, which also shows whether the connection is still alive:
there is no ping before it, and no isolation level to set and reset.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Self

import psycopg
from psycopg.adapt import Transformer
from psycopg.pq import ExecStatus, Format
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import make_url

from warehouse.engine import PATIENCE

# Writes statements as the server itself reads them: `$1`, `$2`.
DOLLARS: Final = PGDialect_psycopg(paramstyle="numeric_dollar")

_PREPARED: Final = b"kept"


class BinaryCursor(psycopg.Cursor[Any]):
    """Results come in binary: as text, cells would take twice the bytes and have to be decoded."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        return super().execute(query, params, **{**options, "binary": True})


def open_snapshots(url: str) -> Engine:
    """A pooled engine on a PostgreSQL warehouse, whose transactions only read."""
    engine = create_engine(
        make_url(url),
        isolation_level="AUTOCOMMIT",
        connect_args={**PATIENCE, "cursor_factory": BinaryCursor},
    )
    event.listen(engine, "begin", _begin)
    # What has only read ends by a COMMIT: after a ROLLBACK the driver drops all that it has prepared,
    # and the server would plan every statement anew.
    engine.dialect.do_rollback = engine.dialect.do_commit  # type: ignore[method-assign]
    return engine


def _begin(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


def prepare(connection: Any, text: str) -> Callable[[Sequence[str]], list[Sequence[Any]]]:
    """A statement of DOLLARS, the only one of its connection: it gives the rows for its parameters,
    which are texts. Of a look-up's time in this process a cursor takes three quarters, to find out
    each time anew what the statement is; so here it is libpq's own call."""
    raw, transformer = connection.pgconn, Transformer(connection)

    def rows(values: Sequence[str]) -> list[Sequence[Any]]:
        result = raw.exec_prepared(
            _PREPARED, [value.encode() for value in values], result_format=Format.BINARY
        )
        _check(result, ExecStatus.TUPLES_OK)
        transformer.set_pgresult(result)
        return transformer.load_rows(0, result.ntuples, tuple)

    _check(raw.prepare(_PREPARED, text.encode()), ExecStatus.COMMAND_OK)
    return rows


def ask(connection: Any, text: str, values: Sequence[str]) -> list[Sequence[Any]]:
    """What a statement of DOLLARS gives for its parameters, once."""
    cursor: psycopg.RawCursor[Any] = psycopg.RawCursor(connection)
    return list(cursor.execute(text.encode(), values, binary=True))


def _check(result: Any, status: ExecStatus) -> None:
    if result.status != status:
        raise psycopg.OperationalError(result.error_message)
