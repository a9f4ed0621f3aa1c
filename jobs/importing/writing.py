"""How portions get into the warehouse: each in one transaction, together with its rejects."""

from typing import Final

import numpy as np
import pyarrow as pa
from sqlalchemy import Table, UniqueConstraint

from jobs.importing.checks import Checks
from jobs.importing.kind import Counts, Kind, Written
from jobs.importing.privacy import kept_text
from jobs.pipeline import now_micros
from warehouse.bulk import Bulk, names

_LONGEST_REASON: Final = 500
_STAGED: Final = "import_reject"


def write_portion(
    bulk: Bulk, kind: Kind, file: str, checks: Checks, rows: pa.Table, counts: Counts
) -> None:
    """Write one portion that was checked, and its rejects. Commits, then adds to the counts."""
    refused, broken = checks.refused(), checks.portion.broken
    written = Written()
    if refused:
        rows = rows.filter(pa.array(checks.good()))
    if refused or broken:
        # Staged apart, so that the transaction begins with a write (see `Kind.write`).
        bulk.stage(_STAGED, _rejects(kind, checks, refused))
        bulk.commit()
    if rows.num_rows:
        written = kind.write(bulk, rows)
    if refused or broken:
        _write_rejects(bulk, kind.name, file)
    bulk.commit()
    counts.add(written, len(checks.portion) + len(broken), len(refused) + len(broken))


def _rejects(kind: Kind, checks: Checks, refused: list[tuple[int, str]]) -> pa.Table:
    """Line, reason and kept text of what was refused or broken."""
    portion = checks.portion
    found = [(int(portion.lines[row]), reason, portion.text(row)) for row, reason in refused]
    found += [(line, reason, text) for line, text, reason in portion.broken]
    lines, reasons, texts = zip(*sorted(found), strict=True)
    kept = [kept_text(text, kind.conceal, kind.private) for text in texts]
    return pa.table(
        {
            "line": pa.array(lines, pa.int64()),
            "reason": pa.array([reason[:_LONGEST_REASON] for reason in reasons], pa.string()),
            "text": pa.array(kept, pa.string()),
        }
    )


def _write_rejects(bulk: Bulk, kind: str, file: str) -> None:
    bulk.execute(
        "INSERT INTO reject (kind, file, line, reason, text, rejected_at) "
        f"SELECT $1, $2, s.line, s.reason, s.text, $3 FROM {_STAGED} s WHERE NOT EXISTS ("
        "SELECT 1 FROM reject r WHERE r.kind = $1 AND r.file = $2 AND r.line = s.line "
        "AND r.text = s.text) ORDER BY s.line",
        kind,
        file,
        now_micros(),
    )


def insert_new(bulk: Bulk, kind: str, table: Table, rows: pa.Table) -> dict[int, int]:
    """Insert the rows whose unique key is not taken yet, in an import batch for each shop.

    `rows` has all columns of the table but `batch_id`. Of rows that share a key the first is taken.
    Returns how many rows are new, by batch; batches without any are gone again.
    """
    unique = next(one for one in table.constraints if isinstance(one, UniqueConstraint))
    key = [column.name for column in unique.columns]
    columns = rows.column_names
    # In the order of the key: two imports of the same rows cannot wait for each other in a circle,
    # and an index is filled page after page. The sort is stable, so the first of equals stays first.
    rows = rows.sort_by([(name, "ascending") for name in key])
    numbered = rows.append_column("place", pa.array(np.arange(rows.num_rows)))
    staged = bulk.stage("import_row", numbered)
    bulk.commit()
    batches = bulk.table(
        "INSERT INTO import_batch (shop_key, kind, rows, imported_at) "
        f"SELECT shop_key, $1, 0, $2 FROM (SELECT DISTINCT shop_key FROM {staged}) s "
        "RETURNING shop_key, batch_id",
        kind,
        now_micros(),
    )
    shops = bulk.stage("import_shop", batches)
    # SQLite reads a table in the order in which it was filled; saying so would have it sort again.
    ordered = "WHERE true" if bulk.sqlite else "ORDER BY s.place"
    bulk.execute(
        f"INSERT INTO {table.name} ({names(columns)}, batch_id) "
        f"SELECT {names(columns, 's.')}, b.batch_id FROM {staged} s "
        f"JOIN {shops} b ON b.shop_key = s.shop_key {ordered} "
        "ON CONFLICT DO NOTHING"
    )
    return _count(bulk, table, batches["batch_id"].to_pylist())


def _count(bulk: Bulk, table: Table, batches: list[int]) -> dict[int, int]:
    listed = ", ".join(map(str, batches))
    counted = bulk.table(
        f"SELECT batch_id, COUNT(*) AS rows FROM {table.name} WHERE batch_id IN ({listed}) "
        "GROUP BY batch_id"
    ).to_pylist()
    found = {int(row["batch_id"]): int(row["rows"]) for row in counted}
    bulk.execute(
        f"UPDATE import_batch SET rows = (SELECT COUNT(*) FROM {table.name} t "
        f"WHERE t.batch_id = import_batch.batch_id) WHERE batch_id IN ({listed})"
    )
    bulk.execute(f"DELETE FROM import_batch WHERE batch_id IN ({listed}) AND rows = 0")
    return found
