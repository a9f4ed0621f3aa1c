"""Peers of the rollup and of filtered answers: DuckDB and ClickHouse (`chdb`) on the same rows in Parquet.

Both load the rows first. From them they make facts (sessions with their milestones, submissions, orders with
their credit, steps and answers), and from these the daily tables of funnel and devices, attribution, steps,
time to complete, visitors, responses, cross-field and UTM: that is their first build. They leave out
discounts, lifetime values, kinds of customers, outcomes by delay, crossings, the numbers that stand for
texts, whatever a later merge of late rows needs (which event decided), and what `credits.py` takes for
granted.

A question over raw rows is facts and one SELECT. Its figures are compared with the service's: a query that is
fast because it is wrong proves nothing.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.bench.answered import QUESTIONS, Figures, same
from tests.bench.credits import EFFECTIVE_UTM, STEPS
from tests.bench.data import DAYS, FIRST, FORM_IDS
from tests.bench.processes import Took
from warehouse.domain.time import MICROS_PER_DAY, day_number
from warehouse.domain.vocabulary import (
    ANSWER,
    DEVICES,
    EVENT_TYPES,
    STEP_COMPLETE,
    STEP_VIEW,
    UTM_FIELDS,
)

ENGINES: Final = ("duckdb", "chdb")
_PROCESS: Final = Path(__file__).with_name("peer_process.py")
# Where the environment of chdb is, which is half a gigabyte (`make bench` makes it).
CHDB: Final = Path("var/bench/chdb/bin/python")


class Dialect(NamedTuple):
    """The same thing in the words of an engine."""

    place: str  # of a value in a list, from 1
    instant: str  # of a time in a file, in microseconds
    written: str  # of a time that is a text
    refunded: str
    code: str
    hashed: str
    table: str  # what a table is made with
    divided: str
    latest: str


_DIALECTS: Final = {
    "duckdb": Dialect(
        place="list_position({values}, {name})",
        instant="epoch_us({name})",
        written="epoch_us(CAST({name} AS TIMESTAMPTZ))",
        refunded="list_sum([one.amount_cents FOR one IN refunds])",
        code="discount_codes[1].code",
        hashed="sha256(email)",
        table="",
        divided="{name} // {by}",
        latest="arg_max",
    ),
    "chdb": Dialect(
        place="indexOf({values}, ifNull({name}, ''))",
        instant="toUnixTimestamp64Micro(assumeNotNull(toDateTime64({name}, 6)))",
        written="toUnixTimestamp64Micro(parseDateTime64BestEffort(assumeNotNull({name}), 6))",
        refunded="arraySum(one -> ifNull(one.3, 0), refunds)",
        code="(discount_codes[1]).1",
        hashed="hex(SHA256(email))",
        table="ENGINE = MergeTree ORDER BY tuple()",
        divided="intDiv({name}, {by})",
        latest="argMax",
    ),
}


def _raw(dialect: Dialect, data: Path) -> dict[str, str]:
    """The rows as `credits.py` wants them."""

    def given(*names: str) -> str:
        return ", ".join(f"COALESCE({name}, '') AS {name}" for name in names)

    def utm(*names: str) -> str:
        lacking = (f"'' AS {name}" for name in UTM_FIELDS if name not in names)
        return ", ".join([given(*names), *lacking])

    types = dialect.place.format(values=list(EVENT_TYPES[1:]), name="type")
    devices = dialect.place.format(values=list(DEVICES[1:]), name="device_type")
    person = f"COALESCE({dialect.hashed}, '') AS email, {given('customer_id', 'visitor_id')}"
    return {
        "event": f"""
SELECT {given("form_id", "form_session_id")}, COALESCE({types}, 0) AS type, COALESCE({devices}, 0) AS device,
  {dialect.instant.format(name="occurred_at")} AS instant, {person},
  COALESCE(upper(discount_code), '') AS code, step_id, step_index, field_id, value, event_id,
  {utm(*(name for name in UTM_FIELDS if name != "utm_term"))}
FROM {{}}events.parquet{{}}""".format(*_file(dialect, data)),
        "purchase": f"""
SELECT {given("order_id")}, {dialect.written.format(name="created_at")} AS instant,
  total_cents AS gross, COALESCE({dialect.refunded}, 0) AS refunded, {person},
  COALESCE(upper({dialect.code}), '') AS code, {utm("utm_source", "utm_campaign")}
FROM {{}}orders.parquet{{}}""".format(*_file(dialect, data)),
    }


def _file(dialect: Dialect, data: Path) -> tuple[str, str]:
    where = f"'{data.resolve()}/"
    return (f"file({where}", "', Parquet)") if dialect.table else (where, "'")


def _facts(dialect: Dialect) -> dict[str, str]:
    return {
        **STEPS,
        "step": f"""
SELECT form_id, form_session_id, step_id, MAX(step_index) AS step_index,
  MIN(CASE WHEN type = {STEP_VIEW} THEN instant END) AS viewed_at,
  MIN(CASE WHEN type = {STEP_COMPLETE} THEN instant END) AS completed_at
FROM event WHERE type IN ({STEP_VIEW}, {STEP_COMPLETE}) GROUP BY ALL""",
        "answer": f"""
SELECT form_id, form_session_id, field_id, {dialect.latest}(value, (instant, event_id)) AS value
FROM event WHERE type = {ANSWER} GROUP BY ALL""",
        "result": """
SELECT s.*, o.orders, o.gross, o.refunded
FROM submission s LEFT JOIN outcome o ON o.place = s.place""",
    }


_OUTCOME: Final = (
    "COUNT(*) AS submissions, COUNT(orders) AS converted, SUM(orders) AS orders, "
    "SUM(gross) AS gross, SUM(refunded) AS refunded"
)
_UTM: Final = ", ".join(UTM_FIELDS)


def _daily(dialect: Dialect) -> dict[str, str]:
    def day(instant: str) -> str:
        return f"{dialect.divided.format(name=instant, by=MICROS_PER_DAY)} AS day"

    def milestones(dims: str) -> str:
        """Each milestone on its own day, one below the other, then the outcome of the submissions."""
        parts = [
            f"SELECT {day(f'{name}_at')}, {dims}, '{name}' AS what, COUNT(*) AS count, 0 AS orders, "
            f"0 AS gross, 0 AS refunded FROM session WHERE {name}_at IS NOT NULL GROUP BY ALL"
            for name in ("viewed", "started", "subscribed", "completed")
        ]
        parts.append(
            f"SELECT {day('submitted_at')}, {dims}, 'submitted', COUNT(*), SUM(orders), SUM(gross), "
            f"SUM(refunded) FROM result GROUP BY ALL"
        )
        return " UNION ALL ".join(parts)

    visits = " UNION ALL ".join(
        f"SELECT DISTINCT {day(instant)}, form_id, visitor_id, '{level}' AS level FROM {source}"
        for level, instant, source in (
            ("visitors", "viewed_at", "session WHERE viewed_at IS NOT NULL"),
            ("submitters", "submitted_at", "result"),
            ("purchasers", "submitted_at", "result WHERE orders > 0"),
        )
    )
    credited = (
        "purchase p LEFT JOIN credit c ON c.order_id = p.order_id "
        "LEFT JOIN submission s ON s.place = c.place"
    )
    return {
        "funnel": milestones("form_id"),
        "device": milestones("form_id, device"),
        "attribution": f"""
SELECT {day("p.instant")}, s.form_id AS form_id, c.type AS type, COUNT(*) AS orders, SUM(p.gross) AS gross,
  SUM(p.refunded) AS refunded
FROM {credited} GROUP BY ALL""",
        "step": f"""
SELECT {day("t.viewed_at")}, t.form_id AS form_id, t.step_id AS step_id, COUNT(*) AS views,
  COUNT(t.completed_at) AS completions, COUNT(CASE WHEN t.completed_at IS NULL
  AND s.completed_at IS NULL AND t.place = 1 THEN 1 END) AS dropoffs
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY form_id, form_session_id
  ORDER BY viewed_at DESC, step_index DESC) AS place FROM step WHERE viewed_at IS NOT NULL) t
JOIN session s ON s.form_id = t.form_id AND s.form_session_id = t.form_session_id
GROUP BY ALL""",
        "time_to_complete": f"""
SELECT {day("completed_at")}, form_id, device, floor(36 * log2(1 + took)) AS bucket,
  COUNT(*) AS completions, SUM(took) AS duration
FROM (SELECT *, greatest(0, completed_at - COALESCE(started_at, viewed_at, first_at)) AS took
  FROM session WHERE completed_at IS NOT NULL) done GROUP BY ALL""",
        "visitor": f"""
SELECT day, form_id, level, previous, COUNT(*) AS visitors
FROM (SELECT *, LAG(day) OVER (PARTITION BY form_id, visitor_id, level ORDER BY day) AS previous
  FROM ({visits}) visit) pair GROUP BY ALL""",
        "response": f"""
SELECT {day("submitted_at")}, r.form_id AS form_id, field_id, value, {_OUTCOME}
FROM result r JOIN answer a ON a.form_id = r.form_id AND a.form_session_id = r.form_session_id
GROUP BY ALL""",
        "cross_field": f"""
SELECT {day("submitted_at")}, r.form_id AS form_id, a.field_id AS field_a, b.field_id AS field_b,
  a.value AS value_a, b.value AS value_b, COUNT(*) AS submissions, COUNT(r.orders) AS converted
FROM result r JOIN answer a ON a.form_id = r.form_id AND a.form_session_id = r.form_session_id
JOIN answer b ON b.form_id = r.form_id AND b.form_session_id = r.form_session_id
WHERE a.field_id < b.field_id GROUP BY ALL""",
        "utm_submission": f"""
SELECT {day("submitted_at")}, {_UTM}, {_OUTCOME} FROM result GROUP BY ALL""",
        "utm_order": f"""
SELECT day, type, {_UTM}, COUNT(*) AS orders, SUM(gross) AS gross, SUM(refunded) AS refunded
FROM (SELECT {day("p.instant")}, c.type AS type, p.gross AS gross, p.refunded AS refunded, {EFFECTIVE_UTM}
  FROM {credited}) sale GROUP BY ALL""",
    }


_BEGIN: Final = day_number(FIRST) * MICROS_PER_DAY


def _within(instant: str) -> str:
    return f"{instant} >= {_BEGIN} AND {instant} < {_BEGIN + DAYS * MICROS_PER_DAY}"


# The form's sessions with what they brought, each with its place among those of its visitor.
_SESSIONS: Final = f"""
(SELECT s.*, r.orders AS orders, r.gross AS gross, r.refunded AS refunded, ROW_NUMBER() OVER (
  PARTITION BY s.visitor_id ORDER BY s.first_at, s.form_session_id) AS nth
FROM session s LEFT JOIN result r ON r.form_id = s.form_id AND r.form_session_id = s.form_session_id
WHERE s.form_id = '{FORM_IDS[0]}') visit"""
_SUBMITTED: Final = _within("submitted_at")
_MILESTONES: Final = ("viewed_at", "started_at", "subscribed_at", "completed_at", "submitted_at")
_LEVELS: Final = (_within("viewed_at"), _SUBMITTED, f"{_SUBMITTED} AND orders > 0")
_FUNNEL: Final = ", ".join(
    (
        *(f"COUNT(CASE WHEN {_within(name)} THEN 1 END)" for name in _MILESTONES),
        f"COUNT(CASE WHEN {_SUBMITTED} AND orders > 0 THEN 1 END)",
        *(
            f"SUM(CASE WHEN {_SUBMITTED} THEN COALESCE({name}, 0) ELSE 0 END)"
            for name in ("orders", "gross", "refunded")
        ),
    )
)
_VISITORS: Final = ", ".join(
    f"COUNT(DISTINCT CASE WHEN {kind} AND {level} THEN visitor_id END)"
    for kind in ("nth > 0", "nth = 1", "nth > 1")
    for level in _LEVELS
)
_SELECTED: Final = {"funnel": _FUNNEL, "visitor conversion": _VISITORS}
_CHOSEN: Final = {
    "device": lambda value: f"device = {DEVICES.index(value)}",
    "visitor": lambda value: "nth = 1" if value == "new" else "nth > 1",
    "utm_source": lambda value: f"utm_source = '{value}'",
}


def work(engine: str, data: Path) -> dict[str, Any]:
    """The statements of an engine, by phase and by question."""
    dialect = _DIALECTS[engine]

    def made(tables: dict[str, str], before: str = "") -> list[str]:
        return [
            f"CREATE TABLE {before}{name} {dialect.table} AS {sql}" for name, sql in tables.items()
        ]

    return {
        "phases": {
            "load": made(_raw(dialect, data)),
            "facts": made(_facts(dialect)),
            "daily": made(_daily(dialect), "daily_"),
        },
        "questions": {
            each.name: f"SELECT {_SELECTED[each.endpoint]} FROM {_SESSIONS} WHERE "
            + " AND ".join(_CHOSEN[name](value) for name, value in each.filter.items())
            for each in QUESTIONS
        },
    }


class Measured(NamedTuple):
    """The first build of a peer, and each question over raw rows."""

    build: Took
    questions: dict[str, Took]


def measure(engine: str, data: Path, expected: dict[str, Figures]) -> Measured:
    """Raises where a figure is not the service's."""
    python = CHDB if engine == "chdb" else Path(sys.executable)
    with tempfile.TemporaryDirectory(dir=data) as folder:
        told = json.loads(
            subprocess.run(
                [python, _PROCESS, engine, folder],
                input=json.dumps(work(engine, data)),
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )

    def took(*parts: dict[str, float]) -> Took:
        return Took(sum(each["seconds"] for each in parts), 0, sum(each["cpu"] for each in parts))

    for name, rows in told["rows"].items():
        found = [tuple(row) for row in rows]
        if not same(found, expected[name]):
            raise RuntimeError(f"{engine}, {name}: {found[:3]}, service {expected[name][:3]}")
    phases = told["phases"]
    return Measured(
        took(phases["facts"], phases["daily"]),
        {name: took(phases["facts"], each) for name, each in told["questions"].items()},
    )
