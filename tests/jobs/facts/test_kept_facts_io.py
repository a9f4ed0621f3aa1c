"""Kept facts are found again by session: those of its batches, and of no other session."""

from collections.abc import Sequence

import pandas as pd
import pytest

from jobs.facts import fact_table_io, kept_facts_io
from jobs.facts.kept_facts import IDENTIFIERS, QUARTER, keep
from tests.support.fact_frames import at, frame, raw_events, raw_orders, sessions
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection

SHOP, EDITION = 7, 1


def keep_batch(connection: ArrowConnection, batch_id: int, *events: tuple[int, int]) -> None:
    """Keep the facts of events, each an instant of a session, as those of a batch."""
    rows = [
        {"session_hash": session, "at": instant, "event_id": f"{batch_id}-{number}"}
        for number, (session, instant) in enumerate(events)
    ]
    identifiers = frame(
        ({"event_id": row["event_id"]} for row in rows),
        {"edition": EDITION, "event_id": "", **dict.fromkeys(IDENTIFIERS, "")},
    )
    facts = keep(raw_events(rows), raw_orders(), identifiers)[EDITION]
    kept_facts_io.write(connection, batch_id, SHOP, facts)


def store(connection: ArrowConnection, **first_at: int) -> None:
    """Store sessions s1, s2, ... with the instants of their first events."""
    rows = [
        {"session": int(name[1:]), "session_hash": int(name[1:]), "first_at": instant}
        for name, instant in first_at.items()
    ]
    stored = sessions(*rows).reset_index(drop=True)
    fact_table_io.replace(connection, tables.fact_form_session, pd.DataFrame(), stored)


def read(connection: ArrowConnection, *wanted: int) -> list[tuple[int, int, Sequence[int]]]:
    """Batch, edition and sessions of what is read for these sessions."""
    keys = frame(
        ({"session_hash": session} for session in wanted), {"edition": EDITION, "session_hash": 0}
    )
    return [
        (batch_id, edition, facts.groups["session_hash"].tolist())
        for batch_id, edition, facts in kept_facts_io.read_sessions(
            connection, {SHOP: EDITION}, keys
        )
    ]


@pytest.fixture
def batches(connection: ArrowConnection) -> ArrowConnection:
    keep_batch(connection, 11, (1, at(100)), (2, at(100)))
    # The last instant of a quarter of an hour, of which the quarter is kept.
    keep_batch(connection, 12, (2, at(101) + QUARTER - 1), (2, at(103)), (3, at(103)))
    keep_batch(connection, 13, (2, at(101) + QUARTER - 1))
    return connection


def test_the_batches_of_a_session_have_nothing_of_others(batches: ArrowConnection) -> None:
    store(batches, s1=at(100), s2=at(100), s3=at(103))
    assert read(batches, 1) == [(11, EDITION, [1])]
    assert read(batches, 2) == [(11, EDITION, [2]), (12, EDITION, [2]), (13, EDITION, [2])]
    assert read(batches, 1, 3) == [(11, EDITION, [1]), (12, EDITION, [3])]


def test_a_batch_that_ends_where_the_session_begins_is_read(batches: ArrowConnection) -> None:
    store(batches, s2=at(101) + QUARTER - 1, s3=at(103))
    assert read(batches, 3) == [(12, EDITION, [3])]
    # The earliest of the sessions decides.
    assert read(batches, 2, 3) == [(12, EDITION, [2, 3]), (13, EDITION, [2])]


def test_a_session_that_is_not_stored_has_none(batches: ArrowConnection) -> None:
    assert read(batches, 1) == []
    store(batches, s3=at(103))
    assert read(batches, 2) == []
    assert read(batches) == []
