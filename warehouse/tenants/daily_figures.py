"""The daily figures of a shop as Parquet: one file per summary, with texts in the place of ids."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection, func, select

from warehouse.catalogue import Summary
from warehouse.daily.reader import DailyRows
from warehouse.domain.vocabulary import (
    ATTRIBUTION_TYPES,
    CUSTOMER_TYPES,
    DEVICES,
    UTM_FIELDS,
    VISITOR_LEVELS,
    VISITOR_TYPES,
)
from warehouse.tables import DAILY, dim_text, dim_utm

# Days that are in memory at once.
_DAYS: Final = 7
# Ids that one statement looks up.
_IDS: Final = 2_000
# Dimensions that are days.
_CALENDAR: Final = ("day", "submitted")
_WORDS: Final = {"device": DEVICES, "type": ATTRIBUTION_TYPES, "customer_type": CUSTOMER_TYPES}
# A visitor is a number of its own, which says nothing else.
_NUMBERS: Final = ("bucket", "previous", "delay", "visitor", "is_first_session", "is_one")


def write_figures(connection: Connection, summary: Summary, edition: int, file: Path) -> None:
    """Write all rows of a summary of an edition (0: none)."""
    dims = ("day", *summary.dims, *summary.packed_dims)
    days = DAILY[summary.name].c.day
    of_edition = DAILY[summary.name].c.edition == edition
    first, last = connection.execute(select(func.min(days), func.max(days)).where(of_edition)).one()
    writer: pq.ParquetWriter | None = None
    # One block at least, so that the columns of a summary without rows are there too.
    for day in range(first or 0, (last or 0) + 1, _DAYS):
        until = min(day + _DAYS - 1, last or 0)
        sums = DailyRows(connection, edition, day, until).sums(summary.name, by=dims)
        columns: dict[str, Any] = {}
        for name in dims:
            columns |= _labelled(connection, edition, name, sums[name])
        columns |= {name: pa.array(sums[name], pa.int64()) for name in summary.measures}
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(file, table.schema)
        if table.num_rows:
            writer.write_table(table)
    if writer:
        writer.close()


def _labelled(
    connection: Connection, edition: int, name: str, numbers: np.ndarray
) -> dict[str, pa.Array]:
    """The column of a dimension as people read it, or the several columns that it stands for."""
    if name in _CALENDAR:
        return {name: pa.array(numbers.astype(np.int32)).cast(pa.date32())}
    if name in _WORDS:
        return {name: pa.array(_WORDS[name]).take(pa.array(numbers))}
    if name == "kind":
        types, levels = np.divmod(numbers, len(VISITOR_LEVELS))
        return {
            "visitor_type": pa.array(VISITOR_TYPES).take(pa.array(types)),
            "visitor_level": pa.array(VISITOR_LEVELS).take(pa.array(levels)),
        }
    if name == "utm":
        texts = _looked_up(connection, dim_utm, "utm", UTM_FIELDS, edition, numbers)
        return {
            field: pa.array([texts[number][place] for number in numbers.tolist()], pa.string())
            for place, field in enumerate(UTM_FIELDS)
        }
    if name in _NUMBERS:
        return {name: pa.array(numbers, pa.int64())}
    texts = _looked_up(connection, dim_text, "id", ("text",), edition, numbers)
    return {name: pa.array([texts[number][0] for number in numbers.tolist()], pa.string())}


def _looked_up(
    connection: Connection, table: Any, id: str, values: Iterable[str], edition: int, numbers: Any
) -> dict[int, tuple[str, ...]]:
    """The values behind each of these ids; "" behind 0."""
    columns = [table.c[value] for value in values]
    wanted = [number for number in np.unique(numbers).tolist() if number]
    found: dict[int, tuple[str, ...]] = {0: ("",) * len(columns)}
    for start in range(0, len(wanted), _IDS):
        rows = connection.execute(
            select(table.c[id], *columns).where(
                table.c.edition == edition, table.c[id].in_(wanted[start : start + _IDS])
            )
        )
        found |= {row[0]: tuple(row[1:]) for row in rows}
    return found
