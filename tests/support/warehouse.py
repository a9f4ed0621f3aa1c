"""A warehouse under test: what is in it, as SQL tells, and rows that are imported into it."""

from pathlib import Path
from typing import Any

from sqlalchemy import text

from jobs.importing.files.detect import ImportOptions
from jobs.importing.formats import FORMATS
from jobs.importing.import_file import import_steps
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Counts
from tests.support.import_files import written
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine


class Warehouse:
    """`folder` is where files for it are written."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder

    def rows(self, sql: str) -> list[Any]:
        """The rows of a query, as tuples; a single column as its values."""
        with open_engine(self.url).connect() as connection:
            rows = [tuple(row) for row in connection.execute(text(sql))]
        return [row[0] if len(row) == 1 else row for row in rows]

    def records(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a query, by the names of their columns."""
        with open_engine(self.url).connect() as connection:
            return [dict(row) for row in connection.execute(text(sql)).mappings()]

    def change(self, *statements: str) -> None:
        with open_engine(self.url).connect().execution_options(writes=True) as connection:
            for sql in statements:
                connection.execute(text(sql))
            connection.commit()

    def ask_undo(self, which: str) -> None:
        """Ask to undo the imports that meet an SQL condition, as a command does that is killed at once."""
        self.change(
            f"UPDATE import_file SET state = 'undoing' WHERE {which}",
            "INSERT INTO task (shop_key, subject, kind, item, result) SELECT shop_key, "
            "'import ' || CAST(import_id AS TEXT), 'undo', CAST(import_id AS TEXT), '{}' FROM import_file "
            f"WHERE {which}",
        )

    def take(self, kind: str, rows: Any, name: str = "in.ndjson") -> dict[str, int]:
        """Import rows (or bytes) as a file of this name; the counts."""
        return self.take_file(kind, written(self.folder / name, rows))

    def take_file(
        self, kind: str, path: Path, shop: str | None = None, named: str = "", **options: Any
    ) -> dict[str, int]:
        """Import a file: of this shop, in this format, with these options, where they are said."""
        counts = Counts()
        said = ImportOptions(FORMATS.get(named), shop, **options)
        with open_arrow(self.url) as bulk:
            for _ in import_steps(bulk, KINDS[kind], path, counts, options=said):
                pass
        return counts.report()

    def reasons(self) -> list[tuple[int, str]]:
        """Line and reason of every reject."""
        return self.rows("SELECT line, reason FROM reject ORDER BY line, reject_id")
