"""Four of the answers, each by one SQL query over the raw rows, and how long that takes.

The raw events get the indexes that such queries want. Each query's figures are compared with the
service's: a query that is fast because it is wrong proves nothing.
"""

from functools import partial
from typing import Final

from sqlalchemy import Connection, NullPool, create_engine

from tests.bench.answered import FORM, answered, same
from tests.bench.credits import EFFECTIVE_UTM, STEPS
from tests.bench.data import DAYS, FIRST
from tests.bench.processes import Took, median, timed
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_MS, day_number
from warehouse.domain.vocabulary import DEVICES, UTM_FIELDS

_INDEXES: Final = (
    "CREATE INDEX bench_form ON raw_event (shop_key, form_id, form_session_id)",
    "CREATE INDEX bench_at ON raw_event (shop_key, occurred_at)",
)
_EVENT: Final = (
    "SELECT form_id, form_session_id, visitor_id, type, occurred_at AS instant, device, customer_id, "
    f"email_sha256 AS email, discount_code AS code, {', '.join(UTM_FIELDS)} "
    "FROM raw_event WHERE shop_key = 1"
)
# With the first code of `[[code, amount, discount_id], ...]`, or "".
_PURCHASE: Final = (
    "SELECT order_id, created_at AS instant, gross, refunded, customer_id, email_sha256 AS email, "
    f"visitor_id, COALESCE({{}}, '') AS code, {', '.join(UTM_FIELDS)} "
    "FROM raw_order WHERE shop_key = 1"
)
_CODE: Final = {"sqlite": "json_extract(codes, '$[0][0]')", "postgresql": "codes::json -> 0 ->> 0"}
_BEGIN = day_number(FIRST) * MICROS_PER_DAY


def _within(instant: str) -> str:
    return f"{instant} >= {_BEGIN} AND {instant} < {_BEGIN + DAYS * MICROS_PER_DAY}"


def _count(condition: str) -> str:
    return f"COUNT(CASE WHEN {condition} THEN 1 END)"


# The form's sessions with what they brought.
_SESSIONS = (
    "session s LEFT JOIN submission b ON b.form_id = s.form_id "
    "AND b.form_session_id = s.form_session_id LEFT JOIN outcome o ON o.place = b.place "
    f"WHERE s.form_id = '{FORM}'"
)
_SUBMITTED = _within("s.submitted_at")
_MILESTONES = ("viewed_at", "started_at", "subscribed_at", "completed_at", "submitted_at")
_FUNNEL = f"""
SELECT {", ".join(_count(_within(f"s.{name}")) for name in _MILESTONES)},
  {_count(f"{_SUBMITTED} AND o.orders > 0")},
  {
    ", ".join(
        f"SUM(CASE WHEN {_SUBMITTED} THEN COALESCE(o.{name}, 0) ELSE 0 END)"
        for name in ("orders", "gross", "refunded")
    )
}
FROM {_SESSIONS}"""

_LEVELS = (
    _within("viewed_at"),
    _within("submitted_at"),
    f"{_within('submitted_at')} AND orders > 0",
)
_VISITORS = f"""
SELECT {
    ", ".join(
        f"COUNT(DISTINCT CASE WHEN {kind} AND {level} THEN visitor_id END)"
        for kind in ("nth > 0", "nth = 1", "nth > 1")
        for level in _LEVELS
    )
}
FROM (SELECT s.visitor_id, s.viewed_at, s.submitted_at, o.orders, ROW_NUMBER() OVER (
  PARTITION BY s.visitor_id ORDER BY s.first_at, s.form_session_id) AS nth FROM {
    _SESSIONS
}) visit"""

_HIERARCHY = "utm_source, utm_campaign, utm_medium, utm_term, utm_content"
_BY_UTM = f"""
SELECT {_HIERARCHY}, COUNT(*), SUM(gross), SUM(refunded) FROM (
  SELECT p.gross, p.refunded, {EFFECTIVE_UTM} FROM purchase p
  LEFT JOIN credit c ON c.order_id = p.order_id LEFT JOIN submission s ON s.place = c.place
  WHERE {_within("p.instant")}) sale
GROUP BY {_HIERARCHY}"""

_SPAN = "completed_at - COALESCE(started_at, viewed_at, first_at)"
# Nearest rank: the least with at least so many percent of all up to it.
_TIMES = f"""
SELECT device, MAX(count), AVG(took) / {MICROS_PER_MS}.0, {
    ", ".join(
        f"MIN(CASE WHEN 100 * place >= {percent} * count THEN took END)"
        for percent in (0, 25, 50, 75, 90, 95, 99, 100)
    )
}
FROM (
  SELECT device, took, COUNT(*) OVER (PARTITION BY device) AS count,
    ROW_NUMBER() OVER (PARTITION BY device ORDER BY took) AS place
  FROM (
    SELECT each.device, CASE WHEN {_SPAN} > 0 THEN {_SPAN} ELSE 0 END AS took
    FROM session s JOIN (SELECT 0 AS device {
    "".join(f"UNION ALL SELECT {code} " for code in range(1, len(DEVICES)))
}) each ON each.device IN (0, s.device) WHERE {_within("completed_at")}) one
) ranked GROUP BY device"""

QUERIES: Final = {
    "funnel": _FUNNEL,
    "visitor conversion": _VISITORS,
    "by UTM": _BY_UTM,
    "time to complete": _TIMES,
}
# Those that need one form's events alone, and not every order's credit.
_OF_FORM: Final = ("time to complete",)


def measure(url: str) -> dict[str, float]:
    """Seconds of each query. Raises where its figures are not the service's."""
    expected = answered(url)
    engine = create_engine(url, poolclass=NullPool)
    seconds = {}
    with engine.connect() as connection:
        for index in (*_INDEXES, "ANALYZE"):
            connection.exec_driver_sql(index)
        connection.commit()
        for name in QUERIES:
            sql = query(name, engine.dialect.name)
            found = sorted(tuple(row) for row in connection.exec_driver_sql(sql))
            if not same(found, expected[name]):
                raise RuntimeError(f"{name}: SQL {found[:3]}, service {expected[name][:3]}")
            seconds[name] = median(partial(_asked, connection, sql)).seconds
    return seconds


def _asked(connection: Connection, sql: str) -> Took:
    return timed(lambda: connection.exec_driver_sql(sql).all())


def query(name: str, dialect: str) -> str:
    """One statement, with all its steps."""
    event = f"{_EVENT} AND form_id = '{FORM}'" if name in _OF_FORM else _EVENT
    steps = {"event": event, "purchase": _PURCHASE.format(_CODE[dialect])} | STEPS
    ctes = ", ".join(f"{step} AS ({sql})" for step, sql in steps.items())
    return f"WITH {ctes} {QUERIES[name]}"
