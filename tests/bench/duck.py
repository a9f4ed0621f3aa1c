"""The peer of the rollup: DuckDB makes facts and daily tables from the same rows in Parquet.

`python -m tests.bench.duck FOLDER`: with two threads, into a database file. It makes sessions with
their milestones, submissions, orders with their credit, steps and answers, and the daily tables of
funnel and devices, attribution, steps, time to complete, visitors, responses, cross-field and UTM.
It leaves out what a rollup does besides: discounts, lifetime values, the numbers that stand for
texts, whatever a later merge of late rows needs (which event decided), and everything that
`credits.py` takes for granted.
"""

import sys
import tempfile
from pathlib import Path
from typing import Final

import duckdb

from tests.bench.credits import EFFECTIVE_UTM, STEPS
from tests.bench.processes import Took, run
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.domain.vocabulary import (
    ANSWER,
    DEVICES,
    EVENT_TYPES,
    STEP_COMPLETE,
    STEP_VIEW,
    UTM_FIELDS,
)

THREADS: Final = 2


def _utm(given: tuple[str, ...]) -> str:
    """The UTM fields, of which a file has these."""
    return ", ".join(
        f"COALESCE({name}, '') AS {name}" if name in given else f"'' AS {name}"
        for name in UTM_FIELDS
    )


_OF_EVENTS: Final = tuple(name for name in UTM_FIELDS if name != "utm_term")
_OF_ORDERS: Final = ("utm_source", "utm_campaign")
_VIEWS: Final = {
    "event": f"""
SELECT form_id, form_session_id, visitor_id, list_position({list(EVENT_TYPES[1:])}, type) AS type,
  epoch_us(occurred_at) AS instant,
  COALESCE(list_position({list(DEVICES[1:])}, device_type), 0) AS device,
  COALESCE(customer_id, '') AS customer_id, COALESCE(sha256(email), '') AS email,
  COALESCE(upper(discount_code), '') AS code, step_id, step_index, field_id, value, event_id,
  {_utm(_OF_EVENTS)}
FROM '{{}}/events.parquet'""",
    "purchase": f"""
SELECT order_id, epoch_us(CAST(created_at AS TIMESTAMPTZ)) AS instant, total_cents AS gross,
  COALESCE(list_sum([one.amount_cents FOR one IN refunds]), 0) AS refunded,
  COALESCE(customer_id, '') AS customer_id, COALESCE(sha256(email), '') AS email,
  COALESCE(visitor_id, '') AS visitor_id, COALESCE(upper(discount_codes[1].code), '') AS code,
  {_utm(_OF_ORDERS)}
FROM '{{}}/orders.parquet'""",
}
_FACTS: Final = {
    **STEPS,
    "step": f"""
SELECT form_id, form_session_id, step_id, MAX(step_index) AS step_index,
  MIN(instant) FILTER (type = {STEP_VIEW}) AS viewed_at,
  MIN(instant) FILTER (type = {STEP_COMPLETE}) AS completed_at
FROM event WHERE type IN ({STEP_VIEW}, {STEP_COMPLETE}) GROUP BY ALL""",
    "answer": f"""
SELECT form_id, form_session_id, field_id, arg_max(value, (instant, event_id)) AS value
FROM event WHERE type = {ANSWER} GROUP BY ALL""",
    "result": """
SELECT s.*, o.orders, o.gross, o.refunded
FROM submission s LEFT JOIN outcome o USING (place)""",
}
_OUTCOME: Final = (
    "COUNT(*) AS submissions, COUNT(orders) AS converted, SUM(orders) AS orders, "
    "SUM(gross) AS gross, SUM(refunded) AS refunded"
)


def _day(instant: str) -> str:
    return f"{instant} // {MICROS_PER_DAY} AS day"


def _milestones(*dims: str) -> str:
    """Each milestone on its own day, one below the other, then the outcome of the submissions."""
    listed = ", ".join(dims)
    parts = [
        f"SELECT {_day(f'{name}_at')}, {listed}, '{name}' AS what, COUNT(*) AS count, 0 AS orders, "
        f"0 AS gross, 0 AS refunded FROM session WHERE {name}_at IS NOT NULL GROUP BY ALL"
        for name in ("viewed", "started", "subscribed", "completed")
    ]
    parts.append(
        f"SELECT {_day('submitted_at')}, {listed}, 'submitted', COUNT(*), SUM(orders), SUM(gross), "
        "SUM(refunded) FROM result GROUP BY ALL"
    )
    return " UNION ALL ".join(parts)


_VISITS: Final = " UNION ALL ".join(
    f"SELECT DISTINCT {_day(instant)}, form_id, visitor_id, '{level}' AS level FROM {source}"
    for level, instant, source in (
        ("visitors", "viewed_at", "session WHERE viewed_at IS NOT NULL"),
        ("submitters", "submitted_at", "result"),
        ("purchasers", "submitted_at", "result WHERE orders > 0"),
    )
)
_DAILY: Final = {
    "funnel": _milestones("form_id"),
    "device": _milestones("form_id", "device"),
    "attribution": f"""
SELECT {_day("p.instant")}, s.form_id, c.type, COUNT(*) AS orders, SUM(p.gross) AS gross,
  SUM(p.refunded) AS refunded
FROM purchase p LEFT JOIN credit c USING (order_id) LEFT JOIN submission s USING (place) GROUP BY ALL""",
    "step": f"""
SELECT {_day("t.viewed_at")}, t.form_id, t.step_id, COUNT(*) AS views, COUNT(t.completed_at) AS completions,
  COUNT(*) FILTER (t.completed_at IS NULL AND s.completed_at IS NULL AND t.last) AS dropoffs
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY form_id, form_session_id
  ORDER BY viewed_at DESC, step_index DESC) = 1 AS last FROM step WHERE viewed_at IS NOT NULL) t
JOIN session s USING (form_id, form_session_id) GROUP BY ALL""",
    "time_to_complete": f"""
SELECT {_day("completed_at")}, form_id, device, CAST(floor(36 * log2(1 + took)) AS INTEGER) AS bucket,
  COUNT(*) AS completions, SUM(took) AS duration
FROM (SELECT *, greatest(0, completed_at - COALESCE(started_at, viewed_at, first_at)) AS took
  FROM session WHERE completed_at IS NOT NULL) GROUP BY ALL""",
    "visitor": f"""
SELECT day, form_id, level, previous, COUNT(*) AS visitors
FROM (SELECT *, LAG(day) OVER (PARTITION BY form_id, visitor_id, level ORDER BY day) AS previous
  FROM ({_VISITS})) GROUP BY ALL""",
    "response": f"""
SELECT {_day("submitted_at")}, form_id, field_id, value, {_OUTCOME}
FROM result JOIN answer USING (form_id, form_session_id) GROUP BY ALL""",
    "cross_field": f"""
SELECT {_day("submitted_at")}, r.form_id, a.field_id AS field_a, b.field_id AS field_b,
  a.value AS value_a, b.value AS value_b, COUNT(*) AS submissions, COUNT(r.orders) AS converted
FROM result r JOIN answer a USING (form_id, form_session_id) JOIN answer b
  ON b.form_id = r.form_id AND b.form_session_id = r.form_session_id AND a.field_id < b.field_id
GROUP BY ALL""",
    "utm_submission": f"""
SELECT {_day("submitted_at")}, {", ".join(UTM_FIELDS)}, {_OUTCOME} FROM result GROUP BY ALL""",
    "utm_order": f"""
SELECT day, type, {", ".join(UTM_FIELDS)}, COUNT(*) AS orders, SUM(gross) AS gross,
  SUM(refunded) AS refunded
FROM (SELECT {_day("p.instant")}, c.type, p.gross, p.refunded, {EFFECTIVE_UTM}
  FROM purchase p LEFT JOIN credit c USING (order_id) LEFT JOIN submission s USING (place))
GROUP BY ALL""",
}


def measure(data: Path) -> Took:
    """The whole process."""
    return run("", "tests.bench.duck", data)


def build(data: Path, database: Path) -> None:
    """Facts under the names of their steps, daily tables as `daily_<name>`."""
    with duckdb.connect(str(database), config={"threads": THREADS}) as connection:
        for name, sql in _VIEWS.items():
            connection.execute(f"CREATE VIEW {name} AS {sql.format(data)}")
        for name, sql in _FACTS.items():
            connection.execute(f"CREATE TABLE {name} AS {sql}")
        for name, sql in _DAILY.items():
            connection.execute(f"CREATE TABLE daily_{name} AS {sql}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
        build(Path(sys.argv[1]), Path(folder) / "peer.duckdb")
