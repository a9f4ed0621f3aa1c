"""Steps of the tests of backups, and the outcomes that they expect of commands."""

from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

from tests.support.faults.victim import Outcome

Run = Callable[..., Outcome]
_UNCOUNTED = """
SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
AND relname <> 'alembic_version' AND pg_relation_size(oid) > 0
AND NOT EXISTS (SELECT 1 FROM pg_stats WHERE tablename = relname)
"""
SMALL = ("shops", "forms", "orders", "ad-spend", "ad-accounts", "exchange-rates")


def done(outcome: Outcome) -> None:
    assert outcome.status == 0, outcome.printed


def refused(outcome: Outcome, why: str) -> None:
    """Exit status 1 and one line that says why."""
    assert outcome.status == 1, outcome.printed
    assert why in outcome.printed
    assert outcome.printed.count("\n") == 1, outcome.printed


def fill(url: str, files: dict[str, Path], run: Run, *kinds: str) -> None:
    for kind in kinds:
        done(run(url, "import", kind, files[kind]))


def data_version(url: str) -> int:
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        found = connection.scalar(sa.text("SELECT MIN(data_version) FROM shop"))
    engine.dispose()
    return int(found or 0)


def uncounted(url: str) -> list[str]:
    """The tables with rows of which PostgreSQL's planner knows nothing yet: it may take them for small."""
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        names = connection.scalars(sa.text(_UNCOUNTED)).all()
    engine.dispose()
    return sorted(names)
