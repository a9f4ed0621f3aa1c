"""Figures of a shop that are built anew since its time zone or its rules on forms changed, or raw rows of it
were removed: how far that is, and how long it takes. Until it is done, answers are as they were before."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, text

from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.editions.editions import BUILDING, FROZEN
from warehouse.editions.pending_batches import from_pending

# Rows a second of a rollup, where none has shown it: a small server's.
_USUAL_RATE: Final = 10_000
# A run of fewer rows tells of its start alone.
_TELLING_ROWS: Final = 5_000

_BUILDING: Final = (
    "SELECT b.edition FROM edition b JOIN shop t ON t.shop_key = b.shop_key WHERE t.shop_key = :shop_key "
    f"AND b.state = '{BUILDING}' AND b.timezone = t.timezone AND b.form_rules = t.form_rules"
)
_STATE: Final = text(f"""
SELECT
  CASE WHEN e.state = '{FROZEN}' OR e.timezone <> s.timezone OR e.form_rules <> s.form_rules THEN 1 ELSE 0 END
    AS is_outdated,
  (SELECT CAST(COALESCE(SUM(i.rows), 0) AS BIGINT) FROM import_batch i WHERE i.shop_key = s.shop_key) AS rows,
  (SELECT COUNT(*) FROM ({_BUILDING}) n) AS begun,
  (SELECT CAST(COALESCE(SUM(p.rows), 0) AS BIGINT) {from_pending(_BUILDING)}) AS pending
FROM shop s JOIN edition e ON e.edition = s.edition WHERE s.shop_key = :shop_key
""")
_LAST_RUN: Final = text(
    "SELECT rows, seen_at - started_at AS micros FROM job_run WHERE job IN ('rollup', 'refresh', 'rebuild') "
    f"AND rows >= {_TELLING_ROWS} AND ended_at > 0 ORDER BY run_id DESC LIMIT 1"
)


@dataclass(frozen=True)
class Recomputing:
    """The progress of a shop's new figures."""

    # All raw rows of the shop.
    rows: int
    # The rows that are in the new figures, None before they are begun and where none are needed.
    done: int | None
    # Whether new figures are needed.
    is_outdated: bool
    # How long all of it takes.
    seconds: int


def read(connection: Connection, shop_key: int) -> Recomputing:
    run = connection.execute(_LAST_RUN).one_or_none()
    rate = run.rows * MICROS_PER_SECOND / max(run.micros, 1) if run else _USUAL_RATE
    row = connection.execute(_STATE, {"shop_key": shop_key}).one_or_none()
    if row is None:
        return Recomputing(0, None, False, 0)
    done = int(row.rows - row.pending) if row.is_outdated and row.begun else None
    return Recomputing(int(row.rows), done, bool(row.is_outdated), round(row.rows / rate) + 1)
