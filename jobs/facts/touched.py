"""The form sessions and orders that a change touches, staged: these, and no others, are derived anew."""

import sys
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import pyarrow as pa

from warehouse.connections.arrow import ArrowConnection

T = TypeVar("T")

# A group of batches brings fewer. But few rows may touch sessions that have very many.
ROWS_AT_ONCE: Final = 800_000

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


class TooMany(Exception):
    """The touched sessions and orders have more rows than memory is to hold at once."""


def in_parts(connection: ArrowConnection, most: int, read: Callable[[int], T]) -> Iterator[T]:
    """Read the staged sessions and orders a part at a time; each part stages at most `most` of them, and all
    come once. `read(rows)` gives what is yielded. It raises TooMany where the part has more rows than `rows`:
    then the part is halved. A single session has no such bound."""
    keys = {SESSIONS: SESSION, ORDERS: ORDER}

    def staged() -> int:
        return max(int(connection.value(f"SELECT COUNT(*) FROM {name}")) for name in keys)

    rows = staged()
    parts = max(-(-rows // most), 1)
    waiting = [(parts, part) for part in reversed(range(parts))]
    is_numbered = False
    while waiting:
        parts, part = waiting.pop()
        if parts > 1:
            for name, key in keys.items():
                if not is_numbered:
                    connection.execute(f"DROP TABLE IF EXISTS all_{name}")
                    connection.execute(
                        f"CREATE TEMPORARY TABLE all_{name} AS "
                        f"SELECT {key}, ROW_NUMBER() OVER () AS place FROM {name}"
                    )
                connection.execute(f"DELETE FROM {name}")
                own = f"SELECT {key} FROM all_{name} WHERE place % {parts} = {part}"
                connection.execute(f"INSERT INTO {name} {own}")
                connection.analyze(name)
            is_numbered = True
            rows = staged()
        try:
            found = [read(ROWS_AT_ONCE if rows > 1 else sys.maxsize)]
        except TooMany:
            waiting += [(2 * parts, part + parts), (2 * parts, part)]
            continue
        # No name here holds the part: its taker can drop it before the next one is read.
        yield found.pop()
