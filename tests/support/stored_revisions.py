"""A warehouse with its data as a file that both databases can be filled from, whatever its revision."""

import base64
import gzip
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command

from tests.support.answers import Question, questions_about
from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.support.worlds import world
from warehouse.connections.engine import open_engine
from warehouse.migrations import migrate


@dataclass
class Stored:
    """The rows of all tables at a revision; the records that were imported, and what to ask."""

    revision: str
    tables: dict[str, list[Row]]
    records: dict[str, list[Row]]
    questions: list[Question]

    def __post_init__(self) -> None:
        # JSON has no tuples.
        self.questions = [(shop, path, query) for shop, path, query in self.questions]

    def write(self, file: Path) -> None:
        with gzip.open(file, "wt", encoding="utf-8") as stream:
            json.dump(asdict(self), stream, default=_encoded)


def _encoded(value: Any) -> Any:
    return {"base64": base64.b64encode(bytes(value)).decode()}


def _decoded(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value


def file_of(revision: str) -> Path:
    """Where the data of a revision are kept."""
    return Path(__file__).parents[1] / "warehouse/migrations" / f"{revision}.json.gz"


def read(file: Path) -> Stored:
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return Stored(**json.load(stream))


def make(url: str) -> Stored:
    """Data of the newest revision, made in an empty warehouse: a random world, of which something is
    still to be rolled up, and something was rejected."""
    some = world(17, 12)
    product = Product(url)
    for kind in ("shops", "forms", "ad-spend", "ad-accounts", "exchange-rates"):
        product.load(kind, some.records[kind])
    for share in (slice(0, None, 2), slice(1, None, 2)):
        product.rollup()
        for kind in ("events", "orders"):
            product.load(kind, some.records[kind][share])
    product.load("shops", [{"shop_id": "has no currency"}], rejected=1)
    questions = [
        (shop, path, query) for shop, path, query in questions_about(some) if "range" in query
    ]
    tables = {}
    engine = open_engine(url)
    with engine.connect() as connection:
        for table in _reflected(connection):
            found = connection.execute(table.select()).mappings()
            tables[table.name] = [dict(row) for row in found]
    whole = Stored(migrate.HEAD, tables, some.records, questions)
    return Stored(**json.loads(json.dumps(asdict(whole), default=_encoded)))


def fill(url: str, stored: Stored) -> None:
    """Make an empty database the warehouse that was stored, at its revision."""
    engine = open_engine(url)
    go(engine, stored.revision)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        for table in _reflected(connection):
            rows = stored.tables.pop(table.name, [])
            if rows:
                values = [{key: _decoded(value) for key, value in row.items()} for row in rows]
                connection.execute(table.insert(), values)
            if connection.dialect.name == "postgresql":
                _go_on_counting(connection, table)
    assert not stored.tables, f"{sorted(stored.tables)} are no tables of {stored.revision}"


def go(engine: sa.Engine, revision: str) -> None:
    """Migrate up or down to a revision."""
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        known = migrate.known_revisions()
        now = migrate.revision_of(connection)
        down = revision == "base" or (now is not None and known.index(now) > known.index(revision))
        step = command.downgrade if down else command.upgrade
        step(migrate.alembic_config(connection), revision)


def _reflected(connection: sa.Connection) -> list[sa.Table]:
    metadata = sa.MetaData()
    metadata.reflect(connection)
    return [table for table in metadata.sorted_tables if table.name != "alembic_version"]


def _go_on_counting(connection: sa.Connection, table: sa.Table) -> None:
    """Have a table's own numbers begin after those that are there."""
    for column in table.primary_key.columns:
        named = {"table": table.name, "column": column.name}
        sequence = connection.scalar(
            sa.text("SELECT pg_get_serial_sequence(:table, :column)"), named
        )
        if sequence:
            most = sa.select(sa.func.coalesce(sa.func.max(column), 0) + 1).scalar_subquery()
            connection.execute(sa.select(sa.func.setval(sequence, most, False)))
