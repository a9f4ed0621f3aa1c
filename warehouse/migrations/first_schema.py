"""`make schema`: write the first schema anew from the tables, a script for each database.

They are never edited, and written anew until the first release. The release freezes them: this module, its
target and `test_the_first_schema_is_that_of_the_tables` go then. Their fingerprint stays.
"""

import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from warehouse.catalogue import SUMMARIES
from warehouse.migrations.migrate import SCRIPTS
from warehouse.tables import OWNED

FOLDER: Final = SCRIPTS / "versions"
_DIALECTS: Final[tuple[Dialect, ...]] = (postgresql.dialect(), sqlite.dialect())


def files() -> dict[Path, str]:
    """The files of the first schema, as the tables have them now. The last one is their fingerprint, a
    SHA-256 of each, in the form that `sha256sum --check` takes."""
    scripts = {FOLDER / f"1002.{one.name}.sql": _script(one) for one in _DIALECTS}
    hashes = {file.name: hashlib.sha256(text.encode()) for file, text in scripts.items()}
    fingerprint = "".join(f"{digest.hexdigest()}  {name}\n" for name, digest in hashes.items())
    return {**scripts, FOLDER / "1002.sha256": fingerprint}


def _script(dialect: Dialect) -> str:
    return "".join(f"{one};\n" for one in _statements(dialect))


def _statements(dialect: Dialect) -> Iterator[str]:
    metadata = OWNED[0].metadata
    for name in sorted(metadata.tables):
        table = metadata.tables[name]
        statement = str(CreateTable(table).compile(dialect=dialect))
        yield re.sub(r"\s*\n\s*(WITHOUT)", r" \1", re.sub(r" +\n", "\n", statement)).strip()
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield str(CreateIndex(index).compile(dialect=dialect))
    if dialect.name == "postgresql":
        # To unpack a compressed cell took longer than to read it as it is.
        for summary in SUMMARIES:
            if summary.packed_dims:
                yield f"ALTER TABLE {summary.table} ALTER packed_dims SET STORAGE EXTERNAL"


if __name__ == "__main__":
    for file, text in files().items():
        file.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {file}\n")
