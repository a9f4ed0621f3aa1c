"""The staged versions of orders (`removed_order`) are put back without their buyers, where a shop forgets a
person and keeps the revenue.

The version of an order that stands is the one that stood: of several of one instant, those without a buyer
keep their places among the others, by what is stored as their `precedence`. A version that equals another one
then is one with it, and counts as repeated by the import that brought it.
"""

from collections.abc import Callable
from itertools import groupby
from typing import Any, Final

import numpy as np
import pyarrow as pa

from jobs.pipeline.removed_rows import REMOVED_ORDER
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.tables.base import column_names, unique_names

WithoutPerson = Callable[[pa.Table], pa.Table]
"""Takes the buyers out of rows of raw_order."""

_INSTANT: Final = ("shop_key", "order_id", "updated_at")
_KEY: Final = unique_names(tables.raw_order)
_COLUMNS: Final = column_names(tables.raw_order)
# Below each digit: the place behind the version before.
_BEHIND: Final = "+"


def replace(connection: ArrowConnection, without_person: WithoutPerson) -> None:
    """Put nameless versions in the place of the staged ones; the caller commits."""
    named = connection.rows_of(
        tables.raw_order, f"SELECT {names(_COLUMNS)} FROM raw_order WHERE {REMOVED_ORDER}"
    )
    places = _places(connection, named)
    nameless = without_person(named)
    own = zip(_keys(named), nameless["precedence"].to_pylist(), strict=True)
    precedence = pa.array([places.get(key, hashed) for key, hashed in own], pa.string())
    nameless = nameless.set_column(_COLUMNS.index("precedence"), "precedence", precedence)
    # The greatest of equal ones comes first, and stays.
    order = [(name, "ascending") for name in _INSTANT] + [("precedence", "descending")]
    for name in ("order_id", "content"):
        nameless = nameless.append_column(f"named_{name}", named[name])
    nameless = nameless.sort_by(order).append_column("place", pa.array(np.arange(named.num_rows)))
    staged = connection.stage("nameless_order", nameless)
    connection.execute(f"DELETE FROM raw_order WHERE {REMOVED_ORDER}")
    connection.execute(
        f"INSERT INTO raw_order ({names(_COLUMNS)}) SELECT {names(_COLUMNS)} FROM {staged} "
        f"{connection.ordered_by_place} ON CONFLICT DO NOTHING"
    )
    key, own_key = names(_KEY), names(_KEY, "n.")
    connection.execute(
        f"INSERT INTO repeated_order ({key}, import_id) SELECT {key}, import_id FROM ("
        f"SELECT {own_key}, p.import_id FROM {staged} n JOIN repeated_order p "
        "ON p.shop_key = n.shop_key AND p.order_id = n.named_order_id "
        "AND p.updated_at = n.updated_at AND p.content = n.named_content "
        f"UNION SELECT {own_key}, b.import_id FROM {staged} n "
        "JOIN import_batch b ON b.batch_id = n.batch_id JOIN raw_order r "
        f"ON {' AND '.join(f'r.{name} = n.{name}' for name in _KEY)} "
        "JOIN import_batch o ON o.batch_id = r.batch_id WHERE o.import_id <> b.import_id"
        ") q WHERE true ON CONFLICT DO NOTHING"
    )


def _places(connection: ArrowConnection, named: pa.Table) -> dict[Any, str]:
    """The precedence of each of these versions that has others of its instant, by key."""
    columns = (*_INSTANT, "precedence", "content")
    rows = connection.rows_of(
        tables.raw_order,
        f"SELECT {names(columns)} FROM raw_order WHERE ({names(_INSTANT)}) IN "
        f"(SELECT {names(_INSTANT)} FROM removed_order)",
    )
    versions = sorted(zip(*(column.to_pylist() for column in rows.columns), strict=True))
    staged, places = set(_keys(named)), {}
    for instant, group in groupby(versions, key=lambda version: version[: len(_INSTANT)]):
        own = list(group)
        behind = ""
        for *_, precedence, content in own if len(own) > 1 else ():
            key = (*instant, content)
            if key in staged:
                behind += _BEHIND
                places[key] = behind
            else:
                behind = precedence
    return places


def _keys(rows: pa.Table) -> list[Any]:
    return list(zip(*(rows[name].to_pylist() for name in _KEY), strict=True))
