"""Kept facts are found again by session: those of its batches, and of no other session."""

from collections.abc import Sequence

import pyarrow as pa
import pytest

from jobs.facts import kept_facts, touched
from jobs.facts.kept_facts import IDENTIFIERS, QUARTER, keep
from tests.support.fact_frames import at, frame, raw_events
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, schema_of

SHOP, EDITION = 7, 1


def keep_batch(connection: ArrowConnection, batch_id: int, *events: tuple[int, int]) -> None:
    """Keep the facts of events, each an instant of a session, as those of a batch."""
    rows = [
        {
            "session_hash": session,
            "form_session_id": str(session),
            "at": instant,
            "event_id": f"{batch_id}-{number}",
        }
        for number, (session, instant) in enumerate(events)
    ]
    identifiers = frame(
        ({"event_id": row["event_id"]} for row in rows),
        {"edition": EDITION, "event_id": "", **dict.fromkeys(IDENTIFIERS, "")},
    )
    facts = keep(raw_events(rows), identifiers)[EDITION]
    kept_facts.write(connection, batch_id, SHOP, facts)


def touch(connection: ArrowConnection, *sessions: int) -> None:
    keys = {"shop_key": [SHOP] * len(sessions), "form_session_id": [str(one) for one in sessions]}
    types = schema_of(tables.raw_event, tuple(keys))
    touched.stage(connection, more=pa.table(keys, types))


def read(connection: ArrowConnection, *wanted: int) -> list[tuple[int, Sequence[int]]]:
    """Edition and sessions of each batch that is read for these sessions."""
    touch(connection, *wanted)
    found = kept_facts.of_touched(connection, {SHOP: EDITION})
    return [(edition, facts.groups["session_hash"].tolist()) for edition, facts in found]


@pytest.fixture
def batches(connection: ArrowConnection) -> ArrowConnection:
    keep_batch(connection, 11, (1, at(100)), (2, at(100)))
    # The last instant of a quarter of an hour, of which the quarter is kept.
    keep_batch(connection, 12, (2, at(101) + QUARTER - 1), (2, at(103)), (3, at(103)))
    keep_batch(connection, 13, (2, at(101) + QUARTER - 1))
    return connection


def test_the_batches_of_a_session_have_nothing_of_others(batches: ArrowConnection) -> None:
    assert read(batches, 1) == [(EDITION, [1])]
    assert read(batches, 2) == [(EDITION, [2])] * 3
    assert read(batches, 1, 3) == [(EDITION, [1]), (EDITION, [3])]
    assert read(batches, 4) == []
    assert read(batches) == []


def test_no_cell_without_one_of_the_sessions_is_read(batches: ArrowConnection) -> None:
    other = "SELECT k.content FROM kept_facts k WHERE k.batch_id = 11"
    batches.execute(f"UPDATE kept_facts SET content = ({other}) WHERE batch_id = 13")
    assert read(batches, 1) == [(EDITION, [1])]


def test_a_cell_that_is_written_again_has_its_new_sessions_alone(batches: ArrowConnection) -> None:
    keep_batch(batches, 12, (1, at(103)))
    assert read(batches, 3) == []
    assert read(batches, 1) == [(EDITION, [1])] * 2


def test_a_condition_leaves_batches_out(batches: ArrowConnection) -> None:
    touch(batches, 2)
    found = kept_facts.of_touched(batches, {SHOP: EDITION}, "batch_id < 12")
    assert [facts.groups["session_hash"].tolist() for _, facts in found] == [[2]]
