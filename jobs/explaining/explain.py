"""START HERE: a figure of a day, from its daily rows down to the files that brought its raw rows."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from jobs.explaining.asked import measures_of, summaries_of
from jobs.explaining.contributions import EVENTS, Contributions, contributions
from jobs.explaining.origins import Origins
from warehouse.connections.arrow import ArrowConnection
from warehouse.daily.writer import rows_of_spans
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import day_date
from warehouse.editions.editions import CURRENT, FROZEN, Edition, list_editions


def explain(
    connection: ArrowConnection,
    endpoint: str,
    shop: str,
    day: int,
    form: str,
    field: str,
    most: int,
) -> dict[str, Any]:
    """The summaries that an endpoint sums on a day: their rows, and at most so many of the facts behind them
    with their raw rows. Raises ValueError for a question that nothing answers, LookupError for a shop without
    figures. Leaves a transaction open."""
    summaries, named = summaries_of(endpoint)
    form = form.lower() or named
    if form:
        summaries = tuple(each for each in summaries if "form" in (*each.dims, *each.packed_dims))
        if not summaries:
            raise ValueError(f"{endpoint!r} has no figures of one form. Leave --form out")
    chosen = measures_of(field, summaries) if field else set()
    editions = list_editions(connection, CURRENT, shop)
    if not editions and list_editions(connection, FROZEN, shop):
        raise LookupError(
            f"the figures of {shop!r} are from before rows of it were removed, and are built anew: ask again "
            "after the next rollup"
        )
    if not editions:
        raise LookupError(f"{shop!r} is no shop with figures")
    edition = editions[0]
    origins = Origins(connection, edition)
    found = contributions(connection, edition, day, summaries)
    return {
        "endpoint": endpoint,
        "shop": shop,
        "day": f"{day_date(day)}",
        "timezone": edition.timezone,
        "form": form or None,
        "field": field or None,
        "summaries": [
            _explained(connection, edition, day, form, chosen, most, origins, each)
            for each in found
            if not chosen or chosen & set(each.summary.measures)
        ],
    }


def _explained(
    connection: ArrowConnection,
    edition: Edition,
    day: int,
    form: str,
    chosen: set[str],
    most: int,
    origins: Origins,
    found: Contributions,
) -> dict[str, Any]:
    summary = found.summary
    measures = [name for name in summary.measures if not chosen or name in chosen]
    dims = [*summary.dims, *summary.packed_dims]

    def counted(rows: pd.DataFrame) -> pd.DataFrame:
        if form:
            rows = rows[rows["form"] == text_id(form)]
        return rows[(rows[measures] != 0).any(axis="columns")]

    span = pa.table({"edition": [edition.edition], "first": [day], "last": [day]})
    stored = counted(rows_of_spans(connection, summary, span).to_pandas())
    added = counted(found.rows).sort_values(["edition", *dims])
    units = list(dict.fromkeys(added["edition"].tolist()))
    shown = units[:most]
    sessions = origins.sessions([id for unit in shown for id in found.sessions.get(unit, ())])
    orders = origins.orders([id for unit in shown for id in found.orders.get(unit, ())])
    # Each unit with what it adds, and the form sessions, orders and raw rows that it consists of.
    facts = []
    for unit in shown:
        fact: dict[str, Any] = {
            "adds": _rows(origins, added[added["edition"] == unit], dims, measures),
            "sessions": [sessions[id] for id in found.sessions.get(unit, ())],
            "orders": [orders[id] for id in found.orders.get(unit, ())],
        }
        if unit == EVENTS:
            fact["events"] = origins.events_of_day(day, form)
        facts.append(fact)
    return {
        "summary": summary.name,
        "measures": measures,
        "stored": _total(stored, measures),
        "listed": _total(added, measures),
        "rows": _rows(origins, stored.sort_values(dims), dims, measures),
        "facts": facts,
        "further_facts": max(len(units) - most, 0),
    }


def _total(rows: pd.DataFrame, measures: Sequence[str]) -> dict[str, int]:
    return {name: int(rows[name].sum()) for name in measures}


def _rows(
    origins: Origins, rows: pd.DataFrame, dims: Sequence[str], measures: Sequence[str]
) -> list[dict[str, Any]]:
    numbers = rows[list(measures)].to_numpy().tolist()
    return [
        {**of_row, **dict(zip(measures, values, strict=True))}
        for of_row, values in zip(origins.dimensions(rows, dims), numbers, strict=True)
    ]
