"""Rollups: pure functions from facts to daily rows, one function for each summary of the catalogue.

A rollup has the name of its summary. It is linear in its units (`Summary.unit`): the rows of two sets of
units add up to the rows of both together. So the stored rows move by the `difference` between the
rows of the new and of the old version of every unit in which something changed.

No module here reads a clock or a database. Reading the facts belongs to `jobs/facts`, storing the
rows to `warehouse/daily/writer.py`.
"""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from jobs.arrays.columns import row_count, those
from jobs.facts.facts import Facts
from jobs.rollups.cross_field import cross_field, in_chunks
from jobs.rollups.discount import discount
from jobs.rollups.funnel import (
    all_forms,
    crossed_outcome,
    crossed_session,
    device,
    funnel,
    outcome,
)
from jobs.rollups.lifetime import ltv_form, ltv_segment
from jobs.rollups.orders import (
    attribution,
    crossed_orders,
    form_orders,
    new_returning,
    utm_order,
    utm_outcome,
    utm_submission,
)
from jobs.rollups.parts import DailyRows, part, total
from jobs.rollups.response import (
    crossed_response,
    crossed_response_outcome,
    response,
    response_outcome,
)
from jobs.rollups.step import crossed_step, step
from jobs.rollups.time_to_complete import crossed_time, time_to_complete
from jobs.rollups.visitor import visitor
from warehouse.catalogue import SUMMARY

ROLLUPS: Final[dict[str, Callable[[Facts], DailyRows]]] = {
    function.__name__: function
    for function in (
        funnel,
        all_forms,
        device,
        outcome,
        crossed_session,
        crossed_outcome,
        form_orders,
        crossed_orders,
        step,
        crossed_step,
        time_to_complete,
        crossed_time,
        visitor,
        cross_field,
        response,
        response_outcome,
        crossed_response,
        crossed_response_outcome,
        attribution,
        new_returning,
        utm_submission,
        utm_outcome,
        utm_order,
        discount,
        ltv_form,
        ltv_segment,
    )
}


def roll_up(name: str, *versions: Facts) -> Iterator[tuple[DailyRows, ...]]:
    """The rows of each version of the facts, in chunks that fit into memory. A key may be in several."""
    chunks = in_chunks(*versions) if name == cross_field.__name__ else (versions,)
    for chunk in chunks:
        yield tuple(ROLLUPS[name](facts) for facts in chunk)


def differences(name: str, new: Facts, old: Facts) -> Iterator[pa.Table]:
    """The `difference` of the rows of two versions of facts, in such chunks."""
    for rows in roll_up(name, new, *([old] if any(map(row_count, vars(old).values())) else [])):
        yield difference(name, *rows)


def difference(name: str, new: DailyRows, old: DailyRows | None = None) -> pa.Table:
    """The rows that must be added to those of `old` to make those of `new`; rows of zeros left out."""
    measures, columns = SUMMARY[name].measures, new
    if old is not None and row_count(old):
        added = part(new, **{measure: measure for measure in measures})
        removed = part(old, **{measure: -old[measure] for measure in measures})
        columns = total(name, added, removed)
    changed = np.logical_or.reduce([columns[measure] != 0 for measure in measures])
    return pa.table(those(columns, changed))
