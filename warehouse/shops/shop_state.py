"""The state of one shop's data: what of it needs a person, and how far new figures are that are being built.

Every page of the dashboard asks for it, so it is one statement, each part of which is a look-up in an index.
The conditions are in `warehouse/operations/conditions.py`; two are news to the members of a shop alone.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, text

from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND
from warehouse.editions.editions import BUILDING, FROZEN
from warehouse.editions.pending_batches import from_pending
from warehouse.operations.conditions import BACKLOG, MANY_REJECTS
from warehouse.operations.figure_checks import MISSED_REFRESHES

NO_REFRESH: Final = "no-refresh"
REJECTS: Final = "rejects"

# The least time without a refresh before somebody should look.
_LEAST_MINUTES: Final = 10
# Older rejects are on the Data page, and are no news any more.
_NEWS: Final = 7 * MICROS_PER_DAY

_STATE: Final = text(f"""
SELECT
  (SELECT MAX(o.created_at) FROM fact_order o WHERE o.edition = :edition) AS last_order_at,
  CASE WHEN :edition = 0
    THEN (SELECT MIN(b.imported_at) FROM import_batch b WHERE b.shop_key = :shop_key AND b.rows > 0)
    ELSE (SELECT MIN(p.imported_at) {from_pending(":edition")} WHERE p.rows > 0) END AS waiting_since,
  (SELECT MAX(r.rejected_at) FROM reject r WHERE r.shop_key = :shop_key) AS rejected_at,
  (SELECT j.seen_at FROM job_run j WHERE j.job = 'refresh' ORDER BY j.run_id DESC LIMIT 1)
    AS refreshed_at,
  (SELECT e.verified_at FROM edition e WHERE e.edition = :edition) AS verified_at,
  (SELECT e.differing_rows FROM edition e WHERE e.edition = :edition) AS differing_rows
""")


@dataclass(frozen=True)
class ShopState:
    """The state of a shop's data. Instants are in microseconds, 0 where there is none."""

    # When the newest order in the figures was made.
    last_order_at: int
    # When the oldest import came that is not in the figures.
    waiting_since: int
    # When the newest reject was rejected.
    rejected_at: int
    # The last heartbeat of a refresh of the schedule.
    refreshed_at: int
    # The last comparison of these figures with the raw rows.
    verified_at: int
    differing_rows: int


def read_state(connection: Connection, shop_key: int, edition: int) -> ShopState:
    """Read the state of a shop. `edition`: the one that answers are read from, 0 before the first rollup."""
    row = connection.execute(_STATE, {"shop_key": shop_key, "edition": edition}).one()
    return ShopState(*(int(value or 0) for value in row))


def needs(found: Collection[str], state: ShopState, now: int, refresh_minutes: int) -> list[str]:
    """The names of what needs a person: the conditions that were `found` of the shop, and the news.
    `refresh_minutes`: the setting of the schedule.

    A service whose rollups are started by hand has no refreshes to miss. Without refreshes a backlog is
    no news, and neither are rejects beside many of them.
    """
    patience = max(MISSED_REFRESHES * refresh_minutes, _LEAST_MINUTES) * 60 * MICROS_PER_SECOND
    names = list(found)
    if 0 < state.refreshed_at < now - patience:
        names = [NO_REFRESH, *(name for name in names if name != BACKLOG)]
    if state.rejected_at > now - _NEWS and MANY_REJECTS not in names:
        names.append(REJECTS)
    return names


# Figures are built anew where the time zone or the rules on forms have changed, or raw rows were removed.
# Until that is done, answers are as they were before.

# Rows a second of a rollup, where none has shown it: a small server's.
_USUAL_RATE: Final = 10_000
# A run of fewer rows tells of its start alone.
_TELLING_ROWS: Final = 5_000

_BUILDING: Final = (
    "SELECT b.edition FROM edition b JOIN shop t ON t.shop_key = b.shop_key WHERE t.shop_key = :shop_key "
    f"AND b.state = '{BUILDING}' AND b.timezone = t.timezone AND b.form_rules = t.form_rules"
)
_PROGRESS: Final = text(f"""
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


def read_recomputing(connection: Connection, shop_key: int) -> dict[str, Any]:
    """The progress of a shop's new figures: all raw `rows` of the shop; how many are `done`, None before new
    figures are begun and where none are needed; `is_outdated`, whether they are; the `seconds` that all of it
    takes."""
    run = connection.execute(_LAST_RUN).one_or_none()
    rate = run.rows * MICROS_PER_SECOND / max(run.micros, 1) if run else _USUAL_RATE
    row = connection.execute(_PROGRESS, {"shop_key": shop_key}).one_or_none()
    if row is None:
        return {"rows": 0, "done": None, "is_outdated": False, "seconds": 0}
    return {
        "rows": int(row.rows),
        "done": int(row.rows - row.pending) if row.is_outdated and row.begun else None,
        "is_outdated": bool(row.is_outdated),
        "seconds": round(row.rows / rate) + 1,
    }
