"""The pulls that are set up: rows of the table `pull`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from warehouse.connections.arrow import ArrowConnection
from warehouse.operations.shop_pulls import ERROR, OK

JOB: Final = "pull:"
"""The job of a pull is this and its name."""

_MAX_LENGTH: Final = 500
_PULLS: Final = (
    "SELECT p.*, COALESCE(s.shop_id, '') AS shop_id FROM pull p "
    "LEFT JOIN shop s ON s.shop_key = p.shop_key"
)


@dataclass
class Pull:
    """A row, with `config` and `state` as objects; `shop_id` is "" for what belongs to no shop."""

    name: str
    source: str
    shop_key: int
    shop_id: str
    config: dict[str, Any]
    credentials: str
    schedule: str
    lookback_days: int
    set_up_at: int = 0
    pull_id: int = 0
    state: Mapping[str, Any] | None = None
    ran_at: int = 0
    status: str = ""
    message: str = ""
    rows: int = 0
    bytes: int = 0

    @property
    def job(self) -> str:
        return f"{JOB}{self.name}"


def list_pulls(connection: ArrowConnection) -> list[Pull]:
    """All pulls, by name. Commits."""
    rows = connection.table(f"{_PULLS} ORDER BY p.name").to_pylist()
    connection.commit()
    return [_pull(row) for row in rows]


def find(connection: ArrowConnection, name: str) -> Pull | None:
    """The pull of a name. Commits."""
    rows = connection.table(f"{_PULLS} WHERE p.name = $1", name).to_pylist()
    connection.commit()
    return _pull(rows[0]) if rows else None


def _pull(row: dict[str, Any]) -> Pull:
    texts = {name: json.loads(row[name] or "{}") for name in ("config", "state")}
    return Pull(**row | texts)


def save(connection: ArrowConnection, pull: Pull, now: int) -> None:
    """Set up a pull, or change how the one of its name is set up: how far it got stays. Commits."""
    connection.execute(
        "INSERT INTO pull (name, source, shop_key, config, credentials, schedule, "
        "lookback_days, set_up_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (name) DO UPDATE SET "
        "config = excluded.config, credentials = excluded.credentials, "
        "schedule = excluded.schedule, lookback_days = excluded.lookback_days, "
        "set_up_at = excluded.set_up_at",
        pull.name,
        pull.source,
        pull.shop_key,
        json.dumps(pull.config),
        pull.credentials,
        pull.schedule,
        pull.lookback_days,
        now,
    )
    connection.commit()


def remove(connection: ArrowConnection, name: str) -> bool:
    """Delete a pull; returns whether there was one. Commits."""
    removed = connection.changed("DELETE FROM pull WHERE name = $1 RETURNING pull_id", name)
    connection.commit()
    return bool(removed)


def ended_well(
    connection: ArrowConnection,
    pull: Pull,
    now: int,
    state: Mapping[str, Any],
    rows: int,
    size: int,
) -> None:
    """Save the state that the next run goes on from. Commits."""
    connection.execute(
        "UPDATE pull SET ran_at = $1, status = $2, message = '', state = $3, rows = $4, bytes = $5 "
        "WHERE pull_id = $6",
        now,
        OK,
        json.dumps(state),
        rows,
        size,
        pull.pull_id,
    )
    connection.commit()


def failed(connection: ArrowConnection, pull: Pull, now: int, message: str) -> None:
    """Save why a run failed; the state stays. Commits."""
    connection.execute(
        "UPDATE pull SET ran_at = $1, status = $2, message = $3 WHERE pull_id = $4",
        now,
        ERROR,
        message[:_MAX_LENGTH],
        pull.pull_id,
    )
    connection.commit()
