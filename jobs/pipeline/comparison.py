"""The stored rows, compared with those that raw rows give: all of an edition, or what belongs to some days.

Tables and columns are those of the metadata, so a new one is compared from its first day. A row differs if it
is missing, too many, or has another value in any column but those of NOT_DERIVED.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
from sqlalchemy import Table

from jobs.arrays.group_keys import Column
from jobs.facts import day_facts, fact_table_io
from jobs.facts.calendar import Calendar
from jobs.facts.changes import Changes, unique_ids
from jobs.facts.day_facts import DaysByEdition
from jobs.facts.fact_table_io import Replacement, replacements, texts, updates
from jobs.facts.read_raw import chosen_ids
from jobs.facts.rollup_units import units_of
from jobs.pipeline.derive import calendar_of, deltas_of
from jobs.pipeline.recompute import derive_days, stage_days
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.hash_ids import SEPARATOR, text_ids
from warehouse.domain.time import NO_DAY
from warehouse.editions.editions import Edition
from warehouse.editions.pending_batches import sql_list
from warehouse.tables.base import column_names, key_names

# How many rows differ, by edition, table and day; NO_DAY for rows that belong to no day.
Differences = Counter[tuple[int, str, int]]

NOT_DERIVED: Final = {
    tables.fact_form_session.c.session: "sessions are numbered as their batches come; they are known by "
    "their session_hash, and so are those that other facts name by this number",
}
"""The columns that raw rows do not give, with the reason."""

# Dimensions whose id is the hash of their texts, with the columns of facts that name a row. One that no fact
# names may be there or not: a later version of an order replaced the one that did, or an event does not
# decide for its session, which shows only where both are read together.
_NAMED_BY_TEXTS: Final = {
    tables.dim_text: (
        *((tables.fact_form_session, name) for name in ("form", "variant")),
        (tables.fact_answer, "field"),
        *((tables.fact_code_issued, name) for name in ("code", "discount")),
        *((tables.fact_order_code, name) for name in ("code", "discount")),
    ),
    tables.dim_utm: (
        (tables.fact_form_session, "utm"),
        *((tables.fact_order, name) for name in ("order_utm", "utm")),
    ),
}
_IS_SECOND: Final = (
    "EXISTS (SELECT 1 FROM fact_form_session n WHERE n.edition = o.edition "
    "AND n.session_hash = o.session_hash AND n.session < o.session)"
)
"""A form session is stored a second time."""
_SPAN_DAYS: Final = ("edition", "first", "last")
_PAIRS: Final = "compared_edition"
_SPANS: Final = "compared_days"


def compare_editions(connection: ArrowConnection, pairs: Mapping[Edition, Edition]) -> Differences:
    """How many rows of editions differ from those of another one of their shops (`pairs`). The database
    compares them along their keys: a sort of whole tables would be in the memory of an SQLite connection."""
    differences: Differences = Counter()
    numbers = [(one.edition, other.edition) for one, other in pairs.items()]
    columns = np.array(numbers, np.int64).reshape(-1, 2).T
    connection.stage(_PAIRS, pa.table(dict(zip(("ours", "theirs"), columns, strict=True))))
    connection.analyze(_PAIRS)
    for table in tables.OWNED:
        differs = " OR ".join(
            f"{_value('o', name)} <> {_value('t', name)}" for name in _values(table)
        )
        missing, wrong = "t.edition IS NULL", f"t.edition IS NULL OR {differs}"
        if table in _NAMED_BY_TEXTS:
            wrong = f"t.edition IS NOT NULL AND ({differs})"
            named = [
                f'SELECT edition, "{name}" FROM {facts.name} '
                f"WHERE edition IN (SELECT theirs FROM {_PAIRS})"
                for facts, name in _NAMED_BY_TEXTS[table]
            ]
            if table is tables.dim_text:
                chosen = chosen_ids(connection, columns[1].tolist())
                staged = fact_table_io.to_arrow(chosen, ["edition", "id"])
                named.append(f"SELECT edition, id FROM {connection.stage('chosen_texts', staged)}")
            (id,) = _key(table)
            missing += f' AND (o.edition, o."{id}") IN ({" UNION ".join(named)})'
            differences += _misnamed(connection, table, columns[0].tolist())
        if table is tables.fact_form_session:
            wrong += f" OR {_IS_SECOND}"
        day = 'o."day"' if "day" in table.c else str(NO_DAY)
        for own, others, condition in (("ours", "theirs", wrong), ("theirs", "ours", missing)):
            rows = connection.table(
                f"SELECT p.ours, {day} AS day, COUNT(*) AS rows {_pairs(table, own, others)} "
                f"WHERE {condition} GROUP BY 1, 2"
            )
            for row in rows.to_pylist():
                differences[row["ours"], table.name, row["day"]] += row["rows"]
    return +differences


def _key(table: Table) -> tuple[str, ...]:
    """The columns that tell a row from the others of its edition."""
    return ("session_hash",) if table is tables.fact_form_session else key_names(table)[1:]


def _values(table: Table) -> list[str]:
    left_out = {"edition", *_key(table), *(one.name for one in NOT_DERIVED if one.table is table)}
    return [name for name in column_names(table) if name not in left_out]


def _value(rows: str, name: str) -> str:
    if name != "session":
        return f'{rows}."{name}"'
    own = f"s.edition = {rows}.edition AND s.session = {rows}.session"
    return f"COALESCE((SELECT s.session_hash FROM fact_form_session s WHERE {own}), {rows}.session)"


def _pairs(table: Table, own: str, others: str) -> str:
    """FROM of the rows (`o`) of one edition of each pair (`p`), each with that of the other (`t`)."""
    key, sessions = list(_key(table)), ""
    same = [f"t.edition = p.{others}", *(f't."{name}" = o."{name}"' for name in key)]
    if "session" in key:
        same[1 + key.index("session")] = "t.session = theirs.session"
        sessions = (
            "LEFT JOIN fact_form_session ours "
            "ON ours.edition = o.edition AND ours.session = o.session LEFT JOIN fact_form_session theirs "
            f"ON theirs.edition = p.{others} AND theirs.session_hash = ours.session_hash "
        )
    return (
        f"FROM {_PAIRS} p JOIN {table.name} o ON o.edition = p.{own} {sessions}"
        f"LEFT JOIN {table.name} t ON {' AND '.join(same)}"
    )


def _misnamed(connection: ArrowConnection, table: Table, numbers: list[int]) -> Differences:
    """How many rows of editions have an id that is not the hash of their texts."""
    own, ids, *words = connection.rows_of(
        table,
        f"SELECT {', '.join(column_names(table))} FROM {table.name} "
        f"WHERE edition IN ({sql_list(numbers)})",
    ).columns
    named = map(SEPARATOR.join, zip(*(column.to_pylist() for column in words), strict=True))
    is_wrong = np.array(text_ids(list(named)), np.int64) != ids.to_numpy()
    return Counter((number, table.name, NO_DAY) for number in own.to_numpy()[is_wrong].tolist())


def compare_days(connection: ArrowConnection, days: DaysByEdition) -> Differences:
    """How many rows differ between what is stored of these days and what raw rows give: the facts of the form
    sessions with an event in these days and of the orders that were created in them, all that follows from
    these facts, and the daily rows. The editions have the same attribution window."""
    calendar = calendar_of(connection, days)
    differing: dict[str, list[pd.DataFrame]] = defaultdict(list)
    for changes in derive_days(connection, days):
        for table, rows in _differing_facts(connection, changes):
            differing[table.name].append(rows.assign(day=_days(changes, calendar, table, rows)))
        for summary, delta in deltas_of(units_of(connection, changes, calendar)):
            # Daily rows that agree with facts that are wrong.
            keys = delta.drop_columns(list(summary.measures)).to_pandas()
            differing[summary.table].append(keys.assign(part="facts"))
    differences: Differences = Counter()
    for name, found in differing.items():
        # Facts of one part may make a row differ that those of another do, too.
        rows = pd.concat(found, ignore_index=True).drop_duplicates()
        places = zip(rows["edition"].tolist(), rows["day"].tolist(), strict=True)
        differences.update((number, name, day) for number, day in places)
    spans = fact_table_io.to_arrow(day_facts.spans(connection, days), _SPAN_DAYS)
    for summary, due in stage_days(connection, days, facts_may_be_wrong=True):
        connection.stage(_SPANS, spans)
        differences += _differing_days(connection, tables.DAILY[summary.name], due)
    return differences


def _differing_days(connection: ArrowConnection, table: Table, due: str) -> Differences:
    """How many stored rows of the staged days differ from those that are due."""
    key = _key(table)
    same = " AND ".join(f'd."{name}" = o."{name}"' for name in ("edition", *key))
    differs = " OR ".join(f'd."{name}" <> o."{name}"' for name in _values(table))
    stored = (
        f"FROM {_SPANS} k CROSS JOIN {table.name} o LEFT JOIN {due} d ON {same} "
        "WHERE o.edition = k.edition AND o.day BETWEEN k.first AND k.last"
    )
    differences: Differences = Counter()
    for rows in (
        f"{stored} AND (d.edition IS NULL OR {differs})",
        f"FROM {due} o LEFT JOIN {table.name} d ON {same} WHERE d.edition IS NULL",
    ):
        found = connection.table(
            f"SELECT o.edition, o.day, COUNT(*) AS rows {rows} GROUP BY o.edition, o.day"
        )
        for row in found.to_pylist():
            differences[row["edition"], table.name, row["day"]] += row["rows"]
    return differences


def _differing_facts(
    connection: ArrowConnection, changes: Changes
) -> Iterator[tuple[Table, pd.DataFrame]]:
    """The keys of the rows that writing the changes would change, by table."""
    replaced = list(replacements(changes))
    new = {table: rows.new for table, rows in changes.whole.items()}
    new |= {table: rows for table, _, rows in replaced}
    for table, versions in changes.differing.items():
        key = list(key_names(table))
        yield table, pd.concat([versions.old[key], versions.new[key]]).drop_duplicates()
    named = (
        Replacement(table, rows[list(key_names(table))], rows) for table, rows in texts(changes)
    )
    for table, keys, rows in (*replaced, *named):
        stored = fact_table_io.load(connection, table, keys.drop_duplicates())
        if table in _NAMED_BY_TEXTS:
            (id,) = _key(table)
            names = [new[own][name] for own, name in _NAMED_BY_TEXTS[table]]
            rows = rows[rows[id].isin(pd.concat([*names, stored[id]]))]
        columns = list(column_names(table))
        both = pd.concat([stored[columns], rows[columns]], ignore_index=True)
        key = list(key_names(table))
        yield table, both.drop_duplicates(keep=False)[key].drop_duplicates()
    for table, rows, _ in updates(changes):
        yield table, rows[list(key_names(table))]


def _days(changes: Changes, calendar: Calendar, table: Table, rows: pd.DataFrame) -> list[int]:
    """The day of each row: that of its session's first event, or of its order."""
    for name, facts, at in (
        ("order", changes.orders, "created_at"),
        ("session", changes.sessions, "first_at"),
    ):
        if name in key_names(table):
            instants = unique_ids(facts.new[[at]], facts.old[[at]])[at].reindex(rows[name])
            days: Column = calendar.days(rows["edition"].to_numpy(), instants.to_numpy(np.int64))
            return days.tolist()
    return [NO_DAY] * len(rows)
