"""How far the warehouse is: per shop what came last and what waits, and what was rejected and why."""

from typing import Any

from warehouse import editions
from warehouse.bulk import Bulk
from warehouse.catalogue import LOGIC_VERSION
from warehouse.days import iso_millis

Row = dict[str, Any]

# Waiting: rows that are not in the edition that answers are read from.
_SHOPS = """
SELECT s.shop_key, s.shop_id, s.timezone, s.edition,
  CAST(COALESCE((SELECT e.rolled_up_at FROM edition e WHERE e.edition = s.edition), 0) AS BIGINT)
    AS rolled_up_at,
  CAST(COALESCE((SELECT SUM(b.rows) FROM import_batch b WHERE b.shop_key = s.shop_key
    AND NOT EXISTS (SELECT 1 FROM edition_batch d
      WHERE d.edition = s.edition AND d.batch_id = b.batch_id)), 0) AS BIGINT) AS waiting,
  COALESCE((SELECT MAX(b.batch_id) FROM import_batch b WHERE b.shop_key = s.shop_key), 0) AS batch
FROM shop s ORDER BY s.shop_id
"""


def status(bulk: Bulk, window_days: int) -> Row:
    """`{shops: [...], rejects: [...]}`, times as ISO 8601 texts (null where nothing has happened).

    The state of a shop is `none` before its first rollup, `building` while another edition is being
    filled, `outdated` where the next rollup will build it anew, else `current`.
    """
    outdated = set(editions.outdated(bulk, window_days, LOGIC_VERSION))
    building = {one.shop_key for one in editions.editions(bulk, editions.BUILDING)}
    shops = [
        {
            "shop_id": row["shop_id"],
            "timezone": row["timezone"],
            "state": _state(row, building, outdated),
            "waiting_rows": row["waiting"],
            "last_rollup_at": _written(row["rolled_up_at"]),
            "newest_batch": _batch(bulk, row["batch"]),
        }
        for row in bulk.table(_SHOPS).to_pylist()
    ]
    rejects = bulk.table(
        "SELECT kind, reason, COUNT(*) AS rows FROM reject GROUP BY kind, reason "
        "ORDER BY rows DESC, kind, reason"
    ).to_pylist()
    bulk.commit()
    return {"shops": shops, "rejects": rejects}


def _state(row: Row, building: set[int], outdated: set[int]) -> str:
    if row["shop_key"] in building:
        return "building"
    if not row["edition"]:
        return "none"
    return "outdated" if row["shop_key"] in outdated else "current"


def _batch(bulk: Bulk, batch: int) -> Row | None:
    found = bulk.table(
        "SELECT batch_id, kind, rows, imported_at FROM import_batch WHERE batch_id = $1", batch
    ).to_pylist()
    return {**found[0], "imported_at": _written(found[0]["imported_at"])} if found else None


def _written(instant: int) -> str | None:
    return iso_millis(instant) if instant else None
