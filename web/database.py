"""The API's connections: one engine a process, and one snapshot a request."""

from sqlalchemy import Connection, Engine

from warehouse.engine import open_engine


class Database:
    """`read()` opens the snapshot that one request is answered from; `engine` also writes.

    A request asks several questions (who calls, which edition is read, two summaries that must
    agree). One snapshot answers them all, also while a rollup commits in between: SQLite's
    transactions are snapshots anyway, PostgreSQL's are with REPEATABLE READ.
    """

    def __init__(self, url: str) -> None:
        self.engine: Engine = open_engine(url, pooled=True)
        self._reader = self.engine
        if self.engine.dialect.name == "postgresql":
            self._reader = self.engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )

    def read(self) -> Connection:
        return self._reader.connect()

    def write(self) -> Connection:
        """A connection whose transaction means to write; it must be committed."""
        return self.engine.connect().execution_options(writes=True)
