"""How portions get into the warehouse: each in one transaction, together with its rejects."""

from typing import Final

import pyarrow as pa

from jobs.clock import now_micros
from jobs.importing.checks import Checks
from jobs.importing.kind import Counts, Kind, Written
from jobs.importing.portion import Portion
from jobs.importing.privacy import kept_text
from warehouse.bulk import Bulk

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
        _write_rejects(bulk, kind.name, file, checks.portion)
    bulk.commit()
    if checks.portion.format:
        counts.count(checks.portion.counted, written.more)
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


def _write_rejects(bulk: Bulk, kind: str, file: str, portion: Portion) -> None:
    bulk.execute(
        "INSERT INTO reject (kind, format, shop_id, file, line, reason, text, rejected_at) "
        f"SELECT $1, $2, $3, $4, s.line, s.reason, s.text, $5 FROM {_STAGED} s WHERE NOT EXISTS ("
        "SELECT 1 FROM reject r WHERE r.kind = $1 AND r.shop_id = $3 AND r.file = $4 "
        "AND r.line = s.line AND r.text = s.text) ORDER BY s.line",
        kind,
        portion.format,
        portion.shop_id,
        file,
        now_micros(),
    )
