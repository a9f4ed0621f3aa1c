"""The form sessions and orders that a change touches, staged: these, and no others, are derived anew."""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from warehouse.connections.arrow import ArrowConnection

SESSIONS: Final = "touched_session"
"""The staged sessions: shop_key, form_session_id; each once, or its events would count twice. Without
the form: events of another one may count as its, in a session with the same id."""

ORDERS: Final = "touched_order"
"""The staged orders: shop_key, order_id; each once."""

SESSION: Final = "shop_key, form_session_id"
ORDER: Final = "shop_key, order_id"
NO_SESSIONS: Final = f"SELECT {SESSION} FROM raw_event WHERE false"
NO_ORDERS: Final = f"SELECT {ORDER} FROM raw_order WHERE false"

EVENTS: Final = (
    f"FROM {SESSIONS} k CROSS JOIN raw_event r WHERE r.form_session_id = k.form_session_id "
    "AND r.shop_key = k.shop_key"
)
"""FROM and WHERE of all raw events (`r`) of the staged sessions."""

VERSIONS: Final = (
    f"FROM {ORDERS} k CROSS JOIN raw_order r WHERE r.shop_key = k.shop_key "
    "AND r.order_id = k.order_id"
)
"""FROM and WHERE of all versions (`r`) of the staged orders."""


def stage(
    connection: ArrowConnection,
    sessions: str = NO_SESSIONS,
    orders: str = NO_ORDERS,
    more: pa.Table | None = None,
) -> None:
    """Stage the sessions and orders that queries name (columns SESSION, ORDER), and more sessions."""
    if more is not None:
        sessions += f" UNION ALL SELECT {SESSION} FROM {connection.stage('more_sessions', more)}"
    for name, query in ((SESSIONS, sessions), (ORDERS, orders)):
        connection.execute(f"DROP TABLE IF EXISTS {name}")
        connection.execute(f"CREATE TEMPORARY TABLE {name} AS SELECT DISTINCT * FROM ({query}) q")
        connection.analyze(name)


def in_parts(connection: ArrowConnection, most: int) -> Iterator[None]:
    """Have at most so many of the staged sessions and orders be staged at a time, until all have been."""
    most_rows = max(
        int(connection.value(f"SELECT COUNT(*) FROM {name}")) for name in (SESSIONS, ORDERS)
    )
    parts = -(-most_rows // most)
    if parts <= 1:
        yield
        return
    keys = {SESSIONS: SESSION, ORDERS: ORDER}
    for name, key in keys.items():
        connection.execute(f"DROP TABLE IF EXISTS all_{name}")
        connection.execute(
            f"CREATE TEMPORARY TABLE all_{name} AS "
            f"SELECT {key}, ROW_NUMBER() OVER () % {parts} AS part FROM {name}"
        )
    for part in range(parts):
        for name, key in keys.items():
            connection.execute(f"DELETE FROM {name}")
            own = f"SELECT {key} FROM all_{name} WHERE part = {part}"
            connection.execute(f"INSERT INTO {name} {own}")
            connection.analyze(name)
        yield
